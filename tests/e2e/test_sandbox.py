"""tests/e2e/test_sandbox.py - programs that shut themselves in with seccomp filters.

What a program may call is what it needs, not what the recorder needs; the rest may kill
it.  Recorded it must print and return what it does alone, and lose nothing in silence.
"""
import os
import shutil
import subprocess
import tempfile
import unittest

import tide

TIGHT = tide.program("tight_sandbox")
CALLS = 60000


class Tight(tide.TidyCase):
    def both(self, *argv, options=()):
        """The report, once the program has been the same plain and recorded."""
        plain = subprocess.run(argv, capture_output=True, text=True, check=False,
                               timeout=60)
        self.run_recorded = tide.Recorded(argv, options, timeout=60)
        done = self.run_recorded.done
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout),
                         argv)
        return plain, self.run_recorded.report("--total")

    def tight(self, *words):
        plain, result = self.both(TIGHT, *words)
        self.assertEqual(plain.returncode, 7)
        self.assertIn("trapped 0", plain.stdout)
        return result

    def test_whatever_becomes_of_other_calls(self):
        for action in ("errno", "kill", "trap"):
            for by, threads in (("prctl", 0), ("syscall", 3), ("tsync", 3)):
                with self.subTest(action=action, by=by, threads=threads):
                    result = self.tight(action, by, str(threads), str(CALLS))
                    self.whole(result)
                    self.assertEqual(result["summary"]["alloc_calls"] -
                                     (0 if threads == 0 else threads),
                                     CALLS * (1 + threads) + 1)
                    self.assertEqual(result["honesty"]["troubles"], [])

    def test_libunwind_is_left_in_time(self):
        plain, result = self.both(TIGHT, "kill", "prctl", "3", "2000",
                                  options=("--unwind", "libunwind"))
        self.assertEqual(plain.returncode, 7)
        self.whole(result)
        calls = {row["function"]: row["calls"] for row in
                 self.run_recorded.report("--total", "--flat")["rows"]}
        self.assertGreaterEqual(calls["make"], 2000)

    def test_what_is_executed_lives_unrecorded_and_that_is_said(self):
        plain, result = self.both(TIGHT, "exec")
        self.assertEqual(plain.returncode, 7)
        said, counted = sorted(result["honesty"]["troubles"], reverse=True)
        self.assertIn("(seccomp) would kill what it executes", said)
        self.assertRegex(counted, r"^1 program was not recorded, .*; a sandbox, seccomp, "
                                  r"would kill it for what the recorder does\)$")

    def test_no_call_of_the_recorders_start_kills_what_is_executed(self):
        for engine in ("cfi", "libunwind"):
            with self.subTest(engine=engine):
                plain, result = self.both(tide.program("forbids_each"), "/bin/true",
                                          options=("--unwind", engine))
                self.assertGreater(len(plain.stdout.split()), 5)
                self.assertLess(len(plain.stdout.split()), 50)
                self.assertGreater(result["summary"]["processes"], 400)

    @unittest.skipUnless(shutil.which("man"), "man-db is not installed")
    def test_a_program_of_libseccomps(self):
        # It asks in vain for the strict mode, to see what the kernel knows.
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.1")
            with open(page, "w", encoding="ascii") as file:
                file.write(".TH PAGE 1\n.SH NAME\npage \\- of a test\n" + "word\n" * 5000)
            plain, result = self.both("man", "-P", "cat", page)
            self.assertEqual(plain.returncode, 0)
            self.whole(result)
            # What it executes behind its filter cannot get to the collector.
            for trouble in result["honesty"]["troubles"]:
                self.assertRegex(trouble, r"^\d+ programs? w\w+ not recorded, .* shut in by a "
                                          r"sandbox\)$")


if __name__ == "__main__":
    unittest.main()
