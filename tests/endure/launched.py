"""What the long tests share: the program, runs of several processes, figures of their processes. Python 3.11, no packages."""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OTHER_PROGRAM = os.environ.get("THALWEG_PROGRAM")  # instead of the release build
PROGRAM = Path(OTHER_PROGRAM) if OTHER_PROGRAM else ROOT / "build" / "release" / "thalweg"
POLL_S = 0.01
BEGIN_MAX_S = 60
END_MAX_S = 90


def build():
    if not OTHER_PROGRAM:
        subprocess.run([ROOT / "tools" / "dev", "build", "release"], check=True)


def load():
    """What else this machine does: figures mean little without it."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def rss_kib(pid):
    """Memory of a process that is in RAM; 0: it is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def typed(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def slope(points):
    """Of the least-squares line through (x, y)."""
    n = len(points)
    mx, my = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


class Rows:
    """metrics.csv as it grows. Rows are up to a quarter of a second late."""

    def __init__(self, folder):
        self.file = Path(folder) / "metrics.csv"

    def all(self):
        try:
            with open(self.file, encoding="utf-8") as file:
                rows = [row for row in csv.reader(file) if len(row) > 3 and row[3].isdigit()]
        except OSError:
            return []
        return [{"wall_s": float(row[0]), "samples": int(row[2]), "version": int(row[3])} for row in rows]

    def newest(self):
        """Of the version of the last row, its samples; zeros before there is one."""
        rows = self.all()
        return rows[-1] if rows else {"wall_s": 0.0, "samples": 0, "version": 0}


class Processes:
    """Processes that this test has started: none stays."""

    def __init__(self, home):
        self.home = Path(home)
        self.running = []

    def start(self, name, arguments, inside=()):
        """`inside`: a command that runs it elsewhere, as in a network namespace. What it says is in NAME.txt."""
        with open(self.home / (name + ".txt"), "ab") as log:
            process = subprocess.Popen([*inside, PROGRAM, *arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.running.append(process)
        return process

    def said(self, name):
        try:
            return (self.home / (name + ".txt")).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Launch:
    """`thalweg launch` in a folder of its own, with what it started."""

    def __init__(self, processes, name, job):
        self.folder = processes.home / name
        self.processes, self.name = processes, name
        self.process = processes.start(name, ["launch", *job, "--out", str(self.folder)])
        self.rows = Rows(self.folder)

    def said(self):
        return self.processes.said(self.name)

    def members(self):
        """Ids of the processes, by the names that the launcher gives them."""
        found = {}
        pid = self.process.pid
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return found
        for child in map(int, children):
            words = typed(child)
            if "--root" in words:
                found["root"] = child
            elif "--name" in words:
                found[words[words.index("--name") + 1]] = child
        return found

    def over(self):
        return self.process.poll() is not None

    def stop(self):
        """Ctrl-C: the run ends with its checkpoint. Returns its summary."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=END_MAX_S)
        return summary_of(self.folder)


class Cluster:
    """A root and nodes that join it, each started by itself: for nodes that are not all in one place."""

    def __init__(self, processes, name, job, listen, inside=(), local_workers=0):
        self.processes, self.name = processes, name
        self.folder = processes.home / name
        self.rows = Rows(self.folder)
        authority = processes.home / (name + "-keys")
        self.keys = str(authority / "local")
        for words in (["init", str(authority)], ["node", "local", "--dir", str(authority)]):
            processes.start(name + "-keys-made", ["keys", *words]).wait()
        self.root = processes.start(name + "-root", ["node", "--root", *job, "--listen", listen + ":0", "--keys", self.keys,
                                                     "--local-workers", str(local_workers), "--out", str(self.folder)], inside)
        self.nodes = {}
        if wait_until(lambda: "listening on" in self.said(), BEGIN_MAX_S, self.over) is None:
            raise RuntimeError("the root does not listen: " + self.said())
        self.address = re.search(r"listening on (\S+):", self.said()).group(1)

    def said(self, name="root"):
        return self.processes.said(f"{self.name}-{name}")

    def join(self, name, listen, inside=(), more=()):
        self.nodes[name] = self.processes.start(f"{self.name}-{name}", ["node", "--join", self.address, "--keys", self.keys,
                                                                        "--name", name, "--listen", listen, *more], inside)
        return self.nodes[name]

    def begun(self, version=0):
        """Whether a newer version than this comes before long."""
        return wait_until(lambda: self.rows.newest()["version"] > version, BEGIN_MAX_S, self.over) is not None

    def over(self):
        return self.root.poll() is not None

    def all_run(self):
        return all(process.poll() is None for process in (self.root, *self.nodes.values()))

    def stop(self):
        """Ctrl-C: the run ends with its checkpoint, and its nodes with it. Returns its summary."""
        if not self.over():
            self.root.send_signal(signal.SIGINT)
        self.root.wait(timeout=END_MAX_S)
        for node in self.nodes.values():
            node.wait(timeout=END_MAX_S)
        return summary_of(self.folder)


def summary_of(folder):
    return json.loads((Path(folder) / "summary.json").read_text())


def ledger_fault(summary):
    """Why the ledger is not exact; empty: it is."""
    ledger = summary["ledger"]
    if ledger["committed"] != summary["samples"] or ledger["repeated"] or ledger["quarantined"]:
        return f"the ledger is {ledger}, with {summary['samples']} samples"
    return ""


def wait_until(true, seconds, or_over=lambda: False, every_s=POLL_S):
    """The time that it took; None: it did not come true in time, or `or_over` did first."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if true():
            return time.monotonic() - began
        if or_over():
            return None
        time.sleep(every_s)
    return None


class Home:
    """A folder for a test's runs, and their processes: THALWEG_KEEP=FOLDER keeps it. None of the processes stays."""

    def __init__(self, test):
        keep = os.environ.get("THALWEG_KEEP")
        self.folder = Path(keep or tempfile.mkdtemp(prefix=f"thalweg-{test}-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.keep = bool(keep)

    def __enter__(self):
        self.processes = Processes(self.folder)
        return self.processes

    def __exit__(self, kind, *_):
        self.processes.end()
        if not self.keep and kind is None:
            shutil.rmtree(self.folder, ignore_errors=True)


class Verdict:
    """Collects what did not hold, so that a test shows all of its figures before it fails."""

    def __init__(self, name):
        self.name, self.faults = name, []

    def say(self, text):
        print(f"{self.name}: {text}", flush=True)

    def holds(self, true, text):
        self.say(("holds: " if true else "MISSED: ") + text)
        if not true:
            self.faults.append(text)

    def end(self):
        self.say("all held" if not self.faults else f"{len(self.faults)} missed")
        sys.exit(1 if self.faults else 0)
