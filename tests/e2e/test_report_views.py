"""tests/e2e/test_report_views.py - the views and filters of `report`, on one recorded run.

The program says itself what it made in which region, under which label, in which thread.
"""
import csv
import io
import json
import os
import subprocess
import unittest

import tide

NASTY = 'bad\x1b[2J,"name"'
SAFE = 'bad\\x1b[2J,"name"'


class Views(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.run_of = tide.Recorded([tide.program("phases")])
        cls.own = cls.run_of.own_count()

    def report(self, *options):
        result = self.run_of.report(*options)
        self.whole(result)
        return result

    def text(self, *options):
        return subprocess.run([tide.TIDEMARK, "report", self.run_of.trace, *options],
                              capture_output=True, text=True, timeout=300, check=True).stdout

    def rows(self, key, *options):
        return {row[key]: row for row in self.report(*options)["rows"]}

    def test_regions(self):
        rows = self.rows("region", "--regions", "--leaks")
        self.assertEqual(rows["main/solve"]["bytes"], self.own["main/solve"])
        self.assertEqual(rows["main"]["bytes"], self.own["main"])
        self.assertEqual(rows["main"]["inclusive_bytes"],
                         self.own["main"] + self.own["main/solve"] + self.own["nasty"])
        made = self.rows("region", "--regions", "--total")
        self.assertEqual(made["produce"]["bytes"], self.own["produce"])
        self.assertNotIn("produce", rows)
        self.assertEqual(self.report("--regions")["honesty"]["region_mismatches"], 1)
        self.assertIn("1 end of a region that was not open, or not the innermost",
                      " ".join(self.text().split()))

    def test_labels(self):
        rows = self.rows("label", "--labels", "--leaks")
        for label in ("row", "matrix"):
            self.assertEqual(rows[label]["bytes"], self.own[label])
        # They stood at the peak as well, though each got its name after it was made.
        peak = self.rows("label", "--labels", "--peak")
        self.assertEqual(peak["matrix"]["bytes"], self.own["matrix"])
        self.assertEqual(peak["row"]["blocks"], 100)

    def test_threads_and_who_freed_what(self):
        rows = self.rows("thread", "--threads", "--total")
        self.assertEqual(rows["maker"]["bytes"] - rows["maker"]["bytes"] % 1000,
                         self.own["produce"])
        text = self.text("--threads", "--bytes")
        self.assertRegex(text, rf"25,000 B in {self.own['handed']} blocks made by "
                               r"maker \(tid \d+\), freed\s+by phases")

    def test_filters_compose(self):
        solved = self.report("--leaks", "--region", "main/solve")
        self.assertEqual(solved["total_bytes"], self.own["main/solve"])
        self.assertTrue(solved["filtered"])
        self.assertEqual(solved["whole_bytes"], solved["summary"]["live_bytes"])
        large = self.report("--leaks", "--region", "main/solve", "--size", "1K..")
        self.assertEqual(large["total_bytes"], self.own["matrix"])
        rows = self.report("--leaks", "--label", "row|matrix", "--function", "keep",
                           "--file", "phases.c", "--process", "phases", "--size", "..200")
        self.assertEqual(rows["total_bytes"], self.own["row"])
        self.assertEqual(self.report("--leaks", "--thread", "maker")["total_bytes"], 0)
        self.assertEqual(self.report("--total", "--thread", "maker", "--region",
                                     "produce")["total_calls"], self.own["handed"])
        self.assertEqual(self.report("--churn", "--function", "churn")["total_calls"],
                         self.own["churn"])

    def test_moments(self):
        end = self.report()["duration_s"]
        late = self.report("--live-at", str(end))
        self.assertEqual(late["total_bytes"], late["summary"]["live_bytes"])
        self.assertEqual(self.report("--live-at", "0")["view"], "leaks")
        halves = [self.report("--between", str(a), str(b), "--total")["total_calls"]
                  for a, b in ((0, end / 2), (end / 2, end + 1))]
        self.assertEqual(sum(halves), self.report()["summary"]["alloc_calls"])

    def test_the_moment_is_named(self):
        trace = tide.record_once("marked", "a10x100", "s1", "b2x1000")

        def said(*words, status=0):
            done = subprocess.run([tide.TIDEMARK, "report", *words], timeout=120,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status)
            return done.stdout + done.stderr
        self.assertRegex(said(f"{trace}@m1"), r"^Live at m1 \(0\.\d+ s\)  1000 B in 10 ")
        self.assertRegex(said(f"{trace}@peak"), r"^Live at the peak \(0\.\d+ s\)  2.93 KiB")
        for words in (["--live-at", "5000", trace], [f"{trace}@5000s"]):
            self.assertRegex(said(*words, status=1),
                             r"^tidemark: .*: the run ended at [\d.]+ s, before 5000s$")
        self.assertRegex(said("--leaks", "--between", "0", "5000", trace),
                         r"^Live at the end .*; the run ended at [\d.]+ s, before 5,000 s")
        self.assertNotIn("ended", said("--leaks", trace))
        self.assertIn(f"--between needs two values, where it begins and where it ends; "
                      f"'{trace}' is none", said("--between", "0.1", trace, status=2))

    def test_what_is_of_the_whole_run_is_of_no_moment(self):
        """Neither --live-at nor TRACE@WHEN have it."""
        trace = tide.record_once("marked", "a10x100", "s1", "b2x1000")
        for words in (["--live-at", "0.001", trace], [f"{trace}@m1"], [f"{trace}@peak"]):
            for shape, status in (("--processes", 0), ("--regions", 0), ("--labels", 0),
                                  ("--pools", 2), ("--windows", 2), ("--timemory", 2)):
                done = subprocess.run([tide.TIDEMARK, "report", shape, *words], timeout=120,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, (shape, words))
                self.assertNotIn("by itself", done.stdout)
                if status:
                    self.assertIn("are of the whole run", done.stderr)

    def test_ages_and_lives(self):
        summary = self.report()["summary"]
        young = self.report("--leaks", "--age", "..1000")
        self.assertEqual(young["total_bytes"] + young["suppressed"]["bytes"],
                         summary["live_bytes"])
        self.assertEqual(self.report("--leaks", "--age", "1000..")["total_bytes"], 0)
        self.assertEqual(self.report("--total", "--lifetime", "..1000")["total_calls"],
                         summary["free_calls"])
        self.assertEqual(self.report("--total", "--lifetime", "1000..")["total_calls"],
                         summary["live_blocks"])

    def test_what_a_stack_did(self):
        rows = self.report("--total", "--stacks", "--function", "churn")["rows"]
        self.assertEqual([row["site"]["alloc_calls"] for row in rows], [self.own["churn"]])
        self.assertEqual(rows[0]["site"]["most_bytes"], 64)
        self.assertEqual(rows[0]["site"]["freed_calls"], self.own["churn"])
        made = self.report("--total", "--stacks", "--thread", "maker", "--region",
                           "produce")["rows"]
        self.assertEqual(made[0]["site"]["foreign_free_calls"], self.own["handed"])
        self.assertEqual(made[0]["site"]["foreign_free_bytes"], self.own["produce"])

    def test_lines_of_source(self):
        with open(os.path.join(tide.SOURCE, "tests", "programs", "phases.c"),
                  encoding="utf-8") as file:
            lines = file.read().split("\n")
        of_sources = ["--source-root", tide.SOURCE]     # root must say it
        for shape in ("--flat", "--stacks", "--lines"):
            rows = [row for row in self.report("--total", shape, "--source",
                                               *of_sources)["rows"]
                    if (row["file"] or "").endswith("/phases.c")]
            self.assertTrue(rows)
            for row in rows:
                first = row["source"]["first_line"]
                self.assertEqual(first, max(1, row["line"] - 2))
                self.assertEqual(row["source"]["lines"],
                                 lines[first - 1:row["line"] + 2])
                self.assertIsNone(row["source"]["problem"])
            text = self.text("--total", shape, "--source", *of_sources)
            number = rows[0]["line"]
            self.assertIn(f"> {number:4}  {lines[number - 1]}\n", text)
        self.assertNotIn("source", self.report("--total", "--flat")["rows"][0])
        for words in (["--tree"], ["--threads"], ["--flat", "--csv"]):
            done = subprocess.run([tide.TIDEMARK, "report", self.run_of.trace, "--source",
                                   *words], capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--source", done.stderr)

    def test_all_shapes_have_the_same_total(self):
        for view in ("--peak", "--leaks", "--total", "--churn"):
            totals = set()
            for shape in (["--tree"], ["--flat"], ["--stacks"], ["--bottom-up"],
                          ["--threads"], ["--processes"], ["--regions"], ["--labels"],
                          ["--modules"], ["--lines"], ["--no-fold"], ["--hide", "keep"]):
                result = self.report(view, *shape)
                totals.add((result["total_bytes"], result["total_calls"]))
                if "children" not in str(result["rows"][:1]):
                    self.assertEqual(sum(row["bytes"] for row in result["rows"]),
                                     result["total_bytes"], (view, shape))
            self.assertEqual(len(totals), 1, view)

    def test_histograms_are_of_all_blocks(self):
        summary = self.report()["summary"]
        sizes = self.report("--sizes")["rows"]
        self.assertEqual(sum(row["requested_calls"] for row in sizes),
                         summary["alloc_calls"])
        self.assertEqual(sum(row["requested_bytes"] for row in sizes),
                         summary["allocated_bytes"])
        self.assertEqual(sum(row["freed_calls"] for row in sizes), summary["free_calls"])
        lives = self.report("--lifetimes")["rows"]
        self.assertEqual(sum(row["calls"] for row in lives if "least_s" in row),
                         summary["free_calls"])

    def test_csv_is_what_json_is(self):
        for shape in ("--flat", "--threads", "--regions", "--labels", "--lines"):
            table = list(csv.DictReader(io.StringIO(
                self.text("--csv", "--total", shape))))
            rows = self.report("--total", shape)["rows"]
            self.assertEqual([int(line["bytes"]) for line in table],
                             [row["bytes"] for row in rows])
        regions = [line["region"] for line in csv.DictReader(io.StringIO(
            self.text("--csv", "--total", "--regions")))]
        self.assertIn("main/" + SAFE, regions)

    def test_names_do_nothing_to_a_terminal(self):
        for options in (["--regions"], ["--labels"], ["--csv", "--labels"], []):
            self.assertNotIn("\x1b", self.text(*options))
        self.assertIn("main/" + NASTY, self.rows("region", "--regions", "--leaks"))

    def test_callers_and_callees(self):
        text = self.text("--total", "--callers", "churn")
        self.assertRegex(text, r" churn  \w+\.c:\d+( and \d+ other lines?)? ← ")
        self.assertRegex(self.text("--total", "--bottom-up"),
                         r" churn  \w+\.c:\d+( and \d+ other lines?)? ← ")
        self.assertRegex(text, r"churn.*main")
        result = self.report("--total", "--sandwich", "keep")
        self.assertEqual(result["rows"][0]["function"], "keep")
        self.assertEqual(result["callees"][0]["function"], "keep")
        self.assertEqual(result["rows"][0]["bytes"], result["callees"][0]["bytes"])
        self.assertIn("No stack at the peak has such a function.",
                      self.text("--callers", "nobody_at_all"))

    def test_a_misspelt_function_is_told(self):
        def said(*options):
            return subprocess.run([tide.TIDEMARK, "report", *options, self.run_of.trace],
                                  capture_output=True, text=True, check=True).stderr
        for option in ("--function", "--callers", "--sandwich"):
            self.assertIn("'chrun'; did you mean churn?", said(option, "chrun"))
            self.assertIn("report --flat -n 0 lists all", said(option, "zzzzzz*"))
            self.assertEqual(said(option, "churn"), "")

    def test_callers_say_where_they_looked(self):
        calls = self.report("--total", "--callers", "churn")["rows"][0]["calls"]
        for shape in ("--callers", "--sandwich"):
            for metric, where in (("--peak", "at the peak"), ("--leaks", "of what is live")):
                text = " ".join(self.text(metric, shape, "churn").split())
                self.assertIn(f"No stack {where} has such a function; --total "
                              f"has it in {calls:,} calls.", text)


class NoStacks(tide.Case):
    """Of a trace without stacks no words that promise some."""

    @classmethod
    def setUpClass(cls):
        program = [tide.program("ground_truth")]
        cls.usual = tide.Recorded(program)
        cls.bare = [tide.Recorded(program, ["--no-stacks"]),
                    tide.Recorded([tide.program("ring"), "3000"], ["--unwind", "none"])]

    def words(self, verb, *argv):
        done = subprocess.run([tide.TIDEMARK, verb, *argv], capture_output=True, text=True,
                              timeout=300, check=True)
        return " ".join(done.stdout.split())

    def test_reports(self):
        said = "No stacks were recorded, as --no-stacks asks; every function has a name."
        for options in ([], ["--peak", "--tree"], ["--total", "--stacks", "-n", "2"],
                        ["--leaks", "-n", "2"], ["--churn"], ["--total", "--bottom-up"]):
            with self.subTest(options=options):
                text = self.words("report", self.bare[0].trace, *options)
                self.assertIn("; no stacks were recorded", text)
                text = self.words("report", "-v", self.bare[0].trace, *options)
                self.assertIn(said, text)
                self.assertNotRegex(text.replace(said, ""), "(?<!and )stack|call path|called from")
        self.assertIn("more places", self.words("report", self.bare[0].trace, "--total",
                                                "--stacks", "-n", "2"))
        text = self.words("report", self.usual.trace, "--peak", "--tree")
        self.assertIn("blocks call path ", text)
        self.assertNotIn("No stacks were recorded", text)

    def test_differences(self):
        bare = [run.trace for run in self.bare]
        for options in (["--tree"], ["--stacks", "-n", "1"]):
            with self.subTest(options=options):
                text = self.words("diff", *options, *bare)
                self.assertNotRegex(text.replace("--no-stacks", ""), "(?<!and )stack|call path")
                self.assertIn("allocated in", text)
        self.assertIn("no place differs", self.words("diff", bare[0], bare[0]))
        self.assertIn("call path", self.words("diff", "--tree", self.usual.trace, bare[1]))


class Deep(tide.Case):
    """Readers of JSON go only so deep: jq 1.6 takes 256 brackets and keys."""

    @staticmethod
    def nesting(value):
        """How deep VALUE is, as jq counts it."""
        deepest, left = 0, [(value, 1)]
        while left:
            value, depth = left.pop()
            deepest = max(deepest, depth)
            if isinstance(value, dict):
                left += [(each, depth + 2) for each in value.values()]
            elif isinstance(value, list):
                left += [(each, depth + 1) for each in value]
        return deepest

    def chain(self, found, rows):
        """The functions from the root on, where each calls one other."""
        names = []
        while rows:
            row, = rows
            names.append(row["function"])
            self.assertFalse("deeper" in row and row["children"])
            rows = found["deeper"][row["deeper"]] if "deeper" in row else row["children"]
        return names

    def test_trees_are_whole_and_not_too_deep(self):
        for depth, parts in ((80, 0), (81, 1), (400, 4)):
            run = tide.Recorded([tide.program("deep"), str(depth - 2)], ["--depth", "1000"])
            for shape in ("--tree", "--bottom-up"):
                found = run.report("--total", shape)
                self.assertEqual(len(found.get("deeper", [])), parts)
                names = self.chain(found, found["rows"])
                self.assertEqual(names.count("descend"), depth - 1)
                self.assertEqual(names.count("main"), 1)
                self.assertLess(self.nesting(found), 256)
            found = run.report("--total", "--sandwich", "descend")
            self.assertEqual(self.chain(found, found["callees"]), ["descend"])
            self.assertEqual(len(self.chain(found, found["rows"])), depth)

    def test_so_are_those_of_differences(self):
        one, other = [tide.Recorded([tide.program("deep"), "400", times],
                                    ["--depth", "1000"]).trace for times in ("1", "3")]
        done = subprocess.run([tide.TIDEMARK, "diff", "--json", "--tree", "--total", one,
                               other], capture_output=True, text=True, timeout=120,
                              check=True)
        found = json.loads(done.stdout)
        self.assertEqual(self.chain(found, found["rows"]),
                         ["main"] + ["descend"] * 401)
        self.assertLess(self.nesting(found), 256)


if __name__ == "__main__":
    unittest.main()
