"""tests/e2e/test_diff.py - differences of runs and moments, against known ones.

The programs say in their arguments what they allocate, so every difference is known to
the byte; and whatever is compared, all rows add up to the difference of the totals.
"""
import csv
import functools
import io
import itertools
import json
import os
import shutil
import subprocess

import tide

VIEWS = {"peak": ("peak_bytes", "blocks"), "leaks": ("live_bytes", "blocks"),
         "total": ("allocated_bytes", "calls"), "churn": ("temporary_bytes", "calls")}
SHAPES = ("flat", "tree", "stacks")


@functools.lru_cache(maxsize=None)
def summary(trace):
    return tide.report(trace)["summary"]


def diff(*words):
    return subprocess.run([tide.TIDEMARK, "diff", *words], capture_output=True, text=True,
                          timeout=120, check=False)


def read(*words):
    done = diff("--json", *words)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def below(rows):
    """All rows of a tree."""
    for row in rows:
        yield row
        yield from below(row["children"])


def base():
    return tide.record_once("base", "a10x100", "b5x1000", "p4x100000", "t20x64")


def later():
    return tide.record_once("later", "a13x100", "p5x100000", "t19x64", "t7x32")


class Differences(tide.Case):
    def flat(self, found, name):
        row, = [row for row in found["rows"] if row["function"] == name]
        return row

    def test_of_a_run_with_itself_there_are_none(self):
        for view, shape in itertools.product(VIEWS, SHAPES):
            found = read(f"--{view}", f"--{shape}", base(), base())
            self.assertEqual(found["rows"], [])
            self.assertEqual(found["total"]["state"], "same")
            self.assertEqual(found["total"]["bytes"], 0)
        self.assertIn("no stack differs", diff(base(), base()).stdout)

    def test_of_two_equal_runs_there_are_none(self):
        again = tide.record_once("again", "a10x100", "b5x1000", "p4x100000", "t20x64")
        for view in VIEWS:
            self.assertEqual(read(f"--{view}", base(), again)["rows"], [])

    def test_they_are_those_of_the_arguments(self):
        found = read("--peak", base(), later())
        self.assertEqual(found["total"]["bytes"], 100000 + 300 - 5000)
        self.assertEqual(found["total"]["blocks"], 1 + 3 - 5)
        tide_row = self.flat(found, "spring_tide")
        self.assertEqual((tide_row["bytes"], tide_row["blocks"], tide_row["base_bytes"],
                          tide_row["new_bytes"], tide_row["percent"], tide_row["state"]),
                         (100000, 1, 400000, 500000, 25.0, "changed"))
        self.assertEqual(self.flat(found, "main")["inclusive_bytes"], 95300)
        self.assertEqual(self.flat(found, "reef")["inclusive_bytes"], -5000)
        self.assertEqual(self.flat(found, "reef")["inclusive_state"], "gone")
        found = read("--total", base(), later())
        self.assertEqual(self.flat(found, "spray")["bytes"], 19 * 64 + 7 * 32 - 20 * 64)
        self.assertEqual(self.flat(found, "spray")["calls"], 6)
        found = read("--churn", base(), later())
        self.assertEqual(self.flat(found, "spray")["calls"], 6)

    def test_all_rows_add_up_in_every_view_and_shape(self):
        pairs = [(base(), later()), (later(), base()),
                 (base(), tide.record_once("rebuilt", "a1x7", "t3x9", program_name="rebuilt")),
                 (base(), tide.record_once("loop", program_name="event_loop"))]
        for (one, other), view, shape in itertools.product(pairs, VIEWS, SHAPES):
            with self.subTest(one=one, other=other, view=view, shape=shape):
                self.adds_up(one, other, view, shape)

    def adds_up(self, one, other, view, shape):
        total, counts = VIEWS[view]
        found = read(f"--{view}", f"--{shape}", one, other)
        expected = summary(other)[total] - summary(one)[total]
        if view == "leaks":
            expected -= (found["new"]["suppressed"]["bytes"] -
                         found["base"]["suppressed"]["bytes"])
        else:
            self.assertIsNone(found["new"]["suppressed"])
        self.assertEqual(found["total"]["bytes"], expected)
        self.assertEqual(sum(row["bytes"] for row in found["rows"]), expected)
        self.assertEqual(sum(row[counts] for row in found["rows"]),
                         found["total"][counts])
        if shape == "tree":
            for row in below(found["rows"]):
                self.assertEqual(row["bytes"], row["self_bytes"] + sum(
                    child["bytes"] for child in row["children"]))

    def test_a_stack_has_the_lines_of_a_stack(self):
        """main allocates at many lines and calls from others: each row has its own."""
        calls = tide.Recorded([tide.program("all_calls")]).trace
        known = {tuple((call["function"], call["line"]) for call in row["stack"])
                 for row in tide.report(calls, "--total", "--stacks")["rows"]}
        rows = read("--total", "--stacks", calls, base())["rows"]
        gone = [row for row in rows if row["state"] == "gone"]
        self.assertGreater(len(gone), 2)
        for row in gone:
            self.assertIn(tuple((call["function"], call["line"]) for call in row["stack"]),
                          known)
            self.assertEqual(row["line"], row["stack"][0]["line"])

    def test_moments_have_units_and_the_peak_is_one(self):
        for unit, number in (("ms", 1000), ("us", 1000000), ("ns", 1000000000)):
            slow = tide.record_once("slow", "a1x100", "z2000", "a1x1000")
            found = read("--leaks", f"{slow}@{number}{unit}", slow)
            self.assertEqual(found["total"]["bytes"], 1000)
        found = read(f"{base()}@peak", base())
        live = tide.report(base())["summary"]
        self.assertEqual(-found["total"]["bytes"], live["peak_bytes"] - live["live_bytes"])

    def test_summaries_say_what_was_left_as_the_report_does(self):
        keeps = tide.record_once("keeps_cxx", program_name="clean_containers")
        wanted = tide.report(keeps)["summary"]
        self.assertLess(wanted["left_bytes"], wanted["live_bytes"])
        for view in ("--peak", "--leaks"):
            summary = read(view, base(), keeps)["new"]["summary"]
            for key in ("live_bytes", "left_bytes", "left_blocks"):
                self.assertEqual(summary[key], wanted[key], (view, key))

    def test_what_is_suppressed_is_left_out_on_both_sides(self):
        path = os.path.join(tide.FOLDER, "shore.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("leak:reef\n")
        words = ["--leaks", "--suppressions", path, base(), later()]
        found = read(*words)
        self.assertEqual(found["total"]["bytes"], 300)  # the rest of shore's
        rule = {"bytes": 5000, "blocks": 5, "pattern": "reef", "built_in": False}
        self.assertEqual(found["base"]["suppressed"]["rules"], [rule])
        self.assertEqual(found["new"]["suppressed"]["bytes"], 0)
        self.assertEqual(found["gone_stacks"]["count"], 0)
        self.assertIn("Suppressed: 4.88 KiB in 5 blocks of base, 0 B in 0 blocks of new.",
                      " ".join(diff(*words).stdout.split()))
        # What counts at the peak or at a moment is not what leaks.
        whole = read("--leaks", "--suppressions", path, f"{base()}@0s", later())
        self.assertIsNone(whole["new"]["suppressed"])
        self.assertEqual(read("--peak", "--suppressions", path, base(), later())["total"],
                         read("--peak", base(), later())["total"])

    def test_what_libraries_keep_is_left_out(self):
        loop = tide.record_once("loop", program_name="event_loop")
        hushed = read("--leaks", base(), loop)
        shown = read("--leaks", "--no-suppressions", base(), loop)
        self.assertGreater(hushed["new"]["suppressed"]["bytes"], 0)
        self.assertEqual(shown["total"]["bytes"] - hushed["total"]["bytes"],
                         hushed["new"]["suppressed"]["bytes"])
        self.assertEqual(shown["new"]["suppressed"]["bytes"], 0)

    def test_csv_has_the_numbers_of_json(self):
        loop = tide.record_once("loop", program_name="event_loop")
        for (one, other), view, shape in itertools.product(
                [(base(), later()), (base(), loop)], ("peak", "total"), SHAPES):
            with self.subTest(one=one, view=view, shape=shape):
                words = [f"--{view}", f"--{shape}", one, other]
                done = diff("--csv", *words)
                self.assertEqual(done.returncode, 0, done.stderr)
                rows = list(csv.DictReader(io.StringIO(done.stdout)))
                self.agrees(rows, read(*words)["rows"], VIEWS[view][1], shape)

    def agrees(self, rows, expected, counts, shape):
        if shape == "tree":
            expected = list(self.with_depth(expected))
            self.assertEqual([int(row["depth"]) for row in rows],
                             [depth for depth, _ in expected])
            expected = [row for _, row in expected]
        self.assertEqual(len(rows), len(expected))
        keys = ["bytes", counts, "base_bytes", f"base_{counts}", "new_bytes",
                f"new_{counts}"]
        for row, wanted in zip(rows, expected):
            self.assertEqual([int(row[key]) for key in keys],
                             [wanted[key] for key in keys])
            self.assertEqual([row["function"], row["module"], row["state"]],
                             [wanted["function"], wanted["module"], wanted["state"]])
            if wanted["percent"] is None:
                self.assertEqual(row["percent"], "")
            else:
                self.assertAlmostEqual(float(row["percent"]), wanted["percent"], places=4)
            if shape == "stacks":
                self.assertEqual(row["stack"], ";".join(
                    call["function"] for call in wanted["stack"]))

    def with_depth(self, rows, depth=0):
        for row in rows:
            yield depth, row
            yield from self.with_depth(row["children"], depth + 1)

    def test_new_and_gone_stacks_are_told(self):
        found = read("--leaks", "--stacks", base(), later())
        states = {tuple(call["function"] for call in row["stack"]): row["state"]
                  for row in found["rows"]}
        self.assertEqual(states, {("shore", "reef", "main"): "gone",
                                  ("shore", "main"): "changed"})
        self.assertEqual(found["gone_stacks"], {"count": 1, "bytes": 5000, "blocks": 5})
        self.assertEqual(found["new_stacks"], {"count": 0, "bytes": 0, "blocks": 0})
        back = read("--leaks", "--stacks", later(), base())
        self.assertEqual(back["new_stacks"], {"count": 1, "bytes": 5000, "blocks": 5})
        reef = [row for row in back["rows"] if len(row["stack"]) == 3][0]
        self.assertEqual((reef["percent"], reef["state"]), (None, "new"))

    def test_a_rebuilt_program_is_the_same_program(self):
        rebuilt = tide.record_once("rebuilt-same", "a10x100", "b5x1000", "p4x100000",
                                   "t20x64", program_name="rebuilt")
        for view, shape in itertools.product(VIEWS, SHAPES):
            self.assertEqual(read(f"--{view}", f"--{shape}", base(), rebuilt)["rows"], [])
        lines = [row["line"] for trace in (base(), rebuilt)
                 for row in tide.report(trace, "--flat", "--total")["rows"]
                 if row["function"] == "shore"]
        self.assertEqual(len(set(lines)), 2, "its lines are elsewhere")
        more = tide.record_once("rebuilt-more", "a10x100", "b6x1000", "p4x100000",
                                "t20x64", program_name="rebuilt")
        found = read("--stacks", base(), more)
        self.assertEqual([(row["bytes"], row["blocks"], row["percent"])
                          for row in found["rows"]], [(1000, 1, 20.0)])

    def test_another_program_is_named(self):
        other = tide.record_once("other", program_name="phases")
        text = " ".join(diff(base(), other).stdout.split())
        self.assertIn("The programs differ: alters in base, phases in new.", text)
        self.assertNotIn("programs differ", diff(base(), base()).stdout)
        modules = {row["function"]: row["module"]
                   for row in read("--total", "--flat", base(), other)["rows"]}
        self.assertEqual(modules["shore"], "alters")
        own = {row["function"] for row in tide.report(other, "--flat", "--total")["rows"]
               if row["module"].endswith("phases") and row["function"] != "main"}
        self.assertTrue(own)
        self.assertEqual({modules[function] for function in own}, {"phases"})

    def test_changes_that_cancel_out_are_seen(self):
        one = tide.record_once("cancel-one", "a10x100", "b10x200")
        other = tide.record_once("cancel-other", "a20x100", "b5x200")
        found = read("--leaks", "--tree", one, other)
        self.assertEqual((found["total"]["bytes"], found["total"]["blocks"]), (0, 5))
        self.assertEqual(sorted(row["self_bytes"] for row in below(found["rows"])),
                         [-1000, 0, 0, 1000])


class Moments(tide.Case):
    def test_between_two_events_of_a_job(self):
        """The numbers of reference/igprof.md, section 2."""
        trace = tide.record_once("loop", program_name="event_loop")
        found = read("--no-fold", f"{trace}@EV.51", f"{trace}@ENDJOB")
        self.assertEqual(found["view"], "leaks")
        self.assertEqual((found["total"]["bytes"], found["total"]["blocks"]),
                         (420881, 146))
        rows = [row for row in found["rows"] if row["bytes"]]
        self.assertEqual([(row["bytes"], row["blocks"]) for row in rows],
                         [(372449, 49), (49000, 49), (-4096, -1), (3528, 49)])
        self.assertIn("leakOne", rows[1]["function"])
        self.assertEqual(rows[2]["state"], "gone")

    def test_the_library_counts_as_its_callers(self):
        trace = tide.record_once("loop", program_name="event_loop")
        moments = (f"{trace}@EV.51", f"{trace}@ENDJOB")
        rows = [row for row in read(*moments)["rows"] if row["bytes"]]
        self.assertEqual([(row["function"].split("::")[-1].split("(")[0], row["bytes"])
                          for row in rows],
                         [("remember", 372449 + 3528), ("leakOne", 49000), ("fill", -4096)])
        rows = [row for row in read("--hide", "remember|leakOne", *moments)["rows"]
                if row["bytes"]]
        self.assertEqual([(row["function"].split("::")[-1].split("(")[0], row["bytes"])
                          for row in rows],
                         [("main", 372449 + 3528 + 49000), ("fill", -4096)])

    def test_from_an_event_to_the_end(self):
        trace = tide.record_once("loop", program_name="event_loop")
        found = read("--no-fold", f"{trace}@EV.51", trace)
        strings = sum(100 * event + 1 for event in range(1, 52))
        self.assertEqual((found["total"]["bytes"], found["total"]["blocks"]),
                         (-91419, -54))
        self.assertEqual([(row["bytes"], row["blocks"]) for row in found["rows"]
                          if row["bytes"]],
                         [(-strings, -51), (49000, 49), (-4096, -1), (-51 * 72, -51)])

    def test_the_whole_job(self):
        trace = tide.record_once("loop", program_name="event_loop")
        found = read("--total", f"{trace}@0s", trace)
        vector = self.own_thread_vector(trace)
        others = 72704 + vector - 320  # the pool of libstdc++; 320 in the reference
        self.assertEqual((found["total"]["bytes"], found["total"]["calls"]),
                         (17157620 + others, 101401 + 1))
        found = read("--leaks", f"{trace}@0s", f"{trace}@ENDJOB")
        self.assertEqual((found["total"]["new_bytes"], found["total"]["new_blocks"]),
                         (612620 + others, 302))
        self.assertEqual(found["total"]["state"], "new")
        self.assertIsNone(found["total"]["percent"])

    @staticmethod
    def own_thread_vector(trace):
        """What glibc takes for the thread: 16 bytes a library with thread-local data."""
        row, = [row for row in tide.report(trace, "--leaks", "--stacks",
                                           "--no-suppressions")["rows"]
                if any("pthread_create" in call["function"] for call in row["stack"])]
        return row["bytes"]

    def test_are_exact_to_the_block(self):
        """Marks among blocks that all have the same time stamp but for the marks."""
        words = [word for i in range(1, 30) for word in (f"a1x{i}", f"s{i}")]
        trace = tide.record_once("marks", *words)
        for i in range(1, 29):
            found = read(f"{trace}@m{i}", f"{trace}@m{i + 1}")
            self.assertEqual((found["total"]["bytes"], found["total"]["blocks"]),
                             (i + 1, 1), i)

    def test_of_the_same_name_are_numbered(self):
        trace = tide.record_once("same", "s7", "a1x10", "s7", "a1x20", "s7", "a1x40")
        found = read(f"{trace}@m7#2", f"{trace}@m7#3")
        self.assertEqual(found["total"]["bytes"], 20)
        done = diff(f"{trace}@m7#2", f"{trace}@m7#4")
        self.assertEqual((done.returncode, "only 3 of that name" in done.stderr), (1, True))

    def test_in_seconds(self):
        trace = tide.record_once("in_seconds", "a1x7", "z100", "a3x100", "z600", "a4x100")
        found = read(f"{trace}@0.05s", f"{trace}@0.4s")
        self.assertEqual(found["total"]["bytes"], 300)
        self.assertEqual(found["new"]["at_s"], 0.4)
        found = read(f"{trace}@0.4", trace)
        self.assertEqual(found["total"]["bytes"], 400)
        self.assertIsNone(found["new"]["at_s"])

    def test_by_event(self):
        trace = tide.record_once("events", "e1", "t3x100", "e2", "a2x50", "e3", "a1x1", "e2")
        found = read("--total", f"{trace}@event1", f"{trace}@event 3")
        self.assertEqual((found["total"]["bytes"], found["total"]["calls"]), (400, 5))
        found = read(f"{trace}@event3", f"{trace}@event2#2")
        self.assertEqual((found["total"]["bytes"], found["total"]["blocks"]), (1, 1))


class Manners(tide.Case):
    def expect(self, done, status, words):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(words, done.stderr)

    def test_mistakes(self):
        self.expect(diff(), 2, "two traces")
        self.expect(diff(base()), 2, "two traces")
        self.expect(diff(base(), later(), base()), 2, "two traces")
        self.expect(diff("--peak", "--leaks", base(), later()), 2, "at a time")
        self.expect(diff("--flat", "--tree", base(), later()), 2, "at a time")
        self.expect(diff("--bytes", "--si", base(), later()), 2, "either")
        self.expect(diff(base(), "/nowhere.tide"), 1, "no such file")
        self.expect(diff(base(), f"{base()}@1000000s"), 1, "the run ended at")
        self.expect(diff(base(), f"{base()}@high"), 1, "so there is no 'high'")
        loop = tide.record_once("loop", program_name="event_loop")
        self.expect(diff(loop, f"{loop}@EV.52"), 1, "there are: EV.1, EV.51, ENDJOB")

    def test_a_name_may_hold_the_sign(self):
        odd = os.path.join(tide.FOLDER, "odd@name.tide")
        shutil.copy(base(), odd)
        self.assertEqual(read(odd, base())["rows"], [])
        self.assertEqual(read(f"{odd}@end", base())["rows"], [])

    def test_text_is_as_wide_as_it_may_be(self):
        env = dict(os.environ, COLUMNS="72")
        loop = tide.record_once("loop", program_name="event_loop")
        for shape, rows in itertools.product(SHAPES, ("2", "0")):
            done = subprocess.run([tide.TIDEMARK, "diff", f"--{shape}", "--total", "-n",
                                   rows, base(), loop], env=env, text=True,
                                  capture_output=True, check=True, timeout=120)
            self.assertGreater(len(done.stdout.splitlines()), 12)
            for line in done.stdout.splitlines():
                self.assertLessEqual(len(line), 72, line)
            self.assertNotRegex(done.stdout, r"\b(inf|nan)\b")

    def test_rows_of_text_add_up_too(self):
        done = diff("--bytes", "--leaks", "--tree", "-n", "0", base(), later())
        self.assertRegex(done.stdout, r"(?m)^ +-4,700 B +-78\.3 % +-2  main")
        self.assertRegex(done.stdout, r"(?m)^ +-5,000 B +gone +-5  .*reef.*shore")
        self.assertRegex(done.stdout, r"(?m)^ +\+300 B +\+30\.0 % +\+3  .*shore")
        self.assertIn("1 gone stack had 5,000 B.", done.stdout)

    def test_one_row_alone_is_not_summed_up(self):
        done = diff("--bytes", "--leaks", "--tree", "-n", "2", base(), later())
        self.assertRegex(done.stdout, r"(?m)^ +\+300 B +\+30\.0 % +\+3  .*shore")
        self.assertNotIn(" more", done.stdout)
        self.assertIn(" 2 more", diff("--leaks", "--tree", "-n", "1", base(), later()).stdout)

    def test_what_grew_without_measure_has_a_measured_percentage(self):
        one = tide.record_once("tiny", "a1x1")
        other = tide.record_once("huge", "a1x1000000")
        self.assertIn(">999 %", diff("--leaks", one, other).stdout)
        row, = read("--leaks", "--stacks", one, other)["rows"]
        self.assertEqual(row["percent"], 99999900.0)


if __name__ == "__main__":
    tide.main()
