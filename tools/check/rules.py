#!/usr/bin/env python3
"""The rules of the house that a compiler does not check. Each takes a Tree and yields its Violations.

    rules.py RULE [--root FOLDER]     exit code 0: kept, 1: broken (a line each), 2: no such rule
"""

import argparse
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it was checked out

from tree import Tree, Violation

# Lowest first: a layer includes itself and those before it.
LAYERS = ["runtime", "gpu", "models", "actors", "tools"]

TOP_LEVEL = """CMakeLists.txt CMakePresets.json README.md CONTRIBUTING.md CHANGELOG.md LICENSE .ci .clang-format
    .clang-tidy .gitignore runtime gpu models actors examples tests tools""".split()

# The home of each third-party library: the folders or files that may include its headers, and how many files at
# most where each one costs many seconds to compile.
FENCES = [
    # header, library, homes, files at most
    (r"caf/", "CAF", ["actors/", "tools/bench/", "tests/"], None),
    (r"(oneapi/)?dnnl", "oneDNN", ["gpu/host/"], None),
    (r"omp\.h$", "OpenMP", ["gpu/host/"], None),
    (r"(cuda|cudnn|cublas|curand|nvrtc|nccl|nvtx3/|cub/|thrust/)", "CUDA", ["gpu/cuda/"], None),
    (r"(oneapi/)?tbb", "oneTBB", ["runtime/pool/"], None),
    (r"boost/beast", "Boost.Beast", ["runtime/net/http_server.cpp"], 1),
    (r"boost/", "Boost", ["runtime/net/", "tools/bench/"], None),
    (r"openssl/", "OpenSSL", ["runtime/net/", "tests/support/"], None),
    (r"isa-l", "ISA-L", ["runtime/wire/"], None),
    (r"sqlite3", "SQLite", ["runtime/journal/"], None),
    (r"zlib\.h$", "zlib", ["models/", "tests/"], None),
    (r"toml\+\+/|toml\.hpp$", "toml++", ["runtime/config/"], 2),
    (r"CLI/", "CLI11", ["tools/cli/"], 1),
    (r"nlohmann/", "nlohmann/json", ["actors/summary_json.cpp", "actors/run_folder.cpp", "actors/status_json.cpp",
                                  "models/safetensors_header.cpp", "tools/cli/", "tools/bench/comparison.cpp",
                                  "tools/compare/json.cpp", "tests/"], None),
    (r"fmt/", "fmt", ["runtime/", "gpu/", "models/", "actors/", "tools/", "tests/"], None),
    (r"(gtest|gmock)/", "GoogleTest", ["tests/"], None),
    (r"benchmark/", "Google Benchmark", ["tests/perf/"], None),
]
PUBLIC = "runtime/include/"
STANDARD = re.compile(r"[a-z_0-9]+$")
SYSTEM = re.compile(r"((sys|netinet|arpa|net|linux|asm)/)?[a-z_0-9]+\.h$")

DRAWERS = {"manager", "managers", "helper", "helpers", "util", "utils", "common", "base", "impl"}
LINES_MAX = 500


def layers(tree):
    """Includes go from a layer to itself and the ones below; examples use what is installed, tests are a leaf."""
    for file in tree.cxx():
        for include in file.includes:
            what, right = _layer_fault(file, include)
            if what:
                yield Violation(file.path, include.line, what, right)


def _layer_fault(file, include):
    name = include.name
    if file.top == "examples":
        if include.quoted or not (name.startswith("thalweg/") or STANDARD.match(name)):
            return f"an example includes {name}", "examples show what a user can do: <thalweg/...> and the standard library"
        return None, None
    if name.startswith("thalweg/"):
        if include.quoted:
            return f'"{name}" is in quotes', f"public headers are included as users do, <{name}>"
        return None, None
    target = name.split("/")[0]
    if not include.quoted:
        if target in LAYERS + ["tests"]:
            return f"<{name}> is in angle brackets", f'internal headers are written "{name}"'
        return None, None
    if file.path.startswith(PUBLIC):
        return f'a public header includes "{name}"', "only <thalweg/...> and the standard library are installed"
    if "/" not in name or target not in LAYERS + ["tests"]:
        return f'"{name}" is not seen from the root', 'write the whole path, as "gpu/stream.hpp"'
    if file.top == "tests":
        return None, None
    if target == "tests":
        return f'"{name}" is a test\'s', "nothing outside tests includes from tests"
    if file.top in LAYERS and LAYERS.index(target) > LAYERS.index(file.top):
        return (f'{file.top} includes "{name}"',
                f"the order is {' < '.join(LAYERS)}: declare what {file.top} needs as an interface there")
    return None, None


def fences(tree):
    """Every third-party library has its home, so that replacing one touches one folder."""
    users = {}
    for file in tree.cxx():
        for include in file.includes:
            if include.quoted or include.name.startswith("thalweg/"):
                continue
            fence = next((fence for fence in FENCES if re.match(fence[0], include.name)), None)
            if fence is None:
                if not (STANDARD.match(include.name) or SYSTEM.match(include.name)):
                    yield Violation(file.path, include.line, f"<{include.name}> is of an unknown library",
                                    "give it a home in FENCES of tools/check/rules.py, and its package to tools/dev")
                continue
            _, library, homes, files_max = fence
            if file.path.startswith(PUBLIC):
                yield Violation(file.path, include.line, f"a public header includes {library}",
                                "users must not need it: hide it behind a pointer to State")
            elif not file.path.startswith(tuple(homes)):
                yield Violation(file.path, include.line, f"{library} is included here",
                                f"its home is {', '.join(homes)}")
            elif files_max is not None:
                before = users.setdefault(library, set())
                before.add(file.path)
                if len(before) > files_max:
                    yield Violation(file.path, include.line, f"{library} is included by {len(before)} files",
                                    f"it is slow to compile; {files_max} at most, and there is {min(before - {file.path})}")


def top_level(tree):
    """The top level is the first page of the repository: what is there is there for everybody."""
    for entry in sorted({file.top for file in tree.files}):
        if entry not in TOP_LEVEL:
            where = next(file.path for file in tree.files if file.top == entry)
            yield Violation(where, 1, f"{entry} is new at the top level", "put it into one of the folders")
    for entry in TOP_LEVEL:
        if not any(file.top == entry for file in tree.files):
            yield Violation(entry, 1, f"{entry} is missing at the top level", "it is expected there")


def words(tree):
    """Nothing tracked names a place on somebody's machine, or puts off work where nobody looks for it."""
    # Written so that this file does not break its own rule.
    place = re.compile(r"(?<![\w.})\]])/(?:home|work|root|Users)/[\w.]")
    put_off = re.compile(r"\b(?:TO[D]O|FIX[M]E)\b")
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            if place.search(line):
                yield Violation(file.path, number, f"{place.search(line)[0]}... is a path of one machine",
                                "make it relative, an argument, or found by CMake")
            if put_off.search(line):
                yield Violation(file.path, number, f"{put_off.search(line)[0]}",
                                "do it, or say in the folder's README what is missing and why")


def names(tree):
    """A file is named by the noun it holds, in snake_case."""
    for file in tree.files:
        stem = file.name.lstrip(".").split(".")[0]
        drawers = DRAWERS & set(re.split(r"[_\-]", stem.lower()))
        if drawers:
            yield Violation(file.path, 1, f"'{min(drawers)}' says nothing about what is inside",
                            "name the file by the noun it holds")
        if file.is_cxx() and not re.fullmatch(r"[a-z0-9_/]+\.[a-z]+", file.path):
            yield Violation(file.path, 1, "the name is not snake_case", "files and folders are written_like_this.cpp")


def length(tree):
    """A file that cannot be read in one sitting holds more than one noun."""
    for file in tree.files:
        is_source = file.name.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or file.path == "tools/dev"
        if (is_source or file.is_cxx()) and len(file.lines) > LINES_MAX:
            yield Violation(file.path, LINES_MAX + 1, f"{len(file.lines)} lines",
                            f"{LINES_MAX} at most: find the second noun and give it a file")


def once(tree):
    """Headers guard themselves the one way."""
    for file in tree.cxx():
        if file.is_header():
            first = next((n for n, line in enumerate(file.lines, 1) if line.lstrip().startswith("#")), None)
            if first is None or file.lines[first - 1].split() != ["#pragma", "once"]:
                yield Violation(file.path, first or 1, "the header does not start with #pragma once", "it does")


RULES = {rule.__name__: rule for rule in (layers, fences, top_level, words, names, length, once)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rule", choices=RULES)
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2])
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    violations = list(RULES[arguments.rule](tree))
    for violation in violations:
        print(violation)
    print(f"{arguments.rule}: {len(tree.files)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
