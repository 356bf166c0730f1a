"""tests/e2e/test_labels.py - labels that are given, replaced, taken away, and that move."""
import collections
import json
import subprocess
import unittest

import tide


def by_label(recorded, view, *options):
    """label -> (calls or blocks, bytes)."""
    return {row["label"]: (row.get("calls", row.get("blocks")), row["bytes"])
            for row in recorded.report(view, "--labels", *options)["rows"]}


class Unlabelled(tide.Case):
    """tests/programs/unlabels.c."""

    @classmethod
    def setUpClass(cls):
        cls.run_of = tide.Recorded([tide.program("unlabels")])
        assert cls.run_of.status == 0, cls.run_of.done.stderr

    def test_a_birth_counts_under_the_name_that_was_lost(self):
        self.assertEqual(by_label(self.run_of, "--total"), {
            "kept": (1, 1000), "lost": (1, 2000), "first": (1, 4000), "late": (1, 8000),
            "again": (1, 16000), "brief": (3, 300), None: (2, 96000)})
        sizes = self.run_of.report("--total", "--labels")["label_sizes"]
        self.assertEqual({(row["label"], row["blocks"]) for row in sizes},
                         {("kept", 1), ("lost", 1), ("first", 1), ("late", 1),
                          ("again", 1), ("brief", 3)})
        for row in sizes:
            self.assertEqual((row["element_bytes"], row["extents"]),
                             (4, [50, 10]) if row["label"] == "lost" else (None, None))

    def test_at_a_moment_it_has_the_name_of_that_moment(self):
        self.assertEqual(by_label(self.run_of, "--peak"), {
            "kept": (1, 1000), "second": (1, 4000), "late": (1, 8000),
            None: (3, 98000)})
        self.assertEqual(by_label(self.run_of, "--leaks"), {
            "kept": (1, 1000), "second": (1, 4000), None: (3, 42000)})
        result = self.run_of.report("--total")
        self.whole(result)
        self.assertEqual(result["honesty"].get("unmatched_labels", 0), 0)

    def test_queries_agree(self):
        done = subprocess.run(
            [tide.TIDEMARK, "query", self.run_of.trace,
             "SELECT snapshot,label,size FROM snapshots FORMAT json"],
            capture_output=True, text=True, timeout=60, check=True)
        moments = collections.defaultdict(dict)
        for row in json.loads(done.stdout):
            moments[row["snapshot"]][int(row["size"])] = row.get("label")
        named = {1000: "kept", 2000: "lost", 4000: "first", 8000: "late", 16000: "again"}
        self.assertEqual(moments["all named"], named)
        self.assertEqual(moments["peak"], {1000: "kept", 2000: None, 4000: "second",
                                           8000: "late", 32000: None, 64000: None})
        self.assertEqual(moments["end"], {1000: "kept", 2000: None, 4000: "second",
                                          8000: None, 32000: None})
        done = subprocess.run(
            [tide.TIDEMARK, "query", self.run_of.trace,
             "SELECT label,count() WHERE mem.alloc, label GROUP BY label FORMAT json"],
            capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual({row["label"]: int(row["count"])
                          for row in json.loads(done.stdout)},
                         {"kept": 1, "lost": 1, "first": 1, "late": 1, "again": 1,
                          "brief": 3})

    def test_an_address_has_the_name_that_its_block_counts_under(self):
        address = hex(int(self.run_of.stdout, 16) + 4 * 27)
        done = subprocess.run(
            [tide.TIDEMARK, "resolve", "--json", self.run_of.trace, address],
            capture_output=True, text=True, timeout=60, check=True)
        block, = json.loads(done.stdout)["answers"][0]["blocks"]
        self.assertEqual((block["size"], block["label"], block["index"]),
                         (2000, "lost", [2, 7]))

    def test_a_mapping_keeps_its_name_when_it_moves(self):
        self.assertEqual(by_label(self.run_of, "--leaks", "--space", "mmap"),
                         {"mapped": (1, 2 << 20)})


class Random(tide.Case):
    def test_every_name_counts_what_it_should(self):
        for seed in "1", "2", "3":
            recorded = tide.Recorded([tide.program("relabels"), seed])
            for view, truth in recorded.own_count().items():
                found = by_label(recorded, f"--{view}")
                truth = {name or None: tuple(counts) for name, counts in truth.items()}
                with self.subTest(seed=seed, view=view):
                    self.assertEqual(
                        {name: found.get(name, (0, 0)) for name in truth}, truth)


class TooLarge(tide.Case):
    def test_names_of_more_than_the_block_are_counted(self):
        run = tide.Recorded([tide.program("large_labels")])
        result = run.report("--total")
        self.whole(result, unmatched_labels=0, oversized_labels=2)
        said = subprocess.run([tide.TIDEMARK, "report", run.trace], capture_output=True,
                              text=True, timeout=60, check=True).stdout
        self.assertIn("2 names of more bytes than their blocks have", " ".join(said.split()))
        self.whole(tide.Recorded([tide.program("unlabels")]).report("--total"),
                   oversized_labels=0)


if __name__ == "__main__":
    unittest.main()
