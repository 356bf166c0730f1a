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


class Exact(tide.TidyCase):
    """Blocks that live for 49 others and more, a few microseconds: p50x16 makes 50, frees 50."""
    WORDS = ["p50x16"] * 200

    def lives(self, *options):
        run = tide.Recorded([tide.program("alters"), *self.WORDS], options)
        self.assertEqual(run.status, 0)
        result = run.report("--lifetimes")
        self.assertEqual(result["honesty"]["dropped"], 0)
        rows = result["rows"]
        return (run, {row["least_s"]: row["calls"] for row in rows if "least_s" in row},
                {row["least_allocations"]: row["calls"] for row in rows
                 if "least_allocations" in row})

    def test_every_event_has_a_stamp_of_its_own(self):
        _, usual, made_usually = self.lives()
        _, exact, made = self.lives("--times", "exact")
        self.assertGreater(usual.get(0, 0), 10 * exact.get(0, 0))
        self.assertLess(exact.get(0, 0), 0.05 * sum(exact.values()))
        self.assertEqual(sum(exact.values()), sum(usual.values()))
        self.assertEqual(made, made_usually)
        self.assertGreaterEqual(sum(made.values()), 200 * 50)

    def test_the_table_says_what_it_knows(self):
        for options, known, other in (((), "between two stamps", "too short to tell"),
                                      (("--times", "exact"), "", "between two stamps")):
            run, _, _ = self.lives(*options)
            text = subprocess.run([tide.TIDEMARK, "report", "--lifetimes", run.trace],
                                  capture_output=True, text=True, check=True).stdout
            self.assertIn(known, text)
            self.assertNotIn(other, text)
            self.assertIn("blocks made meanwhile", text)

    def test_threads_and_processes_are_recorded_as_ever(self):
        for program in (["short_threads"], ["ground_threads"], ["fork_tree"]):
            run = tide.Recorded([tide.program(program[0]), *program[1:]],
                                ["--times", "exact", "--wait"])
            self.assertEqual(run.status, 0, program)
            self.whole(run.report("--total", "--flat"))


if __name__ == "__main__":
    tide.main()
