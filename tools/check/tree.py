"""The files of a source tree, as the rules see them.

In a git checkout the tree is what git tracks: a file counts from `git add` on, and what a build or a run leaves
behind does not count. Without git, as in an unpacked archive, it is every file but those .gitignore names.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

IGNORED_FOLDERS = {".git", "build", "runs", "out", ".cache", "__pycache__"}
HEADERS = (".hpp", ".cuh", ".h")
CXX = (".hpp", ".cpp", ".cu", ".cuh", ".h")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


@dataclass(frozen=True)
class Violation:
    """One broken rule: where, what is there, and what would be right."""

    file: str
    line: int
    what: str
    right: str

    def __str__(self):
        return f"{self.file}:{self.line}: {self.what}: {self.right}"


@dataclass(frozen=True)
class Include:
    line: int
    name: str
    quoted: bool


class File:
    def __init__(self, root, path):
        self.path = path
        self._root = root

    @cached_property
    def text(self):
        """The content, or nothing for a file that is no text."""
        data = (self._root / self.path).read_bytes()
        return "" if b"\0" in data else data.decode("utf-8", errors="replace")

    @cached_property
    def lines(self):
        return self.text.splitlines()

    @cached_property
    def includes(self):
        found = []
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match:
                found.append(Include(number, match[2], match[1] == '"'))
        return found

    @property
    def top(self):
        """The first folder of the path, or the file itself at the top level."""
        return self.path.split("/")[0]

    @property
    def name(self):
        return self.path.rsplit("/")[-1]

    def is_cxx(self):
        return self.name.endswith(CXX)

    def is_header(self):
        return self.name.endswith(HEADERS)


class Tree:
    def __init__(self, root):
        self.root = Path(root).resolve()
        paths = _tracked(self.root)
        if paths is None:
            paths = _walked(self.root)
        self.files = [File(self.root, path) for path in sorted(paths) if (self.root / path).is_file()]

    def cxx(self):
        return [file for file in self.files if file.is_cxx()]

    def __contains__(self, path):
        return any(file.path == path for file in self.files)


def _tracked(root):
    if not (root / ".git").exists():
        return None
    # The checkout may belong to another user than the one who runs the tests, which git refuses by default.
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    try:
        listed = subprocess.run(command, cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [path for path in listed.stdout.decode().split("\0") if path]


def _walked(root):
    paths = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in IGNORED_FOLDERS]
        paths += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return paths
