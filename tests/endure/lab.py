"""Two network namespaces and the slow link between them, for the long tests. Needs root, ip and /dev/net/tun."""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADDRESS = ("10.99.7.1", "10.99.7.2")
CONGESTION_CONTROL = "/proc/sys/net/ipv4/tcp_congestion_control"


def missing():
    """Why there can be no lab here; empty: there can."""
    if os.geteuid() != 0:
        return "it takes root"
    if not shutil.which("ip"):
        return "there is no ip (package iproute2)"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun: {error.strerror}"
    if subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode != 0:
        return "there are no network namespaces"
    return ""


class Lab:
    """`with Lab(...) as lab`: two namespaces, `lab.inside[0]` and `[1]` run a command there, at ADDRESS[0] and [1]."""

    def __init__(self, delay_ms, rate_mbit, queue_ms=200):
        self.names = [f"thalweg-{os.getpid()}-{end}" for end in "ab"]
        self.inside = [["ip", "netns", "exec", name] for name in self.names]
        self.flags = ["--delay-ms", str(delay_ms), "--rate-mbit", str(rate_mbit), "--queue-ms", str(queue_ms)]
        self.emulator = None

    def __enter__(self):
        try:
            for name in self.names:
                subprocess.run(["ip", "netns", "add", name], check=True)
            self.emulator = subprocess.Popen([sys.executable, HERE / "link_emulator.py", *self.names, *self.flags],
                                             stdout=subprocess.PIPE, text=True)
            if self.emulator.stdout.readline().strip() != "up":
                raise RuntimeError("the emulated link does not come up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def toggle(self):
        """Cuts the link, or mends it."""
        self.emulator.send_signal(signal.SIGUSR1)

    def congestion_control(self):
        shown = subprocess.run([*self.inside[0], "cat", CONGESTION_CONTROL], capture_output=True, text=True, check=True)
        return shown.stdout.strip()

    def use(self, congestion_control):
        """False: the kernel does not have it."""
        write = f"echo {congestion_control} > {CONGESTION_CONTROL}"
        return all(subprocess.run([*inside, "sh", "-c", write], check=False, stderr=subprocess.DEVNULL).returncode == 0
                   for inside in self.inside)

    def carried(self):
        """Bytes so far, both ways, headers included: as the first end's own interface counts them."""
        shown = subprocess.run([*self.inside[0], "cat", "/proc/net/dev"], capture_output=True, text=True, check=True)
        lines = [line.split() for line in shown.stdout.replace(":", " ").splitlines()[2:]]
        return sum(int(line[1]) + int(line[9]) for line in lines if line[0] != "lo")

    def load(self):
        """Of the link's own process so far, in shares of a core."""
        fields = Path(f"/proc/{self.emulator.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        up = float(Path("/proc/uptime").read_text().split()[0]) - int(fields[19]) / ticks
        return f"the link's emulation takes {(int(fields[11]) + int(fields[12])) / ticks / up:.2f} cores"

    def __exit__(self, *_):
        if self.emulator:
            self.emulator.terminate()
            self.emulator.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)


class Asking:
    """Small messages from the second end to the first and back, on a connection of their own, as the control plane's are."""

    def __init__(self, link):
        self.link, self.script = link, [sys.executable, str(HERE / "bare_sockets.py")]

    def __enter__(self):
        self.server = subprocess.Popen([*self.link.inside[0], *self.script, "echo", ADDRESS[0]], stdout=subprocess.PIPE, text=True)
        self.port = self.server.stdout.readline().strip()
        return self

    def round_trips(self, seconds):
        """Milliseconds of each, sorted."""
        asked = subprocess.run([*self.link.inside[1], *self.script, "ask", ADDRESS[0], self.port, str(seconds)],
                               stdout=subprocess.PIPE, text=True, check=True)
        return sorted(float(line) for line in asked.stdout.split())

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()


def bare_rounds(link, size, rounds):
    """Seconds of each push and pull of `size` bytes between the two ends, over one bare TCP connection."""
    script = [sys.executable, str(HERE / "bare_sockets.py")]
    with subprocess.Popen([*link.inside[0], *script, "serve", ADDRESS[0], str(size), str(rounds)], stdout=subprocess.PIPE,
                          text=True) as server:
        try:
            port = server.stdout.readline().strip()
            pushed = subprocess.run([*link.inside[1], *script, "push", ADDRESS[0], port, str(size), str(rounds)],
                                    stdout=subprocess.PIPE, text=True, check=True)
        finally:
            server.terminate()
    return [float(line) for line in pushed.stdout.split()]
