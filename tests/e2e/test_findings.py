"""tests/e2e/test_findings.py - planted problems are found, each by its name, and no others.

The planted programs say themselves what is wrong with them, where, and how much it is.
"""
import csv
import io
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import tide

SOURCES = pathlib.Path(tide.SOURCE) / "tests" / "programs"
PLANTED = sorted(path.stem for path in SOURCES.glob("planted_*.c*"))
CLEAN = sorted(path.stem for path in SOURCES.glob("clean_*.c*"))


def text_of(*words):
    done = subprocess.run([tide.TIDEMARK, *words], capture_output=True, text=True,
                          timeout=120, check=False,
                          env=dict(os.environ, COLUMNS="80", LC_ALL="C.UTF-8"))
    return done.returncode, done.stdout, done.stderr


class Findings(tide.Case):
    """Programs with one problem, and without any."""

    def record(self, name, folder):
        ran = tide.Recorded([tide.program(name)], folder=folder)
        self.assertEqual(ran.status, 0, ran.done.stderr)
        return ran

    def findings_of(self, name, folder):
        ran = self.record(name, folder)
        result = ran.report()
        self.whole(result)
        return ran, result["findings"]

    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(len(PLANTED), 8)
        self.assertGreaterEqual(len(CLEAN), 3)

    def test_a_planted_problem_is_found_and_nothing_else(self):
        for name in PLANTED:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                ran, findings = self.findings_of(name, folder)
                truth = ran.own_count()
                self.assertEqual([finding["kind"] for finding in findings],
                                 [truth["kind"]], findings)
                self.check(findings[0], truth)

    def check(self, finding, truth):
        self.assertTrue(finding["function"].endswith(truth["function"]), finding)
        self.assertIn(truth["function"] + " (planted_", finding["text"])
        self.assertEqual(finding["calls"], truth["calls"])
        self.assertEqual(finding["bytes"], truth["bytes"])
        self.assertGreater(finding["gain_bytes"] + finding["gain_calls"], 0)
        self.assertGreater(finding["share"], 0)
        self.assertLessEqual(finding["first_s"], finding["last_s"])
        self.assertEqual(finding["stack"][-1]["function"],
                         "work" if truth["kind"] == "leak_per_thread" else "main")

    def test_clean_programs_have_none(self):
        for name in CLEAN:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(self.findings_of(name, folder)[1], [])

    def test_what_grew_until_the_program_was_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = tide.Recorded([tide.program("grows_until_killed")], folder=folder)
            finding, = ran.report()["findings"]
            truth = ran.own_count()
        self.assertEqual({key: finding[key] for key in truth}, truth)
        self.assertRegex(finding["text"], r"stood when the program was killed, made from .*\. "
                                          r"They grow with the run, by \d\S* [KM]iB a second\. ")

    def test_children_that_keep_a_little_are_no_growing_leak(self):
        """What 32 of them leave, one after the other, never was there at once."""
        with tempfile.TemporaryDirectory() as folder:
            ran, findings = self.findings_of("children_keep", folder)
            peak = ran.report()["summary"]["peak_bytes"]
            self.assertNotIn("leak_growing", [each["kind"] for each in findings])
            for finding in findings:
                self.assertLessEqual(finding["gain_bytes"], peak, finding["text"])
                self.assertLessEqual(finding["share"], 1, finding["text"])

    def test_a_leak_saves_at_the_peak_what_stood_there(self):
        with tempfile.TemporaryDirectory() as folder:
            ran, findings = self.findings_of("leaks_around_peak", folder)
            truth = ran.own_count()
        found = {each["function"]: each for each in findings
                 if each["kind"].startswith("leak")}
        before, after = found["keep_two_sizes"], found["make_later"]
        self.assertEqual((before["bytes"], before["gain_bytes"]), (truth["before"],) * 2)
        self.assertAlmostEqual(before["share"], truth["before"] / truth["peak"], places=6)
        self.assertEqual((after["bytes"], after["gain_bytes"], after["share"]),
                         (truth["after"], 0, 0))
        self.assertTrue(after["text"].endswith(
            "Freeing them saves 7.2 MiB at the end, nothing at the peak."), after["text"])
        line = self.line_of("leaks_around_peak", "malloc(LARGE)")
        self.assertIn(f"(leaks_around_peak.c:{line}; 1 other line has ", before["text"])
        self.assertEqual(before["stack"][0]["line"], line)

    @staticmethod
    def line_of(name, words):
        lines = (SOURCES / f"{name}.c").read_text(encoding="utf-8").splitlines()
        return next(i for i, line in enumerate(lines, 1) if words in line)

    def test_a_nameless_layer_over_malloc_leaks_nothing(self):
        """What it frees for one caller says nothing of what another keeps."""
        with tempfile.TemporaryDirectory() as folder:
            stripped = os.path.join(folder, "stripped")
            subprocess.run(["strip", "-o", stripped, tide.program("clean_layer")],
                           check=True)
            ran = tide.Recorded([stripped], folder=folder)
            result = ran.report("--leaks", "--flat")
            self.assertTrue(result["rows"][0]["function"].startswith("stripped+0x"))
            self.assertEqual(result["findings"], [])

    def test_the_report_ends_with_them(self):
        with tempfile.TemporaryDirectory() as folder:
            text = text_of("report", self.record("planted_churn", folder).trace)[1]
        self.assertIn("Findings\n", text)
        words = " ".join(text.split("Findings\n", 1)[1].split())
        self.assertIn("checksum (planted_churn.c:11) makes 600,000 temporary blocks", words)


class Leaks(tide.Case):
    """What --leaks says of each stack, and what is left out of it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tide-leaks-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.ran = {}
        for name in ("planted_leak_growing", "planted_leak_once",
                     "planted_leak_per_thread", "clean_parser"):
            folder = os.path.join(cls.folder.name, name)
            os.mkdir(folder)
            cls.ran[name] = tide.Recorded([tide.program(name)], folder=folder)

    def leak(self, name, function):
        rows = self.ran[name].report("--leaks")["rows"]
        found = [row for row in rows if row["function"] == function]
        self.assertEqual(len(found), 1, rows)
        return found[0]

    def test_growing(self):
        row = self.leak("planted_leak_growing", "make_answer")
        truth = self.ran["planted_leak_growing"].own_count()
        self.assertEqual((row["bytes"], row["blocks"]), (truth["bytes"], truth["calls"]))
        leak = row["leak"]
        self.assertEqual(leak["evidence"], "growing")
        self.assertEqual((leak["threads"], leak["processes"]), (1, 1))
        self.assertGreaterEqual(leak["first_s"], row["site"]["first_s"])
        self.assertLessEqual(leak["last_s"], row["site"]["last_s"])
        self.assertEqual(leak["bytes_per_second"], 0, "a rate of less than a second is noise")

    def test_once(self):
        leak = self.leak("planted_leak_once", "make_table")["leak"]
        self.assertEqual(leak["evidence"], "once")
        self.assertEqual(leak["first_s"], leak["last_s"])
        self.assertEqual(leak["bytes_per_second"], 0)

    def test_per_thread(self):
        leak = self.leak("planted_leak_per_thread", "thread_buffer")["leak"]
        self.assertEqual((leak["evidence"], leak["threads"]), ("per_thread", 8))

    def test_words(self):
        for name, words in (("planted_leak_growing", "grows with the run, allocated from |grew until"),
                            ("planted_leak_once", "once, allocated at "),
                            ("planted_leak_per_thread", "per thread, in 8 threads, ")):
            text = text_of("report", "--leaks", self.ran[name].trace)[1]
            self.assertRegex(text, words)

    def test_what_grew_and_stopped(self):
        trace = tide.record_once("stopped", "a200x50", "z2000")
        leak = tide.report(trace, "--leaks")["rows"][0]["leak"]
        self.assertEqual((leak["evidence"], leak["ended"]), ("growing", True))
        text = text_of("report", "--leaks", trace)[1]
        self.assertRegex(text, r"grew until 0\.\d+ s(, from 0\.\d+ s on)?\n")
        self.assertNotIn("grows", text)

    def test_what_libraries_keep_is_left_out_and_said(self):
        ran = self.ran["clean_parser"]
        hushed = ran.report("--leaks")
        shown = ran.report("--leaks", "--no-suppressions")
        self.assertEqual(hushed["rows"], [])
        self.assertEqual(hushed["total_bytes"], 0)
        self.assertGreater(hushed["suppressed"]["bytes"], 0)
        self.assertEqual(hushed["suppressed"]["bytes"], hushed["summary"]["live_bytes"])
        self.assertEqual(shown["total_bytes"], shown["summary"]["live_bytes"])
        self.assertEqual(shown["suppressed"], {"bytes": 0, "blocks": 0, "rules": []})
        text = text_of("report", "--leaks", ran.trace)[1]
        self.assertIn("nothing but what is suppressed", text)
        self.assertEqual(text.count("Suppressed: "), 1)

    def test_what_is_suppressed_is_of_the_heap_only(self):
        trace = self.ran["clean_parser"].trace
        mapped = tide.report(trace, "--leaks", "--space", "mmap")
        self.assertEqual(mapped["suppressed"], {"bytes": 0, "blocks": 0, "rules": []})
        for words in (("report",), ("report", "--leaks"), ("diff", "--leaks", trace)):
            self.assertNotIn("uppressed", text_of(*words, "--space", "mmap", trace)[1])

    def test_a_file_of_suppressions(self):
        path = os.path.join(self.folder.name, "known.txt")
        pathlib.Path(path).write_text("# known\nleak:^make_ans*r$\nleak:nobody\n",
                                      encoding="utf-8")
        ran = self.ran["planted_leak_growing"]
        result = ran.report("--leaks", "--suppressions", path)
        truth = ran.own_count()
        self.assertEqual(result["rows"], [])
        self.assertEqual(result["findings"], [])
        self.assertEqual(result["suppressed"]["rules"][:2], [
            {"bytes": truth["bytes"], "blocks": truth["calls"],
             "pattern": "^make_ans*r$", "built_in": False},
            {"bytes": 0, "blocks": 0, "pattern": "nobody", "built_in": False}])
        self.assertEqual(result["summary"]["live_bytes"], truth["bytes"])

    def test_of_a_part_nothing_is_found(self):
        ran = self.ran["planted_leak_growing"]
        found = ran.report()["findings"]
        self.assertEqual([each["kind"] for each in found], ["leak_growing"])
        for whole in (["--leaks"], ["--total", "--flat"], ["--threads"]):
            self.assertEqual(ran.report(*whole)["findings"], found)
        for part in (["--between", "0.001", "0.002"], ["--live-at", "0.001"],
                     ["--size", "1.."], ["--age", "0.001.."], ["--lifetime", "..100"],
                     ["--function", "make_answer"], ["--thread", "*"],
                     ["--time", "events", "--live-at", "100"], ["--space", "mmap"]):
            with self.subTest(part=part):
                self.assertEqual(ran.report(*part)["findings"], [])
                text = text_of("report", *part, ran.trace)[1]
                self.assertNotIn("Findings", text)

    def test_check_honours_them(self):
        path = os.path.join(self.folder.name, "check.txt")
        pathlib.Path(path).write_text("leak:make_answer\n", encoding="utf-8")
        config = os.path.join(self.folder.name, "limits.conf")
        pathlib.Path(config).write_text("max-leak = 0\nsuppressions = check.txt\n",
                                        encoding="utf-8")
        trace = self.ran["planted_leak_growing"].trace
        parser = self.ran["clean_parser"].trace
        limit = ["check", "--max-leak", "0"]
        self.assertEqual(text_of(*limit, trace)[0], 1)
        status, out, _ = text_of(*limit, "--suppressions", path, trace)
        self.assertEqual(status, 0)
        self.assertIn("470 KiB more suppressed", out)
        self.assertEqual(text_of("check", "--config", config, trace)[0], 0)
        self.assertEqual(text_of(*limit, parser)[0], 0)
        self.assertEqual(text_of(*limit, "--no-suppressions", parser)[0], 1)

    def test_bad_files_are_refused(self):
        path = os.path.join(self.folder.name, "bad.txt")
        pathlib.Path(path).write_text("leak:a\nrace:b\n", encoding="utf-8")
        trace = self.ran["clean_parser"].trace
        for verb in (["report", "--leaks"], ["check", "--max-leak", "0"]):
            for file, words in ((path, f"{path}:2: not a suppression"),
                                (path + ".none", "No such file"),
                                (self.folder.name, "Is a directory")):
                status, out, problem = text_of(*verb, "--suppressions", file, trace)
                self.assertEqual((status, out), (1, ""))
                self.assertIn(words, " ".join(problem.split()))
                self.assertEqual(problem.count("tidemark: "), 1)


class Flow(tide.Case):
    """Which thread freed whose blocks."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tide-flow-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.ran = tide.Recorded([tide.program("planted_foreign_free")],
                                folder=cls.folder.name)
        cls.truth = cls.ran.own_count()

    def test_json(self):
        result = self.ran.report("--flow")
        self.assertEqual(result["shape"], "flow")
        self.assertEqual((result["total_bytes"], result["total_calls"]),
                         (self.truth["bytes"], self.truth["calls"]))
        self.assertEqual(len(result["rows"]), 1)
        row = result["rows"][0]
        self.assertEqual((row["bytes"], row["blocks"]),
                         (self.truth["bytes"], self.truth["calls"]))
        self.assertEqual(row["made_by"]["tid"], row["made_by"]["pid"])
        self.assertEqual(row["freed_by"]["pid"], row["made_by"]["pid"])
        self.assertNotEqual(row["freed_by"]["tid"], row["made_by"]["tid"])

    def test_threads_have_them_too(self):
        rows = self.ran.report("--flow")["rows"]
        self.assertEqual(self.ran.report("--threads")["flows"], rows)
        self.assertEqual(self.ran.report("--threads", "--total", "--thread",
                                         "nobody")["flows"], None)

    def test_csv(self):
        status, out, _ = text_of("report", "--flow", "--csv", self.ran.trace)
        self.assertEqual(status, 0)
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(len(rows), 1)
        self.assertEqual((int(rows[0]["bytes"]), int(rows[0]["blocks"])),
                         (self.truth["bytes"], self.truth["calls"]))
        self.assertEqual(rows[0]["maker_tid"], rows[0]["maker_pid"])

    def test_text(self):
        out = text_of("report", "--flow", self.ran.trace)[1]
        self.assertIn("Freed by another thread  28.5 MiB in 200,000 blocks", out)
        self.assertIn("make_message", out)
        self.assertIn("The trace does not say where blocks were freed: tidemark run "
                      "--free-stacks records that.", " ".join(out.split()))
        self.assertIsNone(self.ran.report("--flow")["sites"])
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_nothing_to_show(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = tide.Recorded([tide.program("planted_leak_once")], folder=folder)
            self.assertEqual(ran.report("--flow")["rows"], [])
            out = text_of("report", "--flow", ran.trace)[1]
            self.assertIn("nothing: each thread freed only its own blocks", out)

    def test_it_takes_no_filter(self):
        status, _, problem = text_of("report", "--flow", "--thread", "1", self.ran.trace)
        self.assertEqual(status, 2)
        self.assertIn("takes no filter", problem)


class Passages(tide.Case):
    """Where blocks are made and where they are freed, as the program counts them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tide-ends-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.ran = tide.Recorded([tide.program("two_ends")], options=["--free-stacks"],
                                folder=cls.folder.name)
        cls.truth = cls.ran.own_count()

    @staticmethod
    def add(found, made, freed, blocks, size):
        pair = found.setdefault(f"{made} {freed}", [0, 0])
        pair[0] += blocks
        pair[1] += size

    def test_json(self):
        result, found = self.ran.report("--flow"), {}
        self.whole(result)
        for row in result["sites"]:
            self.add(found, row["made_in"][0]["function"], row["freed_in"][0]["function"],
                     row["blocks"], row["bytes"])
            self.assertGreaterEqual(row["mean_life_s"], 0)
        self.assertEqual(found, self.truth)
        self.assertAlmostEqual(sum(row["share"] for row in result["sites"]), 1, places=6)
        # Every free is in a pair, but for what realloc moved.
        self.assertEqual(sum(row["blocks"] for row in result["sites"]),
                         result["summary"]["free_calls"] - self.moves(result))

    @staticmethod
    def moves(result):
        """realloc_calls counts realloc(p, 0) too, of which the program makes one."""
        return result["summary"]["realloc_calls"] - 1

    def test_addresses_are_whole_or_left_out(self):
        copy = os.path.join(self.folder.name, "bare")
        subprocess.run(["strip", "-o", copy, tide.program("two_ends")], check=True,
                       timeout=60)
        trace = tide.Recorded([copy], options=["--free-stacks"]).trace
        whole = 0
        for columns in range(60, 100, 3):
            done = subprocess.run([tide.TIDEMARK, "report", "--flow", trace], text=True,
                                  env={**os.environ, "COLUMNS": str(columns),
                                       "LC_ALL": "C.UTF-8"},
                                  capture_output=True, timeout=60, check=True)
            self.assertNotRegex(done.stdout, "← [^\n]*\\w…[0-9a-f]")
            whole += len(re.findall(r"← bare\+0x[0-9a-f]{4}\b", done.stdout))
        self.assertGreater(whole, 0)

    def test_callers_are_told_apart(self):
        by_thread, = [row for row in self.ran.report("--flow")["sites"]
                      if row["freed_in"][-1]["function"] == "take_in_thread"]
        self.assertEqual([by_thread["blocks"], by_thread["bytes"]],
                         self.truth["make_b take_y"])

    def test_csv(self):
        status, out, _ = text_of("report", "--flow", "--csv", self.ran.trace)
        self.assertEqual(status, 0)
        found, threads = {}, 0
        for row in csv.DictReader(io.StringIO(out)):
            if row["maker_tid"]:
                threads += int(row["blocks"])
                continue
            self.add(found, row["made_stack"].split(";")[0], row["freed_function"],
                     int(row["blocks"]), int(row["bytes"]))
        self.assertEqual(found, self.truth)
        self.assertEqual(threads, self.truth["make_b take_y"][0])

    def test_text(self):
        out = text_of("report", "--flow", self.ran.trace)[1]
        self.assertIn(f"{sum(pair[0] for pair in self.truth.values())} blocks, ", out)
        self.assertRegex(out, r"(?m) 30 +\S+ s  make_a  two_ends\.c:\d+ .*main$\n"
                         r" +. take_x  two_ends\.c:\d+")
        self.assertLessEqual(max(map(len, out.splitlines())), 100)

    def test_up_to_a_moment(self):
        self.assertEqual(self.ran.report("--flow", "--live-at", "0")["sites"], [])
        whole = self.ran.report("--flow", "--between", "0", "1000")["sites"]
        self.assertEqual(sum(row["blocks"] for row in whole),
                         sum(pair[0] for pair in self.truth.values()))


if __name__ == "__main__":
    unittest.main()
