#!/usr/bin/env python3
"""Every header compiles alone.

    headers.py --build FOLDER [--root FOLDER]

A header that some compiled source includes first is proven by that source. The others are compiled here, syntax
only, with the flags of a neighbouring source from FOLDER/compile_commands.json.
Exit code 0: all do, 1: some do not (what the compiler said goes before the line).
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it was checked out

from tree import Tree, Violation


def compiled_sources(tree, build):
    """Path in the tree to (folder, arguments) of every source the build compiles."""
    sources = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(tree.root):
            arguments = entry.get("arguments") or shlex.split(entry["command"])
            sources[path.relative_to(tree.root).as_posix()] = (entry["directory"], arguments)
    return sources


def proven_headers(tree, sources):
    """The headers that a compiled source includes before anything else."""
    proven = set()
    for file in tree.cxx():
        if file.path in sources and file.includes:
            first = file.includes[0].name
            proven |= {first, f"runtime/include/{first}"}
    return proven


def neighbour(header, sources):
    """The source whose path shares most with the header's: it is compiled with the flags the header meets."""
    return max(sorted(sources), key=lambda path: len(os.path.commonprefix([path, header])))


def syntax_only(arguments, source, header):
    """The compiler's command line for `source`, turned into a check of `header`."""
    command, skip = [], False
    for argument in arguments:
        if skip or argument in ("-c", "-MD", "-MMD"):
            skip = False
        elif argument in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif not argument.endswith(source) and os.path.basename(argument) != "ccache":
            command.append(argument)
    # As an included file, so that `#pragma once` is not warned about.
    return [*command, "-fsyntax-only", "-include", header, "-x", "c++", os.devnull]


def check(tree, sources, header):
    source = neighbour(header, sources)
    folder, arguments = sources[source]
    command = syntax_only(arguments, source, str(tree.root / header))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return done.stderr, Violation(header, 1, "the header does not compile alone", "include what it uses")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    tree = Tree(options.root)
    sources = compiled_sources(tree, options.build)
    if not sources:
        sys.exit(f"{options.build}/compile_commands.json names no source of {tree.root}")
    headers = [file.path for file in tree.cxx() if file.is_header() and not file.path.startswith("gpu/cuda/")]
    proven = proven_headers(tree, sources)
    rest = [header for header in headers if header not in proven]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        faults = [fault for fault in threads.map(lambda header: check(tree, sources, header), rest) if fault]
    for said, violation in faults:
        print(said)
        print(violation)
    print(f"headers: {len(headers)} headers, {len(headers) - len(rest)} proven by the build, {len(rest)} compiled "
          f"here, {len(faults)} violations")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
