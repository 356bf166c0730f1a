"""tests/e2e/test_regions.py - regions, loops, phases: every block under the right path.

The program prints what it made where.
"""
import collections
import json
import os
import unittest

import tide


class Regions(tide.Case):
    def own_sums(self, run):
        sums = collections.Counter()
        for path, size in json.loads(run.stdout, object_pairs_hook=list):
            sums[path] += size
        return sums

    def sums(self, run):
        rows = run.report("--regions", "--total", "--function", "make|in_child")["rows"]
        return collections.Counter({row["region"] or "": row["bytes"] for row in rows
                                    if row["bytes"]})

    def test_every_block_counts_where_it_was_made(self):
        run = tide.Recorded([tide.program("region_rules")])
        self.assertEqual(run.status, 0, run.done.stderr)
        self.assertEqual(self.sums(run), self.own_sums(run))
        report = run.report("--regions")
        self.whole(report)
        # child ends what is not its own; "left open" five times; "no such thing"
        self.assertEqual(report["honesty"]["region_mismatches"], 7)
        counts = tide.info(run.trace)["kinds"]
        self.assertEqual(counts["loop"], 1)
        self.assertEqual(counts["iteration"], 5)

    def test_inheriting_can_be_switched_off(self):
        env = dict(os.environ, TIDEMARK_INHERIT="off")
        run = tide.Recorded([tide.program("region_rules")], env=env)
        expected = self.own_sums(run)
        for path, other, size in (("outer/threads", "", 1011 + 1012 + 1013),
                                  ("outer/threads/own", "own", 1014),
                                  ("outer/threads/child", "", 1010)):
            expected[path] -= size
            expected[other] += size
        self.assertEqual(self.sums(run), +expected)

    def test_without_the_recorder_nothing_happens(self):
        run = tide.subprocess.run([tide.program("region_rules")], capture_output=True,
                                  text=True, timeout=60, check=True)
        self.assertIn('"outer/loop": 3000', run.stdout)


class ManyHands(tide.Case):
    """64 threads, labels on blocks that realloc moves, blocks that others free."""

    def sums(self, run, *words, count="calls"):
        return {row[words[0][2:-1]]: [row[count], row["bytes"]]
                for row in run.report(*words)["rows"] if row["bytes"]}

    def test_by_region_label_and_thread(self):
        run = tide.Recorded([tide.program("many_hands"), "64", "300"])
        own = run.own_count()
        only = ("--total", "--function", "make")
        self.assertEqual(self.sums(run, "--regions", *only), own["regions"])
        self.assertEqual(self.sums(run, "--labels", *only), own["labels"])
        self.assertEqual(self.sums(run, "--labels", "--leaks", "--function", "make",
                                   count="blocks"), own["left"])
        rows = run.report("--threads", *only)["rows"]
        self.assertEqual(sorted([row["calls"], row["bytes"]] for row in rows),
                         sorted(own["threads"]))
        self.whole(run.report(), region_mismatches=0, unmatched_labels=0)


if __name__ == "__main__":
    tide.main()
