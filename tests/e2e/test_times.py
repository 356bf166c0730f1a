"""tests/e2e/test_times.py - when large blocks were born and died, of a program that rests."""
import json
import subprocess

import tide

NS = 1e-9
CLOSE_S = 0.0005  # a stamp may be left out that is a tenth of a millisecond from another
SIZE, TIMES, MOST = 1000000, 10, 64 << 20


class Rests(tide.TidyCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_of = tide.Recorded([tide.program("rests")])

    def test_large_blocks_live_as_long_as_they_did(self):
        told = dict(map(int, line.split()) for line in self.run_of.stdout.splitlines())
        lines = subprocess.run(
            [tide.TIDEMARK, "export", "--to", "ndjson", "--all", self.run_of.trace],
            capture_output=True, text=True, check=True).stdout.splitlines()
        blocks = [block for block in map(json.loads, lines)
                  if SIZE <= block["size"] < SIZE + TIMES]
        self.assertEqual(sorted(block["size"] for block in blocks), sorted(told))
        # Who is held up between the call and his look at the clock tells another time.
        right = [block for block in blocks
                 if abs(block["death_s"] - block["birth_s"] - told[block["size"]] * NS) < CLOSE_S]
        self.assertGreaterEqual(len(right), 7)

    def test_what_stands_while_others_run_is_sure(self):
        summary = self.run_of.report("--peak")["summary"]
        self.assertGreaterEqual(summary["peak_bytes"], MOST)
        self.assertLess(summary["peak_uncertainty_bytes"], 1 << 20)


if __name__ == "__main__":
    tide.main()
