#!/usr/bin/env python3
"""Makes sgd.json, adamw.json, diloco.json and lenet5.json beside this file: what PyTorch computes for them.

    python3 make_goldens.py       needs PyTorch (made with 1.13 on a CPU, one thread)

Weights, inputs and targets come from one formula, `made`, which torch_test.cpp repeats, so that the files hold
results only. Nothing is random: the same PyTorch writes the same files.
"""

import json
from pathlib import Path

import torch
from torch import nn

HERE = Path(__file__).resolve().parent


def made(count, salt, scale, offset=-0.5):
    """`count` floats in [offset, offset + 1) times scale, without pattern at any row length."""
    values = [((i * 7919 + salt * 1237) % 9973 / 9973 + offset) * scale for i in range(count)]
    return torch.tensor(values, dtype=torch.float64).to(torch.float32)


def digits(values):
    """Nine significant digits give a float32 back exactly."""
    return [float(f"{value:.9g}") for value in values]


def steps(make_optimizer):
    """Ten steps on sum(a (w - c)^2) / 2 from w = made(12, 1, 2)."""
    a = made(12, 2, 1.0, offset=0.5)
    c = made(12, 3, 3.0)
    w = nn.Parameter(made(12, 1, 2.0))
    optimizer = make_optimizer([w])
    losses, parameters = [], []
    for _ in range(10):
        optimizer.zero_grad()
        loss = (a * (w - c) ** 2).sum() / 2
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        parameters.append(digits(w.tolist()))
    return {"losses": digits(losses), "parameters": parameters}


def sgd(nesterov):
    return steps(lambda w: torch.optim.SGD(w, lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=nesterov))


def adamw(betas, weight_decay):
    return steps(lambda w: torch.optim.AdamW(w, lr=0.1, betas=betas, eps=1e-8, weight_decay=weight_decay))


def diloco():
    """Four rounds of DiLoCo by two workers on that function: worker k, whose c is made(12, 30 + k, 3), takes three
    steps of AdamW with lr 0.05, each on a gradient clipped to 1, and keeps its moments; the mean move is the
    gradient of an outer SGD with Nesterov momentum."""
    a = made(12, 2, 1.0, offset=0.5)
    outer_w = nn.Parameter(made(12, 1, 2.0))
    outer = torch.optim.SGD([outer_w], lr=0.7, momentum=0.9, nesterov=True)
    replicas = [nn.Parameter(torch.zeros(12)) for _ in range(2)]
    inner = [torch.optim.AdamW([x], lr=0.05, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1) for x in replicas]
    norms, parameters = [], []
    for _ in range(4):
        moves = []
        for k, x in enumerate(replicas):
            x.data.copy_(outer_w.data)
            for _ in range(3):
                inner[k].zero_grad()
                (a * (x - made(12, 30 + k, 3.0)) ** 2).sum().div(2).backward()
                norms.append(nn.utils.clip_grad_norm_([x], 1.0).item())
                inner[k].step()
            moves.append(outer_w.data - x.data)
        outer_w.grad = sum(moves) / 2
        outer.step()
        parameters.append(digits(outer_w.tolist()))
    return {"norms": digits(norms), "parameters": parameters}


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc3(torch.relu(self.fc2(x)))


def made_lenet5():
    """Slot number s, weight or bias, is made(count, s, 2 / sqrt(fan_in of its layer))."""
    net = LeNet5()
    parameters = dict(net.named_parameters())
    for number, (name, parameter) in enumerate(parameters.items()):
        fan_in = parameters[name.split(".")[0] + ".weight"][0].numel()
        parameter.data = made(parameter.numel(), number, 2 / fan_in**0.5).reshape(parameter.shape)
    return net


def lenet5():
    """Sum of losses and of gradients of four images, then five steps of SGD on their mean."""
    x = made(4 * 784, 20, 1.0, offset=0.0).reshape(4, 1, 28, 28)
    labels = torch.tensor([3, 1, 4, 1])
    net = made_lenet5()
    loss = nn.functional.cross_entropy(net(x), labels, reduction="sum")
    loss.backward()
    gradients = []
    for name, parameter in net.named_parameters():
        values = parameter.grad.flatten()
        stride = max(1, values.numel() // 8)
        gradients.append({
            "name": name,
            "shape": list(parameter.shape),
            "sum": digits([values.double().sum().item()])[0],
            "norm": digits([values.double().norm().item()])[0],
            "stride": stride,
            "values": digits(values[::stride].tolist()),
        })

    optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4, nesterov=True)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        step_loss = nn.functional.cross_entropy(net(x), labels)
        step_loss.backward()
        optimizer.step()
        losses.append(step_loss.item())
    return {"loss_sum": digits([loss.item()])[0], "gradients": gradients, "losses": digits(losses)}


def write(name, content):
    (HERE / name).write_text(json.dumps({"torch": torch.__version__, **content}, indent=1) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    write("sgd.json", {"plain": sgd(nesterov=False), "nesterov": sgd(nesterov=True)})
    write("adamw.json", {"plain": adamw((0.9, 0.999), 0.0), "decayed": adamw((0.9, 0.95), 0.1)})
    write("diloco.json", diloco())
    write("lenet5.json", lenet5())
