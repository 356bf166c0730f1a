"""tests/e2e/test_instructions.py - how many instructions recording adds to malloc and free.

Counted by callgrind, so the number does not depend on the machine's mood: nobody makes the
hot path longer unseen.  Who makes it shorter lowers the limit here.
"""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tide

# Paths of tests/programs/ring at depth 20 -> instructions added to a pair of calls, as
# measured with gcc 12 at -O2 (476, 597, 666), and 3 to 5 % more.
LIMITS = {"one": 500, "cycle": 615, "random": 695}
FEW, MANY = 20000, 60000
# Where the stack lies so that leaves share a place, there are more; an environment that is
# longer by so many bytes moves it.
LONGER = (0, 48, 176, 400, 1008)


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class Instructions(tide.Case):
    def count(self, pairs, paths, recorded, longer):
        with tempfile.TemporaryDirectory() as folder:
            argv = ["valgrind", "--tool=callgrind",
                    "--callgrind-out-file=" + os.path.join(folder, "out"),
                    tide.program("ring"), str(pairs), "16", paths]
            if recorded:
                argv = [tide.TIDEMARK, "run", "-q", "-o", os.path.join(folder, "t.tide"),
                        "--", *argv]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=120,
                                  check=True, env={**os.environ, "LONGER": "x" * longer})
        [total] = re.findall(r"Collected : (\d+)", done.stderr)
        return int(total)

    def per_pair(self, paths, recorded, longer):
        """Of a pair alone: start and end are the same for few and for many."""
        many = self.count(MANY, paths, recorded, longer)
        return (many - self.count(FEW, paths, recorded, longer)) / (MANY - FEW)

    def added(self, paths, limit):
        """The least of several places of the stack, up to one that is below LIMIT."""
        plain, least = self.per_pair(paths, False, 0), float("inf")
        for longer in LONGER:
            least = min(least, self.per_pair(paths, True, longer) - plain)
            if least < limit:
                break
        return least

    def test_a_pair_of_calls(self):
        for paths, limit in LIMITS.items():
            with self.subTest(paths=paths):
                added = self.added(paths, limit)
                self.assertLess(added, limit)
                self.assertGreater(added, limit / 2, "lower the limit")


if __name__ == "__main__":
    tide.main()
