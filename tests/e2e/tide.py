"""tests/e2e/tide.py - record programs and read reports: what the tests share."""
import json
import os
import subprocess
import tempfile
import unittest

TIDEMARK = os.environ["TIDEMARK"]
PROGRAMS = os.environ["TIDEMARK_PROGRAMS"]
SOURCE = os.environ["TIDEMARK_SOURCE"]


def program(name):
    return os.path.join(PROGRAMS, name)


class Recorded:
    """A finished `tidemark run`: what it printed, how it ended, where the trace is."""

    def __init__(self, argv, options=(), env=None, timeout=120, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix="tide-e2e-")
        self.trace = os.path.join(self.folder, "t.tide")
        self.done = subprocess.run(
            [TIDEMARK, "run", "-q", "-o", self.trace, *options, "--", *argv],
            capture_output=True, text=True, env=env, timeout=timeout, check=False)
        self.stdout = self.done.stdout
        self.status = self.done.returncode

    def own_count(self):
        """What the program itself says it did."""
        return json.loads(self.stdout)

    def report(self, *options):
        return report(self.trace, *options)

    def sites(self, view):
        """function -> row, of a flat view."""
        return {row["function"]: row for row in self.report(view, "--flat")["rows"]}


def report(trace, *options):
    done = subprocess.run([TIDEMARK, "report", trace, "--json", "-n", "100000", *options],
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"report failed: {done.stderr}")
    return json.loads(done.stdout)


def info(trace):
    done = subprocess.run([TIDEMARK, "info", trace, "--json"], capture_output=True,
                          text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"info failed: {done.stderr}")
    return json.loads(done.stdout)


class Case(unittest.TestCase):
    maxDiff = None

    def whole(self, result, **allowed):
        """The honesty section of a trace that lost nothing."""
        honesty = result["honesty"]
        expected = {"dropped": 0, "unmatched_frees": 0, "complete": True}
        expected.update(allowed)
        self.assertEqual({key: honesty[key] for key in expected}, expected, honesty)


def main():
    unittest.main(verbosity=1)
