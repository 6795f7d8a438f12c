"""A slow link between two network namespaces, which can be cut: python3 link_emulator.py NS_A NS_B [flags]

The kernels that tests run on often have no netem, so this carries packets between two TUN devices: 10.99.7.1 in the first
namespace, 10.99.7.2 in the second. SIGUSR1 cuts the link or mends it: connections stay open and packets vanish, which no
FIN or RST tells of. Takes root and /dev/net/tun. Its processor time, printed when SIGTERM ends it, is of the same machine
as what is measured; above some 300 Mbit/s it is the limit itself."""
import argparse
import fcntl
import heapq
import os
import select
import signal
import struct
import subprocess
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
PACKETS_AT_ONCE = 64
PACKET_MAX = 65536


def open_end(name, namespace, address):
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH14s", name.encode(), IFF_TUN | IFF_NO_PI, b""))
    for words in (["link", "set", name, "netns", namespace], ["-n", namespace, "addr", "add", address + "/24", "dev", name],
                  ["-n", namespace, "link", "set", name, "mtu", "1500", "up"], ["-n", namespace, "link", "set", "lo", "up"]):
        subprocess.run(["ip", *words], check=True)
    return end


class Link:
    def __init__(self, ends, flags):
        self.ends, self.flags = ends, flags
        self.cut = False
        self.free_at = [0.0, 0.0]  # when the sender of that end is idle
        self.flying = []           # (arrives, number, to, packet)
        self.number = 0

    def toggle(self, *_):
        self.cut = not self.cut

    def take(self, end):
        now = time.monotonic()
        for _ in range(PACKETS_AT_ONCE):
            try:
                packet = os.read(self.ends[end], PACKET_MAX)
            except BlockingIOError:
                return
            begins = max(now, self.free_at[end])
            if self.cut or (begins - now) * 1e3 > self.flags.queue_ms:
                continue
            self.free_at[end] = begins + len(packet) * 8 / (self.flags.rate_mbit * 1e6)
            self.number += 1
            heapq.heappush(self.flying, (self.free_at[end] + self.flags.delay_ms / 1e3, self.number, 1 - end, packet))

    def deliver(self):
        while self.flying and self.flying[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(self.flying)
            try:
                os.write(self.ends[end], packet)
            except BlockingIOError:
                pass

    def run(self):
        while True:
            wait = max(0.0, self.flying[0][0] - time.monotonic()) if self.flying else 1.0
            for end in select.select(self.ends, [], [], wait)[0]:
                self.take(self.ends.index(end))
            self.deliver()


def finish(*_):
    raise SystemExit(0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("a")
    parser.add_argument("b")
    for flag, default in (("--delay-ms", 25.0), ("--rate-mbit", 50.0), ("--queue-ms", 200.0)):
        parser.add_argument(flag, type=float, default=default)
    flags = parser.parse_args()
    began = time.monotonic()
    signal.signal(signal.SIGTERM, finish)
    link = Link([open_end(f"tw{os.getpid() % 10000}a", flags.a, "10.99.7.1"),
                 open_end(f"tw{os.getpid() % 10000}b", flags.b, "10.99.7.2")], flags)
    signal.signal(signal.SIGUSR1, link.toggle)
    print("up", flush=True)
    try:
        link.run()
    finally:
        print(f"used {time.process_time():.1f} s of a core in {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
