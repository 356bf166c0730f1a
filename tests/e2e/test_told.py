"""tests/e2e/test_told.py - reports on what a program told of itself, to the byte.

The loop of tests/programs/told_loop.c is walked here once more.
"""
import csv
import io
import json
import re
import statistics
import subprocess
import unittest

import tide
from test_query import rows as query_rows


def iteration_sizes(number):
    return [100 * (number + 1), 500] + ([50] if number % 2 else [])


class Told(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.run_of = tide.Recorded([tide.program("told_loop")])
        assert cls.run_of.status == 0, cls.run_of.done.stderr

    def text(self, *options, columns="80"):
        env = dict(tide.os.environ, COLUMNS=columns)
        return subprocess.run([tide.TIDEMARK, "report", self.run_of.trace, *options],
                              capture_output=True, text=True, timeout=300, check=True,
                              env=env).stdout

    def table(self, trace, view):
        done = subprocess.run([tide.TIDEMARK, "report", trace, view, "--csv"],
                              capture_output=True, text=True, timeout=300, check=True)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_tables_are_those_of_json(self):
        """Every value of windows, timemory and pools; an empty one is unknown or nothing."""
        for program, view in (("timemory_windows", "windows"), ("told_loop", "timemory"),
                              ("pools", "pools")):
            trace = tide.Recorded([tide.program(program)]).trace
            wanted = []
            for row in tide.report(trace, f"--{view}")[view]:
                wanted += [row] + [dict(part, pool=row["pool"])
                                   for part in row.pop("parts", [])]
            rows = self.table(trace, f"--{view}")
            self.assertEqual(len(rows), len(wanted))
            self.assertGreater(len(rows), 0)
            for row, truth in zip(rows, wanted):
                self.assertEqual([key for key in truth if key not in row
                                  and key not in ("metric", "self_percent", "held")], [])
                for key, value in row.items():
                    if isinstance(truth.get(key), (int, float)) and value:
                        self.assertAlmostEqual(float(value) / (truth[key] or 1),
                                               1 if truth[key] else 0, places=6)
                    elif key != "row":
                        self.assertEqual(value, truth.get(key) or "", key)

    def test_visits(self):
        rows = {row["region"]: row for row in self.run_of.report("--regions")["visits"]}
        self.assertEqual(list(rows), ["setup", "cycle", "cycle/work", "end"])
        before = rows["setup"]["entry_bytes"]  # what the start of a program takes
        setup, cycle, work, end = rows.values()
        self.assertEqual([row["visits"] for row in rows.values()], [1, 1, 10, 1])
        self.assertEqual((setup["exit_bytes"], setup["delta_bytes"], setup["peak_bytes"]),
                         (before + 1000, 1000, before + 1000))
        self.assertEqual((setup["calls"], setup["bytes"]), (1, 1000))
        self.assertEqual((cycle["entry_bytes"], cycle["exit_bytes"], cycle["delta_bytes"]),
                         (before + 1000, before + 1250, 250))
        live = peak = before + 1000
        for number in range(10):
            temporary, same, *rest = iteration_sizes(number)
            peak = max(peak, live + temporary, live + same)
            live += sum(rest)
        self.assertEqual(cycle["peak_bytes"], peak)
        self.assertEqual(work["peak_bytes"], peak)
        self.assertEqual(work["delta_bytes"], sum(100 * (i + 1) for i in range(10)))
        self.assertEqual((work["calls"], cycle["calls"], cycle["inclusive_calls"]),
                         (10, 15, 25))
        self.assertEqual(cycle["inclusive_bytes"], 5500 + 5000 + 250)
        self.assertEqual(end["delta_bytes"], -1000)

    def test_threads_in_a_region_at_the_same_time(self):
        """What each keeps counts once; what stands is of the whole heap."""
        run = tide.Recorded([tide.program("keeps_together")])
        rows = {row["region"]: row for row in run.report("--regions")["visits"]}
        whole, produce, drop = (rows[name] for name in
                                ("whole", "whole/produce", "whole/drop"))
        self.assertEqual((produce["visits"], produce["delta_bytes"]), (4, 10000))
        self.assertGreaterEqual(produce["peak_bytes"], produce["entry_bytes"] + 100000)
        self.assertEqual(drop["delta_bytes"], -5000)
        self.assertEqual(drop["exit_bytes"] - drop["entry_bytes"], -5000)
        # Of a phase it is what the process keeps.
        self.assertEqual(whole["delta_bytes"], whole["exit_bytes"] - whole["entry_bytes"])
        self.assertGreaterEqual(whole["delta_bytes"], 5000)
        growth = dict(query_rows(run.trace, "SELECT region, sum(growth) FROM regions "
                                            "GROUP BY region"))
        self.assertEqual({name: row["delta_bytes"] for name, row in rows.items()}, growth)
        done = subprocess.run([tide.TIDEMARK, "report", run.trace, "--regions", "--bytes"],
                              capture_output=True, text=True, timeout=300, check=True)
        self.assertIn("delta is what visiting threads kept", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^ +4 .* \+10,000 B .* produce$")

    def test_visits_are_of_no_metric_and_come_once(self):
        text = self.text("--regions", "--peak", "--leaks")
        self.assertEqual((text.count("At the peak"), text.count("Visits")), (1, 1))

    def test_no_more_visits_than_asked_for(self):
        visits = self.text("--regions", "-n", "2").split("Visits")[1]
        self.assertIn("2 more regions", visits)
        self.assertIn("setup", visits)
        self.assertIn("cycle (loop)", visits)
        self.assertNotIn("work", visits)
        everything = self.text("--regions", "-n", "0").split("Visits")[1]
        self.assertNotIn("more region", everything)
        self.assertIn("work", everything)

    def test_iterations(self):
        [loop] = [row for row in self.run_of.report("--regions")["visits"]
                  if row["kind"] == "loop"]
        sums = [sum(iteration_sizes(i)) for i in range(10)]
        calls = [len(iteration_sizes(i)) for i in range(10)]
        self.assertEqual(loop["iterations"], 10)
        self.assertEqual(loop["iterations_kept_bytes"], 250)
        for key, values in (("iteration_bytes", sums), ("iteration_calls", calls)):
            spread = loop[key]
            self.assertEqual((spread["sum"], spread["least"], spread["most"]),
                             (sum(values), min(values), max(values)))
            self.assertAlmostEqual(spread["mean"], statistics.mean(values))
            self.assertAlmostEqual(spread["stddev"], statistics.stdev(values), places=5)
        words = " ".join(self.text("--regions", "--bytes").split())
        self.assertIn("10 iterations of 1,075 B ± 308 B (600 B to 1,550 B) in 2.5 calls "
                      "± 0.5; together they kept +250 B", words)

    def test_labels_by_size(self):
        rows = self.run_of.report("--labels", "--total")["label_sizes"]
        expected = [("same", 500, 10, 0), ("kept", 50, 5, 0), ("first", 5000, 1, 1)]
        expected += [("tmp", 100 * (i + 1), 1, 0) for i in range(9, -1, -1)]
        self.assertEqual([(row["label"], row["size"], row["blocks"], row["realloc_blocks"])
                          for row in rows], expected)
        self.assertEqual((rows[0]["element_bytes"], rows[0]["extents"]), (4, [5, 25]))
        self.assertEqual((rows[1]["element_bytes"], rows[1]["extents"]), (None, None))
        self.assertRegex(self.text("--labels"),
                         r"\n +10 +0 +500 B  same  \[5\]\[25\] of 4 B\n")

    def test_windows(self):
        [window] = self.run_of.report("--windows")["windows"]
        sizes = [size for i in range(10) for size in iteration_sizes(i)]
        self.assertEqual(window["window"], "loop")
        self.assertEqual((window["alloc_calls"], window["free_calls"]), (25, 20))
        self.assertEqual(window["requested_bytes"], sum(sizes))
        self.assertEqual((window["smallest_bytes"], window["largest_bytes"]), (50, 1000))
        self.assertAlmostEqual(window["stddev_bytes"], statistics.stdev(sizes), places=5)
        self.assertRegex(self.text("--windows"), r"25 +20 +10.5 KiB .*  loop\n")

    def test_timemorys_table(self):
        rows = {(row["region"], row["label"]): row
                for row in self.run_of.report("--timemory")["timemory"]}
        made = rows["cycle/work", "malloc"]
        sizes = [100 * (i + 1) for i in range(10)]
        self.assertEqual((made["count"], made["depth"], made["sum_bytes"],
                          made["min_bytes"], made["max_bytes"]), (10, 2, 5500, 100, 1000))
        self.assertAlmostEqual(made["stddev_bytes"], statistics.stdev(sizes), places=5)
        freed = rows["cycle", "free"]
        self.assertEqual((freed["count"], freed["sum_bytes"]), (20, 10500))
        self.assertEqual(rows["cycle", "calloc"]["sum_bytes"], 5000)
        self.assertEqual(rows["end", "free"]["sum_bytes"], 6000)
        self.assertEqual(rows["end", "realloc"]["max_bytes"], 5000)
        table = [line for line in self.text("--timemory", columns="160").splitlines()
                 if line.startswith("|")]
        self.assertEqual(len({len(line) for line in table}), 1)
        words = [word.strip() for word in table[3].strip("|").split("|")]
        self.assertEqual(words, ["LABEL", "COUNT", "DEPTH", "METRIC", "UNITS", "SUM", "MEAN",
                                 "MIN", "MAX", "STDDEV", "% SELF"])
        [line] = [line for line in table if re.match(r"\| >>> \|_\|_malloc ", line)]
        self.assertEqual([word.strip() for word in line.split("|")[-9:-1]],
                         ["malloc_gotcha", "KB", "5.500", "0.550", "0.100", "1.000",
                          "0.303", "100.0"])

    def test_loops_are_slices_of_chromes_timeline(self):
        done = subprocess.run([tide.TIDEMARK, "export", "--to", "chrome", "-o", "-",
                               self.run_of.trace], capture_output=True, text=True,
                              timeout=300, check=True)
        slices = [event for event in json.loads(done.stdout)["traceEvents"]
                  if event["ph"] in "BE"]
        begun = [event["name"] for event in slices if event["ph"] == "B"]
        self.assertEqual(begun, ["setup", "cycle"] + 10 * ["work"] + ["end"])
        self.assertEqual(sum(event["ph"] == "E" for event in slices), len(begun))

    def test_no_line_is_too_long(self):
        for columns in ("80", "120"):
            for view in ("--regions", "--labels", "--windows"):
                for line in self.text(view, columns=columns).splitlines():
                    self.assertLessEqual(len(line), int(columns))


class Pools(tide.Case):
    def test_blocks_of_pools_lie_in_blocks_of_the_heap(self):
        run = tide.Recorded([tide.program("pools")])
        report = run.report("--pools")
        self.whole(report)
        nodes, handed = report["pools"]
        parts = nodes.pop("parts")
        self.assertEqual(nodes, {
            "pool": "nodes", "calls": 103, "bytes": 5570, "free_calls": 40,
            "live_blocks": 63, "live_bytes": 3570, "peak_bytes": 5000,
            "unmatched_frees": 0})
        self.assertEqual(
            [(row["label"], row["calls"], row["live_bytes"], row["held"],
              row["holder_label"], row["holder_bytes"]) for row in parts],
            [("node", 100, 3000, True, "arena", 10000),
             ("wide", 1, 60, True, "arena", 10000),
             (None, 1, 500, False, None, 0),
             ("late", 1, 10, False, None, 0)])
        [part] = handed["parts"]
        self.assertEqual((handed["calls"], handed["free_calls"], handed["live_bytes"],
                          handed["peak_bytes"], handed["unmatched_frees"]),
                         (2000, 2001, 0, 1000, 1))
        self.assertEqual((part["holder_function"], part["holder_label"]),
                         ("make_nameless", None))
        # Layers are not added: the heap is what it is without them.
        made = run.report("--total", "--function", "main|make_nameless")
        self.assertEqual(run.sites("--total")["make_nameless"]["bytes"], 5000)
        self.assertEqual(made["summary"]["alloc_calls"], report["summary"]["alloc_calls"])

    def test_no_pools_are_said(self):
        run = tide.Recorded([tide.program("told_loop")])
        self.assertEqual(run.report("--pools")["pools"], [])
        done = subprocess.run([tide.TIDEMARK, "report", run.trace, "--pools"],
                              capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("Pools  none: see tide_pool_alloc()", done.stdout)


if __name__ == "__main__":
    tide.main()
