"""Runs of several processes, as the long tests start, watch and disturb them."""
import csv
import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OTHER_PROGRAM = os.environ.get("THALWEG_PROGRAM")  # instead of the release build
PROGRAM = Path(OTHER_PROGRAM) if OTHER_PROGRAM else ROOT / "build" / "release" / "thalweg"


def build():
    if not OTHER_PROGRAM:
        subprocess.run([ROOT / "tools" / "dev", "build", "release"], check=True)


class Run:
    """A launch in a folder of its own."""

    def __init__(self, home, name, job):
        self.folder = Path(home) / name
        self.log = open(Path(home) / (name + ".txt"), "wb")
        self.process = subprocess.Popen([PROGRAM, "launch", *job, "--out", str(self.folder)],
                                        stdout=subprocess.DEVNULL, stderr=self.log)

    def rows(self):
        """Of metrics.csv that are whole."""
        try:
            with open(self.folder / "metrics.csv", encoding="utf-8") as file:
                return [row for row in csv.reader(file) if len(row) > 3 and row[3].isdigit()]
        except OSError:
            return []

    def newest_version(self):
        rows = self.rows()
        return int(rows[-1][3]) if rows else 0

    def newest_samples(self):
        rows = self.rows()
        return int(rows[-1][2]) if rows else 0

    def status(self):
        seen = subprocess.run([PROGRAM, "status", str(self.folder), "--json"], capture_output=True, text=True, check=False)
        return json.loads(seen.stdout) if seen.returncode == 0 and seen.stdout else None

    def children(self):
        pid = self.process.pid
        try:
            return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            return []

    def pid_of(self, name):
        for child in self.children():
            try:
                typed = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if (b"--root" in typed) if name == "root" else (name.encode() in typed and b"--join" in typed):
                return child
        return None

    def victim(self, kind, dice):
        if kind == "root":
            return "root"
        status = self.status()
        if not status or status["state"] != "training":
            return None
        leads = lambda node: any(member.startswith("g") for member in node["members"])
        names = [node["name"] for node in status["nodes"] if node["members"] and leads(node) == (kind == "leader")]
        return dice.choice(names) if names else None

    def over(self):
        return self.process.poll() is not None


def wait_until(run, true, seconds):
    """The time it took; None: it did not come true while the run went on."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if true():
            return time.monotonic() - began
        if run.over():
            return None
        time.sleep(0.01)
    return None
