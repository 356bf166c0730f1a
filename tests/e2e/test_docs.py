#!/usr/bin/python3
"""tests/e2e/test_docs.py - the examples of docs/api.md and docs/python.md do what they say."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tide

try:
    import numpy
except ImportError:
    numpy = None
try:
    import pandas
except ImportError:
    pandas = None

INCLUDE = os.path.join(tide.SOURCE, "include")
MODULE = os.path.join(tide.SOURCE, "bindings", "fortran", "tidemark.f90")
ENVIRONMENT = dict(os.environ, PYTHONDONTWRITEBYTECODE="1",
                   PYTHONPATH=os.path.join(tide.SOURCE, "bindings", "python"))
BLOCK = re.compile(r"^(?:<!-- needs (.*) -->\n)?```(\w+)\n(.*?)^```$", re.M | re.S)


def examples(page):
    """(needs, language, text) of each block of a page that names its language."""
    with open(os.path.join(tide.SOURCE, "docs", page), encoding="utf-8") as file:
        return BLOCK.findall(file.read())


class Prose(unittest.TestCase):
    """tools/wrap-docs, and the pages that it wraps."""

    def wrap(self, *words):
        return subprocess.run([sys.executable, "-B", os.path.join(tide.SOURCE, "tools", "wrap-docs"),
                               *words], capture_output=True, text=True, check=False, timeout=60)

    def test_no_line_of_prose_is_longer_than_120_columns(self):
        pages = [path for folder in ("", "docs", "docs/internals", "examples", "tests")
                 for path in glob.glob(os.path.join(tide.SOURCE, folder, "*.md"))]
        self.assertGreater(len(pages), 15)
        done = self.wrap("--check", *pages)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_what_is_no_prose_is_left_alone(self):
        long = "word " * 40
        code = "`" + "c " * 30 + "c`"
        kept = (f"# {long}\n\n```\n{long}\n```\n\n| {long} |\n|---|\n\n<!-- {long} -->\n"
                "\nshort\nlines stay\n")
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.md")
            text = kept + f"\n- {long}\n  {code} more {code} end - of 3) it\n  1. {long}\n"
            with open(page, "w", encoding="utf-8") as file:
                file.write(text)
            self.assertEqual(self.wrap("--check", page).returncode, 1)
            self.assertEqual(self.wrap(page).returncode, 0)
            self.assertEqual(self.wrap("--check", page).returncode, 0)
            with open(page, encoding="utf-8") as file:
                wrapped = file.read()
        self.assertTrue(wrapped.startswith(kept))
        self.assertEqual(wrapped.split(), text.split())
        lines = wrapped[len(kept):].splitlines()
        self.assertTrue(all(len(line) <= 120 for line in lines), lines)
        self.assertEqual(sum(code in line for line in lines), 2)    # never parted
        self.assertEqual([line for line in lines if line.strip() and
                          not line.startswith(("- word", "  word", "  `c", "  1. word",
                                               "     word", "  more", "  end"))], [])


class Docs(tide.Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tide-docs-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def compiled(self, language, which=0):
        """Example WHICH of api.md in LANGUAGE, as a command line."""
        text = [text for _, found, text in examples("api.md") if found == language][which]
        ending, command = {
            "c": ("c", ["gcc", "-std=c11", "-Wall", "-Wextra", f"-I{INCLUDE}"]),
            "cpp": ("cpp", ["g++", "-std=c++11", "-Wall", "-Wextra", f"-I{INCLUDE}"]),
            "fortran": ("f90", ["gfortran", "-Wall", f"-J{self.folder}", MODULE]),
            "python": ("py", None)}[language]
        source = self.write("prog." + ending, text)
        if not command:
            return [sys.executable, source]
        if not shutil.which(command[0]):
            self.skipTest(f"no {command[0]} here")
        program = os.path.join(self.folder, "prog")
        subprocess.run([*command, "-Werror", "-g", source, "-o", program], check=True,
                       timeout=120)
        return [program]

    def check(self, language, said):
        command = self.compiled(language)
        alone = subprocess.run(command, capture_output=True, text=True, check=True,
                               env=ENVIRONMENT, timeout=60)
        self.assertTrue(alone.stdout)
        recorded = tide.Recorded(command, env=ENVIRONMENT, folder=self.folder)
        self.assertEqual((recorded.status, recorded.stdout), (0, said))
        labels = {row["label"]: (row["calls"], row["bytes"])
                  for row in recorded.report("--total", "--labels")["rows"]}
        self.assertEqual(labels["x"], (1, 4800))
        shapes = [(row["element_bytes"], row["extents"])
                  for row in recorded.report("--total", "--labels")["label_sizes"]
                  if row["label"] == "x"]
        self.assertEqual(shapes, [(8, [30, 20])])
        regions = [row["region"]
                   for row in recorded.report("--total", "--regions", "--label", "x")["rows"]]
        self.assertEqual(regions, ["solve"])
        self.assertEqual(tide.info(recorded.trace)["kinds"]["snapshot"], 1)

    def test_c(self):
        self.check("c", "1 calls\n")

    def test_c_finds(self):
        """The second example in C, with what the text says that it prints."""
        with open(os.path.join(tide.SOURCE, "docs", "api.md"), encoding="utf-8") as file:
            said, = re.findall(r"^prints `(.*)`; without the table", file.read(), re.M)
        recorded = tide.Recorded(self.compiled("c", 1), options=["--live-table"],
                                 folder=self.folder)
        self.assertEqual((recorded.status, recorded.stdout), (0, said + "\n"))

    def test_cxx(self):
        self.check("cpp", "1 calls\n")

    def test_cxx_monitor(self):
        """It counts what is recorded, and says why it does not."""
        command = self.compiled("cpp", 1)
        alone = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        self.assertIn("recorder is not loaded", alone.stdout)
        recorded = tide.Recorded(command, folder=self.folder)
        self.assertEqual((recorded.status, recorded.stdout), (0, "1 and 1\n"))

    def test_fortran(self):
        self.check("fortran", "1 calls\n")

    @unittest.skipUnless(numpy, "needs python3-numpy")
    def test_python(self):
        self.check("python", "True\n")

    def test_python_names_are_in_regions_and_not_in_stacks(self):
        script, _ = (text for needs, language, text in examples("python.md")
                     if language == "python" and not needs)
        trace = os.path.join(self.folder, "regions.tide")
        subprocess.run([sys.executable, "-m", "tidemark", "run", "-q", "-o", trace,
                        self.write("regions.py", script)],
                       check=True, env=ENVIRONMENT, timeout=60)
        found = {row["region"]: row["calls"]
                 for row in tide.report(trace, "--total", "--regions")["rows"]}
        self.assertEqual((found["solve"], found["set-up"]), (30, 1))
        stacks = tide.report(trace, "--total", "--stacks", "--region", "solve")["rows"]
        functions = {frame["function"] for row in stacks for frame in row["stack"]}
        self.assertIn("_PyEval_EvalFrameDefault", functions)
        self.assertNotIn("solve", functions)

    @unittest.skipUnless(numpy, "needs python3-numpy")
    def test_python_marks_and_reader(self):
        blocks = [(needs, text) for needs, language, text in examples("python.md")
                  if language == "python"]
        _, marks = (text for needs, text in blocks if not needs)
        script = self.write("marks.py", marks)
        trace = os.path.join(self.folder, "prog.tide")
        subprocess.run([sys.executable, "-m", "tidemark", "run", "-q", "-o", trace, script],
                       check=True, env=ENVIRONMENT, timeout=60)
        for number, (needs, text) in enumerate(blocks):
            if not needs or ("pandas" in needs and not pandas):
                continue
            path = self.write(f"reader{number}.py", text)
            done = subprocess.run([sys.executable, path], cwd=self.folder, text=True,
                                  capture_output=True, env=ENVIRONMENT, timeout=60,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("9600", done.stdout)  # the grid, of 30 x 40 doubles


if __name__ == "__main__":
    tide.main()
