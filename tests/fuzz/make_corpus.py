#!/usr/bin/env python3
"""Writes the inputs that the fuzzers begin with: corpus/KIND/, a few hundred bytes each. Same script, same bytes."""

import gzip
import json
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent


def idx(dimensions, elements, kind=8):
    return bytes([0, 0, kind, len(dimensions)]) + b"".join(struct.pack(">I", d) for d in dimensions) + bytes(elements)


def pair(mode, labels, images):
    """What idx_fuzz.cpp reads: which files it is to pack, the labels' length, labels, images."""
    return bytes([mode, len(labels)]) + labels + images


def packed(data, mtime=0):
    return gzip.compress(data, 9, mtime=mtime)


def safetensors(tensors, metadata=None, padding=True):
    """Tensors of fp32 values by name and shape."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    if padding:
        text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def frame(kind, content=b"", body_bytes=0, body_crc=0):
    """A header of runtime/wire/FORMAT.md, from node 2 in its incarnation 7."""
    head = struct.pack("<4sHHIIIHH", b"THLW", 1, kind, body_bytes, body_crc, 7, 2, 0) + content
    head = head.ljust(124, b"\0")
    return head + struct.pack("<I", crc32c(head))


LABELS = idx([3], [3, 0, 9])
IMAGES = idx([3, 2, 3], range(18))
GZIP_FIELDS = bytes([0x1f, 0x8b, 8, 0b11110, 0, 0, 0, 0, 2, 3]) + b"\x04\0ab\0\0" + b"name\0" + b"comment\0"
WEIGHTS = {"fc1.weight": ([2, 3], [1.5, -2, 3, 4, 5, 6]), "fc1.bias": ([2], [0.25, -0.0])}

CORPUS = {
    "idx": {
        "plain": pair(0, LABELS, IMAGES),
        "labels_gzipped": pair(1, LABELS, IMAGES),
        "both_gzipped": pair(3, LABELS, IMAGES),
        "gzipped_here": pair(0, packed(LABELS), packed(IMAGES)),
        "one_pixel": pair(0, idx([1], [0]), idx([1, 1, 1], [255])),
        "counts_differ": pair(0, idx([2], [1, 2]), IMAGES),
        "label_too_large": pair(0, idx([3], [3, 10, 9]), IMAGES),
        "claims_too_much": pair(2, idx([1], [1]), idx([1, 0xFFFFFFFF, 0xFFFFFFFF], [])),
        "floats": pair(0, LABELS, idx([3, 2, 3], range(18), 13)),
    },
    "gzip": {
        "plain": b"\0" + IMAGES,
        "member": b"\0" + packed(IMAGES),
        "members": b"\0" + packed(IMAGES[:16]) + packed(IMAGES[16:]),
        "empty_member": b"\0" + packed(b""),
        "with_a_name": b"\0" + GZIP_FIELDS,
        "zeros": b"\0" + packed(bytes(100_000)),
        "to_pack": b"\1" + IMAGES,
        "to_pack_twice": b"\2" + IMAGES,
        "to_damage": b"\3" + bytes([30, 1, 12, 255, 3]) + IMAGES,
        "after_the_magic": b"\4" + packed(IMAGES)[2:],
        "trailing": b"\0" + packed(LABELS) + b"trailing",
    },
    "config": {
        "empty": b"",
        "every_kind": b"""[run]
out = "a \\u00e9 \\"b\\""
seed = 7
[model]
name = 'mlp'
hidden = [32, 16]
[data]
name = "synthetic"
noise = 1e-3
drop_last = true
[train]
steps = 0x10
batch = [16, 48, 1_000, 4]
lr = 5e-2
step_at = [0.25, 0.5]
[topology]
tree = [[2, 1], [1]]
""",
        "dotted": b'train.lr = 0.1\ntrain = 1\ndata = { name = "synthetic", samples = 10 }\n',
        "strings": b'[run]\nout = """\na b"""\nname = \'\'\'x\'\'\'\n# comment\n[model]\ninit_from = "w.safetensors"\n',
        "flags": b"[train]\nepochs = 2\n\0train.steps=5\0train.batch=[1, 2]\0topology.workers=2\0"
                 b"model.name=mlp\0run.out=2024\0",
        "tree_flag": b"[topology]\nworkers = 4\ngroups = 2\n\0topology.tree=[[1, 2], [3]]\0topology.groups=2\0",
        "nested": b"""[sync]
method = "ssp(3)"
adopt = "mix( 0.25 )"
[sync.level.0]
trigger = "quorum(3, 50)"
[sync.level.1]
trigger = "pulled"
[emulate]
step = "5ms"
slow = { w3 = 4.0, w1 = 0.5 }
""",
        "entry_flags": b"[emulate.slow]\nw1 = 2\n\0emulate.slow.w0=3\0sync.level.1.trigger=any\0"
                       b"sync.method=inhad(2)\0",
        "nodes": b"""[topology]
workers = 3
[net]
listen = "[::1]:0"
join = "root:7000"
silence = "1.5s"
[[node]]
host = "a"
workers = 2
[[node]]
group = 0
devices = ["cuda:0", "host"]
\0node.host=b\0net.window=65536\0""",
        "dates": b"[run]\nname = 1979-05-27T07:32:00-08:00\n[[node]]\nx = 07:32:00\n",
    },
    "frame": {
        "hello": frame(1, bytes(range(16)) + struct.pack("<IIIIH", 6, 1, 2000, 3, 5)),
        "parcel": frame(2, struct.pack("<QQQQIIQQQQQHH", 42, 3 << 48 | 912, 1 << 48 | 3, 1 << 60, 9, 7, 5,
                                       1 << 20, 2**64 - 1, 0, 0, 1, 3), 77, 0x01020304),
        "bare_parcel": frame(2, struct.pack("<QQ", 0, 1)),
        "chunk": frame(3, struct.pack("<QQH", 42, 1 << 20, 2), 1 << 20, 0xCAFEF00D),
        "credit": frame(4, struct.pack("<Q", 1000)),
        "bye": frame(5, struct.pack("<H", 6)),
        "another_format": frame(4).replace(b"THLW\x01", b"THLW\x02"),
        "cut": frame(4)[:100],
    },
    "safetensors": {
        "model": safetensors(WEIGHTS),
        "checkpoint": safetensors({**WEIGHTS, "momentum/fc1.bias": ([2], [1, 2])},
                                  {"version": "7", "method": "ssgd", "schedule": "co\"sine"}),
        "no_tensors": safetensors({}),
        "scalar_and_nothing": safetensors({"scalar": ([], [1]), "none": ([0, 4], [])}, padding=False),
        "escapes": safetensors({"\u00e9\U0001f600\n\"": ([1], [float("nan")])}),
        "out_of_order": struct.pack("<Q", 124) + (
            b'{"b":{"shape":[1],"data_offsets":[4,8],"dtype":"F32"},"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}'
        ).ljust(124) + bytes(8),
        "half": struct.pack("<Q", 54) + b'{"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}}' + bytes(8),
    },
}


def main():
    for kind, entries in CORPUS.items():
        folder = HERE / "corpus" / kind
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in entries.items():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
