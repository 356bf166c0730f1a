#!/usr/bin/python3
"""tests/e2e/test_python_reader.py - the Python package: its reader, and `python3 -m tidemark`.

The reader's totals are those of report --json.
"""
import ast
import os
import subprocess
import sys
import tempfile
import unittest

import tide
from python_scripts import ENVIRONMENT, PACKAGE, run, tidemark

try:
    import pandas
except ImportError:
    pandas = None

VERBS = subprocess.run([tide.TIDEMARK, "--help"], capture_output=True, text=True,
                       check=True).stdout.split()


class Reader(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.recorded = tide.Recorded([tide.program("phases")])
        cls.trace = tidemark.open(cls.recorded.trace)

    def test_totals_are_those_of_the_report(self):
        report = self.recorded.report()
        self.assertEqual(self.trace.summary, report["summary"])
        self.assertEqual(list(self.trace.spaces.values()), report["spaces"])
        self.assertEqual(self.trace.findings, report["findings"])
        self.assertEqual(self.trace.honesty, report["honesty"])
        self.assertEqual(self.trace.info, tide.info(self.recorded.trace))

    def test_blocks_add_up_to_the_totals(self):
        summary = self.trace.summary
        heap = [block for block in self.trace.blocks() if block["space"] == "heap"]
        self.assertEqual(len(heap), summary["alloc_calls"])
        self.assertEqual(sum(block["size"] for block in heap), summary["allocated_bytes"])
        live = [block for block in self.trace.blocks(all=False)
                if block["space"] == "heap"]
        self.assertEqual(len(live), summary["live_blocks"])
        self.assertEqual(sum(block["size"] for block in live), summary["live_bytes"])

    def test_stacks_add_up_to_the_views(self):
        for view, key in (("peak", "peak_bytes"), ("total", "allocated_bytes"),
                          ("leaks", "live_bytes"), ("churn", "temporary_bytes")):
            rows = list(self.trace.stacks(view, no_suppressions=True))
            self.assertEqual(sum(row["bytes"] for row in rows), self.trace.summary[key])
            self.assertTrue(all(row["stack"] for row in rows))

    @unittest.skipUnless("query" in VERBS, "this tidemark has no query")
    def test_queries_answer_as_the_report(self):
        rows = self.trace.query("SELECT label, count() AS calls, sum(size) AS bytes"
                                " FROM blocks WHERE space = heap GROUP BY label")
        self.assertEqual(
            {row["label"]: (row["calls"], row["bytes"]) for row in rows},
            {row["label"]: (row["calls"], row["bytes"])
             for row in self.trace.rows("total", "labels")})
        with self.assertRaises(tidemark.TidemarkError):
            self.trace.query("SELEKT")  # at once, not when it is iterated

    def test_filters_are_those_of_the_report(self):
        ours = list(self.trace.rows("total", "flat", region="main/solve", size="100..300",
                                    no_fold=True, between=(0, 1000)))
        theirs = self.recorded.report("--total", "--flat", "--region", "main/solve",
                                      "--size", "100..300", "--no-fold",
                                      "--between", "0", "1000")
        self.assertEqual(ours, theirs["rows"])
        self.assertTrue(ours)

    def test_a_table_can_be_read_again_and_left_early(self):
        blocks = self.trace.blocks()
        first = next(iter(blocks))
        for block in blocks:
            self.assertEqual(block, first)
            break
        self.assertEqual(len(list(blocks)), len(list(blocks)))
        rows = self.trace.rows("total", "labels")
        before = list(rows)
        before[0]["calls"] = "changed"
        self.assertNotIn("changed", [row["calls"] for row in rows])

    def test_what_cannot_be_read_is_said(self):
        for path, words in (("/nowhere/x.tide", "no such file"), (__file__, "not a trace")):
            with self.assertRaisesRegex(tidemark.TidemarkError, words):
                tidemark.open(path)
        with self.assertRaisesRegex(tidemark.TidemarkError, "nonsense"):
            self.trace.report(nonsense=True)
        with self.assertRaisesRegex(tidemark.TidemarkError, "flatt"):
            self.trace.rows("total", "flatt")

    def test_recording_from_python(self):
        path = os.path.join(self.recorded.folder, "again.tide")
        trace = tidemark.record([tide.program("marks")], path)
        self.assertEqual(trace.info["kinds"]["event"], 5)
        self.assertEqual(trace.summary, tide.report(path)["summary"])
        with self.assertRaises(FileExistsError):
            tidemark.record(["true"], path)

    @unittest.skipUnless(pandas, "needs python3-pandas")
    def test_frames_hold_what_tables_hold(self):
        frame = self.trace.blocks().frame()
        heap = frame[frame["space"] == "heap"]
        self.assertEqual(heap["size"].sum(), self.trace.summary["allocated_bytes"])
        labels = self.trace.rows("total", "labels").frame().set_index("label")
        self.assertEqual(labels.loc["row", "calls"], 100)


class Module(tide.Case):
    def test_run_puts_python_before_scripts_and_modules(self):
        from tidemark.__main__ import command_line
        python = sys.executable
        for words, expected in (
                (["run", "a.py", "b.py"], ["run", "--", python, "a.py", "b.py"]),
                (["run", "-o", "x", "-m", "json.tool", "-q"],
                 ["run", "-o", "x", "--", python, "-m", "json.tool", "-q"]),
                (["run", "--", "./prog", "a.py"], ["run", "--", "./prog", "a.py"]),
                (["run", "./prog"], ["run", "./prog"]),
                (["report", "a.py"], ["report", "a.py"]),
                ([], [])):
            self.assertEqual(command_line(words), expected)

    def test_other_verbs_and_exit_statuses_pass(self):
        self.assertIn("tidemark 0", run("-m", "tidemark", "--version").stdout)
        folder = tempfile.mkdtemp(prefix="tide-python-")
        path = os.path.join(folder, "ends.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("raise SystemExit(7)\n")
        run("-m", "tidemark", "run", "-q", "-o", os.path.join(folder, "x"), path, status=7)

    def test_a_missing_program_is_said(self):
        done = subprocess.run(
            [sys.executable, "-m", "tidemark", "report"], capture_output=True, text=True,
            env=dict(ENVIRONMENT, TIDEMARK="/nowhere/tidemark"), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/tidemark", done.stderr + done.stdout)
        self.assertNotIn("Traceback", done.stderr)

    def test_all_files_are_for_old_pythons_too(self):
        for folder, _, files in os.walk(os.path.join(PACKAGE, "tidemark")):
            for name in files:
                if name.endswith(".py"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        ast.parse(file.read(), feature_version=(3, 9))


if __name__ == "__main__":
    tide.main()
