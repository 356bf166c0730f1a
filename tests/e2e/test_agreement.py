"""tests/e2e/test_agreement.py - verbs that answer the same question give one answer."""
import json
import os
import shutil
import subprocess
import tempfile

import tide

FOLDER = tempfile.mkdtemp(prefix="tide-agreement-")


def tearDownModule():
    shutil.rmtree(FOLDER, ignore_errors=True)


def record(name, *words):
    """A run of a program of tests/programs."""
    return tide.Recorded([tide.program(name), *words],
                         folder=tempfile.mkdtemp(dir=FOLDER))


def run(*words):
    done = subprocess.run([tide.TIDEMARK, *words], capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


def blocks(trace):
    """All blocks that there ever were."""
    return [json.loads(line)
            for line in run("export", "--to", "ndjson", "--all", trace).splitlines()]


class Labels(tide.Case):
    """What the report counts under a label is what single blocks are called."""

    @classmethod
    def setUpClass(cls):
        cls.made = record("labels")

    def test_blocks_have_the_labels_of_the_report(self):
        for space in ("heap", "mmap"):
            counted = {}
            for block in blocks(self.made.trace):
                if block["space"] == space and block["live_bytes"]:
                    counted[block["label"]] = (counted.get(block["label"], 0) +
                                               block["live_bytes"])
            rows = self.made.report("--leaks", "--labels", "--space", space,
                                    "--no-suppressions")["rows"]
            self.assertEqual({row["label"]: row["bytes"] for row in rows}, counted)
            self.assertTrue(any(counted), counted)

    def test_not_there_yet_is_not_never(self):
        address = hex(self.made.own_count()["mapped"])
        self.assertIn("by then", run("resolve", self.made.trace, address, "@0s"))
        self.assertIn("never", run("resolve", self.made.trace, address))
        self.assertIn("no block was ever there", run("resolve", self.made.trace, "0x1"))

    def test_a_hole_is_not_live(self):
        start, hole = self.made.own_count()["holed"], 8192
        for offset, when, state in ((hole - 1, "", "live"), (hole, "", "dead"),
                                    (2 * hole - 1, "", "dead"), (2 * hole, "", "live"),
                                    (hole, "@whole", "live")):
            answer, = json.loads(run("resolve", "--json", self.made.trace,
                                     hex(start + offset) + when))["answers"]
            block, = answer["blocks"]
            self.assertEqual((answer["state"], block["state"], block["offset"],
                              block["size"]), (state, state, offset, 1 << 20))
            self.assertEqual(block["death_s"] is None, when == "" and state == "live")

    def test_resolve_says_them(self):
        for name, address in self.made.own_count().items():
            answer, = json.loads(
                run("resolve", "--json", self.made.trace, hex(address)))["answers"]
            self.assertEqual([block["label"] for block in answer["blocks"]],
                             [None if name == "holed" else name])


class Regions(tide.Case):
    """Slices of the Chrome export are the regions that the report counts by."""

    def test_regions_that_cross(self):
        made = record("crossed")
        rows = made.report("--total", "--regions")["rows"]
        self.assertEqual([(row["region"], row["bytes"]) for row in rows], [("next", 100)])
        events = json.loads(run("export", "--to", "chrome", made.trace))["traceEvents"]
        stack, ends = [], []
        for event in events:
            if event["ph"] == "B":
                stack.append(event["name"])
            elif event["ph"] == "E":
                ends.append((stack.pop(), event["name"]))
        self.assertEqual(ends, [(name, name)
                                for name in ("inmost", "inner", "outer", "next")])
        self.assertEqual(stack, [])


class Flows(tide.Case):
    """Who freed whose blocks: of the blocks that the table is of, or not at all."""

    TITLE = "Freed by another thread"

    @classmethod
    def setUpClass(cls):
        cls.made = record("cross_frees", "queue", "500")

    def threads(self, *options):
        return run("report", self.made.trace, "--threads", "--total", *options)

    def test_without_filters(self):
        self.assertIn(self.TITLE, self.threads())
        self.assertIn(self.TITLE, self.threads("--lifetime", "0..100"))

    def test_what_was_never_freed_was_freed_by_nobody(self):
        self.assertNotIn(self.TITLE, self.threads("--lifetime", "100.."))

    def test_not_of_other_blocks_than_the_table(self):
        for option in ("--function=main", "--thread=nobody", "--space=mmap"):
            self.assertNotIn(self.TITLE, self.threads(option))


class Words(tide.Case):
    """Headings say which part of a run is meant, and numbers are of that part."""

    @classmethod
    def setUpClass(cls):
        cls.made = record("marks")

    def heading(self, *options):
        return run("report", self.made.trace, *options).splitlines()[0]

    def test_up_to_a_moment(self):
        end = self.made.report()["duration_s"]
        late = f"{end * 0.999:.9f}"
        for view in ("--peak", "--total", "--churn", "--sizes", "--lifetimes"):
            self.assertNotIn(", up to ", self.heading(view))
            self.assertIn(", up to ", self.heading(view, "--live-at", late))
        self.assertIn("nothing by then", self.heading("--total", "--live-at", "0"))

    def test_headings_are_never_cut(self):
        env = dict(os.environ, COLUMNS="60")
        done = subprocess.run(
            [tide.TIDEMARK, "report", self.made.trace, "--peak", "--between", "0.000001",
             "1000"], capture_output=True, text=True, timeout=120, check=True, env=env)
        heading = done.stdout.split("\n\u2500", 1)[0]
        self.assertIn("allocated after 0.000 s", " ".join(heading.split()))
        self.assertTrue(all(len(line) <= 60 for line in heading.splitlines()), heading)

    def test_totals_of_histograms_are_those_of_the_rows(self):
        made = record("labels")
        for options, calls in ((), 4), (("--size", "1000..1000"), 1):
            found = made.report("--sizes", *options)
            for total, key in (("total_calls", "requested_calls"),
                               ("total_bytes", "requested_bytes")):
                self.assertEqual(found[total], sum(row[key] for row in found["rows"]))
            self.assertEqual(found["total_calls"], calls)  # one is printf's

    def test_blocks_of_no_bytes_can_be_asked_for(self):
        made = record("odd_arguments")
        [empty] = [row["requested_calls"] for row in made.report("--sizes")["rows"]
                   if row["least_bytes"] == 0]
        self.assertGreater(empty, 0)
        for words in ("0..0", "..0"):
            self.assertEqual(made.report("--sizes", "--size", words)["total_calls"], empty)
            total = made.report("--total", "--size", words)
            self.assertEqual((total["total_calls"], total["total_bytes"]), (empty, 0))

    def test_a_stack_that_never_held_a_byte(self):
        made = record("odd_arguments")
        rows = made.report("--total", "--stacks")["rows"]
        empty = [row for row in rows if row["site"]["most_bytes"] == 0]
        self.assertTrue(empty)
        for row in empty:
            self.assertEqual(row["site"]["most_time_s"], row["site"]["first_s"])

    def test_callers_of_little(self):
        """Less than what trees fold is not nothing, when it is what was asked for."""
        trace = record("labels").trace
        for shape in ("--callers", "--sandwich"):
            text = run("report", trace, "--leaks", shape, "keep_little")
            self.assertNotIn("such a function", text)
            self.assertEqual(text.count(" 16 B "), 1 if shape == "--callers" else 2)

    def test_no_gap_below_a_sandwich_of_nothing(self):
        text = run("report", self.made.trace, "--sandwich", "no_such_function")
        self.assertNotIn("\n\n\n", text)


def count_rows(rows):
    return sum(1 + count_rows(row.get("children", [])) for row in rows)


class Rows(tide.Case):
    """-n N is N rows, also when all weigh the same."""

    @classmethod
    def setUpClass(cls):
        cls.base, cls.made = record("equals", "0"), record("equals", "100")

    def diff(self, *options):
        return run("diff", self.base.trace, self.made.trace, *options)

    def test_differences(self):
        for shape in ("--flat", "--tree", "--stacks"):
            found = json.loads(self.diff(shape, "--json", "-n", "5"))
            self.assertEqual(count_rows(found["rows"]), 5)
        lines = [line for line in self.diff("--tree", "-n", "5").splitlines()
                 if "keep_" in line]
        self.assertEqual(len(lines), 4)  # and main

    def test_nothing_is_lost_by_it(self):
        lines = self.diff("--tree", "-n", "5", "--bytes").splitlines()
        more, = [line for line in lines if "16 more" in line]
        self.assertIn("+1,600", more)


class Refused(tide.Case):
    """What cannot be done is not done without a word."""

    def test_moments_that_are_not_there(self):
        trace = record("marks").trace
        for when, words in (("nowhen", "there are: before the end, event0 to event4"),
                            ("event3#2", "there is only one of that name"),
                            ("1000s", "the run ended at")):
            for verb in (["diff", f"{trace}@{when}", trace],
                         ["resolve", trace, f"0x1@{when}"],
                         ["resolve", trace, "0x1", f"@{when}"]):
                done = subprocess.run([tide.TIDEMARK, *verb], capture_output=True,
                                      text=True, timeout=120, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(words, done.stderr)

    def test_histograms_by_names(self):
        made = record("marks")
        for shape in ("--sizes", "--lifetimes"):
            for option in ("--function=main", "--module=marks", "--file=marks.c",
                           "--region=solve", "--label=x", "--thread=marks",
                           "--process=marks", "--hide=main"):
                done = subprocess.run(
                    [tide.TIDEMARK, "report", shape, option, made.trace],
                    capture_output=True, text=True, timeout=120, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn("by names", done.stderr)


if __name__ == "__main__":
    tide.main()
