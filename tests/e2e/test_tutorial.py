#!/usr/bin/python3
"""tests/e2e/test_tutorial.py - docs/tutorial.md shows what its commands print today.

Numbers differ from run to run and are not compared; the page is made anew by
tools/refresh-docs BUILD docs/tutorial.md.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tide


PAGE = os.path.join(tide.SOURCE, "docs", "tutorial.md")


class Tutorial(tide.Case):
    def test_the_page_shows_what_its_commands_print(self):
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(tide.SOURCE, "tools", "refresh-docs"), "--check",
             os.path.dirname(tide.TIDEMARK), "docs/tutorial.md"],
            capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_times_that_it_names_lie_within_the_run(self):
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        ran = float(re.search(r"^\./tide_pool\n.*\n  Ran ([0-9.]+) s", text, re.M)[1])
        times = re.findall(r"`--(?:live-at|between) ([^`]*)`", text)
        self.assertEqual(len(times), 2)
        for value in " ".join(times).split():
            self.assertTrue(0 < float(value.removesuffix("ms")) / 1000 < ran, value)

    @tide.unittest.skipUnless(shutil.which("mpicc"), "no mpicc here")
    def test_the_mpi_example_compiles_as_it_says(self):
        with open(PAGE, encoding="utf-8") as file:
            [command] = re.findall(r"^(mpicc .*)$", file.read(), re.M)
        with tempfile.TemporaryDirectory() as folder:
            for part in ("examples", "include"):
                os.symlink(os.path.join(tide.SOURCE, part), os.path.join(folder, part))
            os.mkdir(os.path.join(folder, "own"))
            done = subprocess.run(
                ["bash", "-c", command.replace("-o hydro_mpi", f"-Wall -o {folder}/own/hydro_mpi")],
                cwd=os.path.join(folder, "examples"), capture_output=True, text=True,
                timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "own", "hydro_mpi")))


if __name__ == "__main__":
    tide.main()
