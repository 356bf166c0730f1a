"""tests/e2e/test_large_trace.py - fifty million events: bounded memory, visible progress."""
import os
import pty
import subprocess
import tempfile

import tide

PAIRS = 25_000_000
SLOTS = 1024


class LargeTrace(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory(prefix="tide-large-")
        cls.run_ = tide.Recorded([tide.program("ring"), str(PAIRS)], ["--unwind", "fp"],
                                 timeout=280, folder=cls.holder.name)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def report(self):
        """Report with a terminal on stderr: (what it printed there, peak RSS in KiB)."""
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [tide.TIDEMARK, "report", self.run_.trace, "--total", "--json"],
            stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError: # the last one has closed the terminal
                break
            if not piece:
                break
            seen += piece
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        os.close(ours)
        self.assertEqual(status, 0)
        return seen.decode(errors="replace"), usage.ru_maxrss

    def test_it_is_reported_in_bounded_memory_and_with_progress(self):
        seen, peak_kib = self.report()
        self.assertLess(peak_kib, 300 * 1024)
        self.assertRegex(seen, r"\d+ ?%")

    def test_a_moment_in_the_middle(self):
        """All slots of the ring are full then, or one is being filled; an index spares most of
        the walk."""
        self.run_.report()      # which leaves the index
        middle = tide.info(self.run_.trace)["duration_s"] / 2
        found = self.run_.report("--live-at", str(middle), "--flat")
        self.assertIn(found["total_calls"], (SLOTS - 1, SLOTS))
        self.assertTrue(os.path.exists(self.run_.trace + ".idx"))

    def test_its_totals_are_exact(self):
        result = self.run_.report("--total", "--flat")
        self.whole(result)
        summary = result["summary"]
        self.assertEqual(summary["alloc_calls"], PAIRS)
        self.assertEqual(summary["free_calls"], PAIRS - SLOTS)
        self.assertEqual(summary["live_blocks"], SLOTS)


if __name__ == "__main__":
    tide.main()
