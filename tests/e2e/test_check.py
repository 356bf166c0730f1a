"""tests/e2e/test_check.py - limits are kept or not, to the byte, and CI is told.

Runs of tests/programs/alters.c, which allocates what its arguments say.
"""
import json
import os
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import tide

# Live at the end 10 * 100 + 5 * 1000; then 400000 more at the peak; 20 temporaries.
ARGUMENTS = ("a10x100", "b5x1000", "p4x100000", "t20x64")
LEAK, PEAK, TOTAL, CALLS = 6000, 406000, 407280, 39


def base():
    return tide.record_once("base", *ARGUMENTS)


def check(*words, cwd=None):
    return subprocess.run([tide.TIDEMARK, "check", *words], capture_output=True,
                          text=True, timeout=120, check=False, cwd=cwd)


def write(name, text):
    path = os.path.join(tide.FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Limits(tide.Case):
    def verdicts(self, *words):
        """name -> verdict; the exit status fits them."""
        done = check("--json", *words)
        self.assertEqual(done.stderr, "")
        found = json.loads(done.stdout)
        failed = [each["name"] for each in found["checks"] if not each["passed"]]
        self.assertEqual(done.returncode, 1 if failed else 0)
        self.assertEqual((found["passed"], found["failed"]), (not failed, len(failed)))
        return {each["name"]: each for each in found["checks"]}

    def failed(self, *words):
        return [name for name, each in self.verdicts(*words).items()
                if not each["passed"]]

    def test_are_inclusive(self):
        for option, value in (("peak", PEAK), ("leak", LEAK), ("total", TOTAL),
                              ("calls", CALLS)):
            with self.subTest(option=option):
                found = self.verdicts(f"--max-{option}", str(value), base())
                self.assertEqual(set(found), {"complete", option})
                self.assertEqual((found[option]["measured"], found[option]["limit"]),
                                 (value, value))
                self.assertEqual(self.failed(f"--max-{option}", str(value - 1), base()),
                                 [option])

    def test_a_trace_of_no_process_keeps_no_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = (os.path.join(folder, name) for name in ("empty.c", "empty"))
            with open(source, "w", encoding="ascii") as file:
                file.write("int main(void) { return 0; }")
            subprocess.run(["cc", "-static", "-o", program, source], check=True, timeout=60)
            trace = program + ".tide"
            subprocess.run([tide.TIDEMARK, "run", "--force", "-q", "-o", trace, program],
                           check=True, timeout=60, stderr=subprocess.DEVNULL)
            self.assertEqual(self.failed("--max-peak", "1", trace), ["complete"])
            self.assertIn("no process was recorded", check("--max-peak", "1", trace).stdout)

    def test_what_fails_does_not_read_like_the_limit(self):
        done = check("--max-peak", str(PEAK - 1), "--max-leak", "4K", base())
        self.assertIn("FAIL  peak: 406,000 B, at most 405,999 B", done.stdout)
        self.assertIn("live at the end: 5.86 KiB, at most 4.00 KiB", done.stdout)

    def test_a_margin_over_the_limit_is_said(self):
        threads = tide.record_once("margin", program_name="ground_threads")
        summary = tide.report(threads)["summary"]
        peak, margin = summary["peak_bytes"], summary["peak_uncertainty_bytes"]
        self.assertGreater(margin, 0)
        found = self.verdicts("--max-peak", str(peak + margin - 1), threads)["peak"]
        self.assertEqual((found["passed"], found["measured"], found["margin"]),
                         (False, peak, margin))
        self.assertIs(found["unsure"], True)
        found = self.verdicts("--max-peak", str(peak + margin - 1), "--allow-margin", threads)
        self.assertEqual((found["peak"]["passed"], found["peak"]["unsure"]), (True, True))
        self.assertRegex(found["peak"]["note"], "^it may have been up to [0-9].*B: the order of events")
        done = check("--max-peak", str(peak), threads)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^  ok      trace is complete: yes\n"
                                      r"  unsure  peak: .*\(it may have been up to ")
        self.assertIn("The limit lies within the margin of the peak", done.stdout)
        done = check("--max-peak", str(peak), "--allow-margin", threads)
        self.assertEqual(done.returncode, 0)
        self.assertIn("All limits are kept by the peaks as measured, not by all of their margins.",
                      done.stdout)
        done = check("--max-peak", str(peak), "--junit", "-", threads)
        case = xml.etree.ElementTree.fromstring(done.stdout).findall(".//testcase")[1]
        self.assertIn("(it may have been up to ", case.find("failure").get("message"))
        done = check("--max-growth", "0%", "--baseline", threads, threads)
        self.assertEqual(done.returncode, 0)         # the baseline's may have been as high
        self.assertIn("  unsure  change in peak", done.stdout)
        found = self.verdicts("--max-peak", str(peak + margin), threads)["peak"]
        self.assertEqual((found["passed"], found["note"]), (True, None))
        found = self.verdicts("--max-peak", str(peak - 1), threads)["peak"]
        self.assertEqual((found["passed"], found["note"]), (False, None))

    def test_a_clean_program_in_cxx_leaks_nothing(self):
        clean = tide.record_once("clean_cxx", program_name="clean_containers")
        for options in ((), ("--unwind", "libunwind")):
            if options:
                clean = tide.Recorded([tide.program("clean_containers")], options).trace
            found = self.verdicts("--max-leak", "0", clean)["leak"]
            self.assertEqual((found["passed"], found["measured"]), (True, 0))
            whole = self.verdicts("--max-leak", "0", "--no-suppressions", clean)["leak"]
            self.assertGreater(whole["measured"], 65536)     # the pool for exceptions

    def test_what_libc_keeps_is_no_leak_and_what_it_gives_is(self):
        listed = subprocess.run([tide.program("keeps")], capture_output=True, text=True,
                                timeout=60, check=True).stdout.splitlines()
        self.assertGreater(len(listed), 30)
        for line in listed:
            kind, name = line.split()
            with self.subTest(kind=kind, name=name):
                trace = tide.Recorded([tide.program("keeps"), kind, name]).trace
                found = self.verdicts("--max-leak", "0", trace)["leak"]
                if kind == "kept" and not found["passed"]:
                    self.skip_where_libc_is_nameless(trace)
                self.assertEqual(found["passed"], kind == "kept", found)

    def skip_where_libc_is_nameless(self, trace):
        for each in tide.report(trace)["honesty"]["unnamed_modules"]:
            if "/libc.so" in each["module"]:
                self.skipTest("the C library has no names of its local functions here")

    def test_have_units(self):
        self.assertEqual(self.failed("--max-peak", "397KiB", base()), [])
        self.assertEqual(self.failed("--max-peak", "396K", base()), ["peak"])
        self.assertEqual(self.failed("--max-peak", "0.39MiB", base()), [])
        self.assertEqual(self.failed("--max-peak", "0.38MiB", base()), ["peak"])
        self.assertEqual(self.failed("--max-peak", "406KB", base()), [])
        self.assertEqual(self.failed("--max-peak", "405kB", base()), ["peak"])

    def test_of_a_moment(self):
        marks = tide.record_once("marks", "a1x1000", "s1", "a1x5000", "s2", "a1x200",
                                 "p1x90000")
        for when, live in (("m1", 1000), ("m2", 6000), ("peak", 96200), ("end", 6200)):
            found = self.verdicts("--max-leak", str(live), f"{marks}@{when}")["leak"]
            self.assertEqual((found["measured"], found["passed"]), (live, True), when)
        done = check("--max-leak", "0", f"{marks}@m1")
        self.assertIn("FAIL  live at that moment: 1000 B, at most 0 B", done.stdout)
        self.assertIn("no tide_snapshot or tide_event 'm9'; there are: m1, m2",
                      check("--max-leak", "0", f"{marks}@m9").stderr)
        words = ("--max-growth", "0%", "--baseline", f"{marks}@m2", f"{marks}@m1")
        self.assertEqual(check(*words).returncode, 0)

    def test_what_is_suppressed_is_said_to_ci(self):
        known = write("reef.txt", "leak:reef\n")
        done = check("--max-leak", "0", "--suppressions", known, "--junit", "-", base())
        self.assertIn('message="1000 B, at most 0 B (4.88 KiB more suppressed)"',
                      done.stdout)

    def test_of_calls_in_functions(self):
        for function, calls in (("shore", 15), ("reef", 5), ("main", 39), ("spray", 20)):
            with self.subTest(function=function):
                self.assertEqual(self.failed("--max-calls-in", f"{function}={calls}",
                                             base()), [])
                self.assertEqual(self.failed(f"--max-calls-in={function}={calls - 1}",
                                             base()), ["calls_in"])
        done = check("--max-calls-in", "reef=4", "--max-calls-in", "spray=19",
                     "--max-calls-in", "shore=15", base())
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAIL  calls in reef: 5 calls, at most 4 calls", done.stdout)
        self.assertIn("FAIL  calls in spray: 20 calls, at most 19 calls", done.stdout)
        self.assertIn("ok    calls in shore: 15 calls, at most 15 calls", done.stdout)

    def test_of_functions_that_are_not_there_fail_and_name_those_that_are(self):
        for limit, passed in (("shor=0", True), ("shor=100", False)):
            found = self.verdicts("--max-calls-in", limit, base())["calls_in"]
            self.assertEqual((found["passed"], found["measured"], found["note"]),
                             (passed, 0, "no function of that name allocates; did you "
                                         "mean shore?"))
        words = " ".join(check("--max-calls-in", "shor=100", base()).stdout.split())
        self.assertIn("FAIL calls in shor: 0 calls, at most 100 calls (no function of ",
                      words)
        self.assertIn("See: tidemark report --total --flat ", words)
        self.assertIn("--allow-unknown", words)
        self.assertNotIn("--allow-unknown",
                         check("--max-calls-in", "shore=14", base()).stdout)
        found = self.verdicts("--max-calls-in", "xylophone=0", base())["calls_in"]
        self.assertEqual(found["note"], "no function of that name allocates")

    def test_that_a_function_allocates_nothing_is_kept_and_doubted(self):
        words = check("--max-calls-in", "shor=0", base()).stdout
        self.assertIn("ok calls in shor: 0 calls, at most 0 calls (no function of that "
                      "name allocates; did you mean shore?)", " ".join(words.split()))

    def test_of_functions_that_are_not_there_are_kept_where_that_is_allowed(self):
        path = write("unknown.conf", "allow-unknown = yes\n")
        for words in (("--allow-unknown",), ("--config", path)):
            found = self.verdicts("--max-calls-in", "shor=1", *words, base())["calls_in"]
            self.assertEqual((found["passed"], found["measured"]), (True, 0))
            self.assertIn("no function of that name allocates", found["note"])
        self.assertEqual(self.failed("--max-calls-in", "shore=14", "--allow-unknown",
                                     base()), ["calls_in"])

    def test_of_functions_in_namespaces(self):
        loop = tide.record_once("loop", program_name="event_loop")
        for name in ("leakOne", "(anonymous namespace)::leakOne"):
            self.assertEqual(self.verdicts("--max-calls-in", f"{name}=100",
                                           loop)["calls_in"]["measured"], 100)

    def test_of_growth(self):
        grown = tide.record_once("grown", "a10x100", "b6x1000", "p4x100000", "t20x64")
        found = self.verdicts("--baseline", base(), "--max-growth", "5%", grown)
        self.assertEqual({name for name, each in found.items() if not each["passed"]},
                         {"growth_leak"})
        self.assertEqual((found["growth_leak"]["measured"], found["growth_leak"]["base"],
                          found["growth_leak"]["limit"]), (7000, 6000, 6300))
        self.assertEqual(self.failed("--baseline", base(), "--max-growth", "17", grown),
                         [])
        self.assertEqual(self.failed("--baseline", base(), "--max-growth", "0%", base()),
                         [])
        self.assertEqual(self.failed("--baseline", base(), "--max-growth", "0%", grown),
                         ["growth_peak", "growth_leak", "growth_total", "growth_calls"])

    def test_of_growth_from_nothing(self):
        nothing = tide.record_once("nothing")
        self.assertEqual(self.failed("--baseline", nothing, "--max-growth", "1000%",
                                     base()),
                         ["growth_peak", "growth_leak", "growth_total", "growth_calls"])
        self.assertEqual(self.failed("--baseline", base(), "--max-growth", "0", nothing),
                         [])

    def test_of_new_leaks(self):
        rebuilt = tide.record_once("rebuilt", "a10x100", "b5x1000", program_name="rebuilt")
        only_a = tide.record_once("only-a", "a1x1")
        self.assertEqual(self.failed("--baseline", rebuilt, "--max-new-leaks", "0",
                                     base()), [])
        self.assertEqual(self.failed("--baseline", only_a, "--max-new-leaks", "0",
                                     base()), ["new_leaks"])
        self.assertEqual(self.failed("--baseline", only_a, "--max-new-leaks", "1",
                                     base()), [])

    def test_of_new_leaks_without_those_that_are_suppressed(self):
        known = write("known.txt", "leak:reef\n")
        only_a = tide.record_once("only-a", "a1x1")
        words = ("--baseline", only_a, "--max-new-leaks", "0")
        found = self.verdicts(*words, "--suppressions", known, base())["new_leaks"]
        self.assertEqual((found["passed"], found["measured"], found["suppressed"]),
                         (True, 0, 1))
        self.assertIn("stacks that leak now: 0 stacks, at most 0 stacks (1 stack "
                      "suppressed)", check(*words, "--suppressions", known,
                                           base()).stdout)
        # What libraries keep on purpose is no news.
        loop = tide.record_once("loop", program_name="event_loop")
        mine = self.verdicts(*words, loop)["new_leaks"]
        all_of_it = self.verdicts(*words, "--no-suppressions", loop)["new_leaks"]
        self.assertGreater(mine["suppressed"], 0)
        self.assertEqual(mine["measured"] + mine["suppressed"], all_of_it["measured"])

    def test_a_trace_that_ends_early_fails(self):
        cut = os.path.join(tide.FOLDER, "cut.tide")
        with open(base(), "rb") as file:
            whole = file.read()
        with open(cut, "wb") as file:
            file.write(whole[:-20])
        self.assertEqual(self.failed("--max-peak", "1G", cut), ["complete"])
        self.assertIn("trace ends early", check("--max-peak", "1G", cut).stdout)
        self.assertEqual(self.failed("--max-peak", "1G", "--allow-incomplete", cut), [])
        self.assertEqual(self.failed("--max-growth", "1000%", "--baseline", cut, base()),
                         ["baseline_complete"])


class Files(tide.Case):
    def test_limits_come_from_a_file(self):
        config = write("limits.conf", "# of the job\n\nmax-peak = 1GiB\nmax-leak=0\n"
                       "  max-calls-in = reef=4\nmax-calls-in = spray=20\n")
        done = check("--config", config, base())
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line[:6].strip() for line in done.stdout.splitlines()
                          if line.startswith("  ")],
                         ["ok", "ok", "FAIL", "FAIL", "ok"])
        self.assertIn("2 of 5 failed", done.stdout)
        done = check(f"--config={config}", "--max-leak", "1M", base())
        self.assertIn("1 of 5 failed", done.stdout)

    def test_a_comment_may_stand_behind_a_value(self):
        config = write("commented.conf", "max-peak = 1GiB # all\n\t# nothing\n"
                       "max-leak=1M\t#2\nmax-calls-in = f#g=4 # of = f\n"
                       "allow-unknown = yes # f#g is none\n")
        done = check("--config", config, base())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("f#g", done.stdout)

    def test_a_baseline_in_a_file_lies_beside_it(self):
        base()
        config = write("growth.conf", "baseline = base.tide\nmax-growth = 5%\n"
                       "allow-incomplete = no\n")
        done = check("--config", config, base(), cwd="/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("All limits are kept.", done.stdout)

    def test_mistakes_in_a_file_are_usage(self):
        for text, words in (("max-peek = 1\n", "unknown option --max-peek (did you mean "
                             "--max-peak?)"),
                            ("max-peak 1\n", "not 'key = value': max-peak 1"),
                            ("max-peak = much\n", "--max-peak: 'much' is not a size"),
                            ("max-peak =\n", "--max-peak: '' is not a size"),
                            ("max-calls = 1.5\n", "--max-calls: '1.5' is not a whole"),
                            ("max-calls-in = f\n", "--max-calls-in: 'f' is not FUNCTION=N"),
                            ("max-growth = five\n", "--max-growth: 'five' is not a perc"),
                            ("allow-incomplete = maybe\n", "allow-incomplete is yes or no"),
                            ("config = x\n", "no config here")):
            with self.subTest(text=text):
                path = write("bad.conf", "# first\n" + text + "max-leak = 0\n")
                done = check("--config", path, base())
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertTrue(done.stderr.startswith(f"tidemark: {path}:2: {words}"),
                                done.stderr)
        self.assertEqual(check("--config", "/nowhere", base()).returncode, 2)

    def test_junit(self):
        path = os.path.join(tide.FOLDER, "memory.xml")
        done = check("--max-peak", "1G", "--max-leak", "0", "--max-calls-in",
                     'a<b> & "c"=0', "--junit", path, base())
        self.assertEqual(done.returncode, 1)
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual((root.tag, root.get("tests"), root.get("failures")),
                         ("testsuites", "4", "1"))
        suite, = root
        self.assertEqual((suite.tag, suite.get("tests"), suite.get("failures"),
                          suite.get("errors")), ("testsuite", "4", "1", "0"))
        cases = {case.get("name"): case for case in suite}
        self.assertEqual(set(cases), {"trace is complete", "peak", "live at the end",
                                      'calls in a<b> & "c"'})
        failure, = cases["live at the end"]
        self.assertEqual((failure.tag, failure.get("type"), failure.get("message"),
                          failure.text),
                         ("failure", "leak", "5.86 KiB, at most 0 B",
                          "measured 6000, limit 0"))
        self.assertEqual([len(case) for case in suite], [0, 0, 1, 1])
        said, = cases['calls in a<b> & "c"']
        self.assertEqual(said.tag, "system-out")
        self.assertIn("no function of that name allocates", said.text)

    def test_junit_on_stdout_stands_alone(self):
        done = check("--max-peak", "1G", "--junit", "-", base())
        self.assertEqual(done.returncode, 0)
        self.assertEqual(xml.etree.ElementTree.fromstring(done.stdout).get("tests"), "2")

    def test_markdown(self):
        path = os.path.join(tide.FOLDER, "memory.md")
        done = check("--max-leak", "5K", "--max-calls-in", "a|b`c=1", "--markdown", path,
                     base())
        self.assertEqual(done.returncode, 1)
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "### tidemark: over the limit")
        self.assertIn("| **FAIL** | live at the end | 5.86 KiB | at most 5.00 KiB |", lines)
        self.assertIn("| **FAIL** | calls in `a\\|b'c` | 0 calls (no function of that name "
                      "allocates) | at most 1 call |", lines)

    def test_a_file_that_cannot_be_written_fails(self):
        done = check("--max-leak", "1G", "--junit", "/nowhere/x.xml", base())
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/x.xml", done.stderr)


class Manners(tide.Case):
    def test_mistakes(self):
        for words, said in (((base(),), "which limits?"),
                            (("--max-growth", "5%", base()), "needs a --baseline"),
                            (("--max-new-leaks", "0", base()), "needs a --baseline"),
                            (("--baseline", base(), base()), "goes with --max-growth"),
                            (("--max-growth", "five", "--baseline", base(), base()),
                             "not a percentage"),
                            (("--max-calls-in", "f", base()), "is not FUNCTION=N"),
                            (("--max-calls-in", "f=many", base()), "is not FUNCTION=N"),
                            (("--max-calls-in",), "needs a value"),
                            (("--max-peak", "1", base(), base()), "one trace at a time"),
                            (("--max-peak", "2", "GiB", base()), "--max-peak: '2' was "
                             "taken as its value, without 'GiB'; write 2GiB"),
                            (("--max-peak", "1", "--json", "--junit", "-", base()),
                             "at a time")):
            with self.subTest(words=words):
                done = check(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)

    def test_a_trace_may_be_called_like_a_unit(self):
        shutil.copy(base(), os.path.join(os.path.dirname(base()), "K.tide"))
        done = check("--max-peak", "2", "K", cwd=os.path.dirname(base()))
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("K.tide", done.stdout)

    def test_what_cannot_be_read_is_no_verdict(self):
        limit = ("--max-leak", "0")
        for words, path in ((("/nowhere.tide",), "/nowhere.tide"),
                            (("--max-growth", "1", "--baseline", "/nowhere", base()),
                             "/nowhere"),
                            (("--suppressions", "/nowhere.txt", base()), "/nowhere.txt"),
                            (("/etc/passwd",), "/etc/passwd")):
            with self.subTest(words=words):
                done = check(*limit, *words)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, r"^tidemark: nothing was checked: "
                                 rf"(--suppressions )?{path}: .*\n$")
        over = check(*limit, base())
        self.assertEqual((over.returncode, over.stderr), (1, ""))

    def test_advice_says_where_to_look(self):
        self.assertIn(f"tidemark report --leaks {base()}",
                      check("--max-leak", "0", base()).stdout.replace("\n", " "))
        other = tide.record_once("other", "a99x1000")
        self.assertIn(f"tidemark diff --leaks {base()} {other}",
                      check("--max-growth", "0", "--baseline", base(),
                            other).stdout.replace("\n", " "))
        higher = tide.record_once("higher", "p5x100000")
        self.assertIn(f"tidemark diff {base()} {higher}",
                      check("--max-growth", "0", "--baseline", base(),
                            higher).stdout.replace("\n", " "))


if __name__ == "__main__":
    tide.main()
