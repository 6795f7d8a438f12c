#!/usr/bin/env python3
"""The checks can fail: trees with one planted violation each, and the same trees without it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
CHECKS = Path(__file__).resolve().parents[2] / "tools" / "check"
sys.path.insert(0, str(CHECKS))

import rules
from tree import Tree

ONCE = "#pragma once\n"


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, **files):
        """Files by path; in a keyword `__` stands for `/`, so that a path can be one."""
        for path, text in files.items():
            self.write(path.replace("__", "/") + ".cpp", text)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def found(self, rule):
        return [str(violation) for violation in rule(Tree(self.root))]

    def assert_one(self, rule, where, what):
        found = self.found(rule)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(where + ": "), found[0])
        self.assertIn(what, found[0])


class Layers(Planted):
    def test_downwards_is_right(self):
        self.plant(runtime__a='#include <thalweg/config.hpp>\n#include "runtime/b.hpp"\n#include <vector>\n',
                   tools__cli__a='#include "actors/a.hpp"\n#include "runtime/b.hpp"\n',
                   tests__unit__a='#include "models/a.hpp"\n#include "tests/support/b.hpp"\n',
                   examples__01_train="#include <thalweg/cluster.hpp>\n#include <iostream>\n")
        self.assertEqual(self.found(rules.layers), [])

    def test_upwards(self):
        self.plant(gpu__a='#include <vector>\n#include "models/network.hpp"\n')
        self.assert_one(rules.layers, "gpu/a.cpp:2", "runtime < gpu < models < actors < tools")

    def test_an_include_with_spaces(self):
        self.plant(runtime__a='  #  include "gpu/stream.hpp"\n')
        self.assert_one(rules.layers, "runtime/a.cpp:1", "runtime includes")

    def test_example_with_an_internal_header(self):
        self.plant(examples__01_train='#include "actors/worker.hpp"\n')
        self.assert_one(rules.layers, "examples/01_train.cpp:1", "examples show")

    def test_example_with_a_library(self):
        self.plant(examples__01_train="#include <fmt/format.h>\n")
        self.assert_one(rules.layers, "examples/01_train.cpp:1", "examples show")

    def test_a_test_header_outside_tests(self):
        self.plant(actors__a='#include "tests/support/script.hpp"\n')
        self.assert_one(rules.layers, "actors/a.cpp:1", "nothing outside tests")

    def test_relative(self):
        self.plant(gpu__a='#include "stream.hpp"\n')
        self.assert_one(rules.layers, "gpu/a.cpp:1", "write the whole path")

    def test_upwards_by_dots(self):
        self.plant(gpu__a='#include "../models/network.hpp"\n')
        self.assert_one(rules.layers, "gpu/a.cpp:1", "write the whole path")

    def test_internal_in_angle_brackets(self):
        self.plant(gpu__a="#include <models/network.hpp>\n")
        self.assert_one(rules.layers, "gpu/a.cpp:1", "angle brackets")

    def test_public_header_with_an_internal_one(self):
        self.write("runtime/include/thalweg/a.hpp", ONCE + '#include "runtime/values/ids.hpp"\n')
        self.assert_one(rules.layers, "runtime/include/thalweg/a.hpp:2", "are installed")


class Fences(Planted):
    def test_at_home_is_right(self):
        self.plant(actors__a="#include <caf/all.hpp>\n#include <fmt/format.h>\n#include <sys/file.h>\n",
                   gpu__host__a="#include <dnnl.hpp>\n#include <omp.h>\n",
                   runtime__pool__a="#include <tbb/task_arena.h>\n", models__idx="#include <zlib.h>\n")
        self.assertEqual(self.found(rules.fences), [])

    def test_away_from_home(self):
        for header in ("caf/all.hpp", "dnnl.hpp", "oneapi/dnnl/dnnl.h", "omp.h", "cuda_runtime.h", "cudnn_backend.h",
                       "tbb/parallel_for.h", "oneapi/tbb.h", "boost/asio.hpp", "openssl/ssl.h", "isa-l/crc.h",
                       "sqlite3.h", "zlib.h", "toml++/toml.h", "CLI/CLI.hpp", "nlohmann/json.hpp", "gtest/gtest.h",
                       "gmock/gmock.h", "benchmark/benchmark.h"):
            with self.subTest(header):
                self.plant(gpu__a=f"#include <vector>\n#include <{header}>\n")
                self.assert_one(rules.fences, "gpu/a.cpp:2", "its home is")

    def test_unknown_library(self):
        self.plant(models__a="#include <Eigen/Dense>\n")
        self.assert_one(rules.fences, "models/a.cpp:1", "unknown library")

    def test_public_header(self):
        self.write("runtime/include/thalweg/a.hpp", ONCE + "#include <fmt/format.h>\n")
        self.assert_one(rules.fences, "runtime/include/thalweg/a.hpp:2", "a public header")

    def test_second_file_of_a_slow_library(self):
        self.plant(tools__cli__a="#include <CLI/CLI.hpp>\n", tools__cli__b="#include <CLI/CLI.hpp>\n")
        self.assert_one(rules.fences, "tools/cli/b.cpp:1", "tools/cli/a.cpp")


class TopLevel(Planted):
    def setUp(self):
        super().setUp()
        for entry in rules.TOP_LEVEL:
            self.write(entry if "." in entry[1:] or entry in ("LICENSE", ".clang-format", ".clang-tidy", ".gitignore")
                       else f"{entry}/a", "")

    def test_whole(self):
        self.assertEqual(self.found(rules.top_level), [])

    def test_new_entry(self):
        self.write("scripts/run.sh", "")
        self.assert_one(rules.top_level, "scripts/run.sh:1", "new at the top level")

    def test_missing_entry(self):
        (self.root / "LICENSE").unlink()
        self.assert_one(rules.top_level, "LICENSE:1", "missing")

    def test_what_a_build_leaves_is_no_entry(self):
        self.write("build/dev/a.cpp", "")
        self.assertEqual(self.found(rules.top_level), [])

    def test_git_says_what_counts(self):
        def git(*arguments):
            subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True)

        git("init", "--quiet")
        git("add", ".")
        self.write("notes.txt", "")
        self.assertEqual(self.found(rules.top_level), [])
        git("add", "notes.txt")
        self.assert_one(rules.top_level, "notes.txt:1", "new at the top level")


class Words(Planted):
    def test_plain_text(self):
        self.plant(actors__root__a="// to do, /usr/share/datasets, actors/root/a.cpp, ${HOME}/work/x\n")
        self.assertEqual(self.found(rules.words), [])

    def test_paths_of_one_machine(self):
        for place in ("home/me/data", "work/tree", "root/.cache"):
            with self.subTest(place):
                self.plant(runtime__a=f'\nauto path = "/{place}";\n')
                self.assert_one(rules.words, "runtime/a.cpp:2", "one machine")

    def test_put_off_work(self):
        for word in ("TO" + "DO", "FIX" + "ME"):
            with self.subTest(word):
                self.write("README.md", f"{word}: write this\n")
                self.assert_one(rules.words, "README.md:1", word)

    def test_bytes_are_no_text(self):
        (self.root / "image.bin").write_bytes(b"\0/" + b"home/me/x")
        self.assertEqual(self.found(rules.words), [])


class Names(Planted):
    def test_nouns(self):
        self.plant(actors__worker="", runtime__database="")
        self.assertEqual(self.found(rules.names), [])

    def test_drawers(self):
        for name in ("file_utils", "helpers", "common", "actor_base", "cluster_impl", "memory_manager"):
            with self.subTest(name):
                self.plant(**{f"actors__{name}": ""})
                self.assert_one(rules.names, f"actors/{name}.cpp:1", "noun")
                (self.root / f"actors/{name}.cpp").unlink()

    def test_case(self):
        self.plant(actors__Worker="")
        self.assert_one(rules.names, "actors/Worker.cpp:1", "snake_case")


class Length(Planted):
    def test_limit(self):
        self.plant(gpu__a="\n" * rules.LINES_MAX)
        self.assertEqual(self.found(rules.length), [])
        self.plant(gpu__a="\n" * (rules.LINES_MAX + 1))
        self.assert_one(rules.length, "gpu/a.cpp:501", "501 lines")


class Once(Planted):
    def test_guard(self):
        self.write("gpu/a.hpp", "// A comment may come first.\n" + ONCE)
        self.assertEqual(self.found(rules.once), [])
        self.write("gpu/a.hpp", "#ifndef A\n#define A\n#endif\n")
        self.assert_one(rules.once, "gpu/a.hpp:1", "#pragma once")


class Programs(Planted):
    """The programs themselves: their exit codes and what they print."""

    def run_check(self, program, *arguments):
        return subprocess.run([sys.executable, str(CHECKS / program), *arguments, "--root", str(self.root)],
                              capture_output=True, text=True, check=False)

    def test_rules(self):
        self.plant(gpu__a='#include "runtime/a.hpp"\n')
        self.assertEqual(self.run_check("rules.py", "layers").returncode, 0)
        self.plant(gpu__a='#include "actors/a.hpp"\n')
        done = self.run_check("rules.py", "layers")
        self.assertEqual(done.returncode, 1)
        self.assertIn("gpu/a.cpp:1: ", done.stdout)
        self.assertEqual(self.run_check("rules.py", "no_such_rule").returncode, 2)

    def test_headers(self):
        compiler = os.environ.get("CXX", "c++")
        self.write("gpu/a.cpp", '#include "gpu/a.hpp"\n')
        # Proven by a.cpp, so the broken text below is the build's to find, not the check's.
        self.write("gpu/a.hpp", ONCE + "int a(\n")
        self.write("gpu/b.hpp", ONCE + "#include <vector>\ninline std::vector<int> b() { return {}; }\n")
        self.write("compile_commands.json", json.dumps([{
            "directory": str(self.root), "file": str(self.root / "gpu/a.cpp"),
            "command": f"{compiler} -std=c++20 -Wall -Werror -I. -o a.o -c {self.root}/gpu/a.cpp"}]))
        build = ["--build", str(self.root)]
        self.assertEqual(self.run_check("headers.py", *build).returncode, 0)
        self.write("gpu/c.hpp", ONCE + "inline std::vector<int> c() { return {}; }\n")
        done = self.run_check("headers.py", *build)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("gpu/c.hpp:1: the header does not compile alone", done.stdout)
        self.assertIn("3 headers, 1 proven by the build, 2 compiled here, 1 violations", done.stdout)


if __name__ == "__main__":
    unittest.main()
