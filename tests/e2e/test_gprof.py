"""tests/e2e/test_gprof.py - IgProf's layout and counters, on a program whose numbers are known.

tests/programs/event_loop.cpp makes, in 100 events, what this table says (bytes and calls
in all, and live after the loop).  The C library's vector of threads (320 bytes with some
versions) is taken as it is found; before main libstdc++ takes a pool of 72,704 bytes.
"""
import re
import subprocess
import unittest

import tide

POOL = 72704
STRINGS = sum(100 * event + 1 for event in range(1, 101))
# function, as IgProf prints it -> bytes, calls, of itself
MADE = {
    "churn": (12525000, 50000),
    "makeHit": (3200000, 50000),
    "fill": (818400, 1000),
    "remember": (STRINGS + 7200, 200),
    "leakOne": (100000, 100),
    "main": (1600, 100),
}
EVENT_51 = sum(100 * event + 1 for event in range(1, 52))

FLAT = re.compile(r"^ *(-?[\d.]+) +([\d']+) +([\d']+)  (.*) \[(\d+)\]$")
LINE = re.compile(r"^(\[\d+\])? +(-?[\d.]+) +([\d']+|\.+) +([\d']+) / ([\d']+) +"
                  r"([\d']+)(?: / ([\d']+))? +(.*?)(?: \[(\d+)\])?$")


def number(text):
    return int(text.replace("'", ""))


def short(name):
    return name.split("::")[-1].split("(")[0]


class Printed:
    """A report in IgProf's layout, taken apart."""

    def __init__(self, trace, *options):
        self.text = subprocess.run(
            [tide.TIDEMARK, "report", "--gprof", trace, *options], capture_output=True,
            text=True, timeout=300, check=True).stdout
        body = self.text[self.text.index("Counter: "):].split("\nTrust")[0]
        self.counter = body.split("\n", 1)[0].split(" ")[1]
        _, own, cumulative, tree = re.split(r"^-{70}$", body, flags=re.M)
        self.cumulative = self.flat(cumulative)
        self.own = self.flat(own)
        self.entries = [self.entry(part) for part in re.split(r"^(?:- )+$", tree,
                                                              flags=re.M)[1:]]

    @staticmethod
    def flat(text):
        """name -> (bytes, calls, rank)"""
        rows = [FLAT.match(line) for line in text.strip().split("\n")[3:]]
        return {short(row[4]): (number(row[2]), number(row[3]), int(row[5]))
                for row in rows}

    @staticmethod
    def entry(text):
        """callers, the function, callees; each a match of LINE."""
        lines = [LINE.match(line) for line in text.strip("\n").split("\n")
                 if not line.startswith("Rank")]
        at, = [i for i, line in enumerate(lines) if line[1]]
        return lines[:at], lines[at], lines[at + 1:]


class EventLoop(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.run_of = tide.Recorded([tide.program("event_loop")])
        rows = cls.run_of.report("--leaks", "--flat", "--no-suppressions")["rows"]
        cls.vector = sum(row["bytes"] for row in rows
                         if row["function"] not in ("main",) and
                         not row["function"].endswith("leakOne") and
                         row["bytes"] != POOL)

    def printed(self, *options, when=""):
        return Printed(self.run_of.trace + when, *options)

    def test_total(self):
        found = self.printed("--total")
        self.assertEqual(found.counter, "MEM_TOTAL")
        for name, (size, calls) in MADE.items():
            self.assertEqual(found.own[name][:2], (size, calls), name)
        everything = 17157300 + self.vector + POOL
        self.assertEqual(found.cumulative["<spontaneous>"], (everything, 101402, 1))
        self.assertEqual(found.cumulative["main"][:2],
                         (17157300 + self.vector, 101401))
        self.assertEqual(found.cumulative["fill"][:2], (818400 + 3200000, 51000))

    def test_total_as_the_library_sees_it(self):
        rows = self.run_of.report("--total", "--no-fold", "--gprof")["rows"]
        sizes = sorted((row["bytes"], row["calls"]) for row in rows)
        for expected in ((12525000 + STRINGS, 50100), (3200000, 50000), (818400, 1000),
                         (7200, 100), (1600, 100), (100000, 100)):
            self.assertIn(expected, sizes)

    def test_live_at_the_end_of_the_job(self):
        found = self.printed("--counter", "MEM_LIVE", when="@ENDJOB")
        self.assertEqual(found.counter, "MEM_LIVE")
        self.assertEqual(found.cumulative["main"][:2], (612300 + self.vector, 301))
        self.assertEqual(found.own["remember"][:2], (STRINGS + 7200, 200))
        self.assertEqual(found.own["leakOne"][:2], (100000, 100))
        self.assertNotIn("churn", found.own)

    def test_live_in_event_51(self):
        found = self.printed(when="@EV.51")
        self.assertEqual(found.counter, "MEM_LIVE")
        self.assertEqual(found.own["remember"][:2], (EVENT_51 + 51 * 72, 102))
        self.assertEqual(found.own["leakOne"][:2], (51000, 51))
        self.assertEqual(found.own["fill"][:2], (4096, 1))

    def test_live_at_exit(self):
        found = self.printed("--leaks")
        self.assertEqual(found.cumulative["main"][:2], (100000 + self.vector, 101))
        self.assertEqual(found.own["leakOne"][:2], (100000, 100))
        self.assertNotIn("remember", found.own)

    def test_the_largest_blocks(self):
        found = self.printed("--counter", "MEM_MAX")
        self.assertEqual(found.counter, "MEM_MAX")
        self.assertEqual(found.cumulative["<spontaneous>"][:2], (POOL, 101402))
        largest = {"churn": 299 + 1, "makeHit": 64, "fill": 4096,
                   "remember": 100 * 100 + 1, "leakOne": 1000, "main": 16}
        for name, size in largest.items():
            self.assertEqual(found.own[name][:2], (size, MADE[name][1]), name)
        self.assertEqual(found.cumulative["main"][0], 10001)

    def test_live_at_the_true_peak(self):
        """It is in event 100, after all its hits were made: 500 hits and the vector, with
        the strings and leaks of the events before."""
        found = self.printed()
        summary = self.run_of.report()["summary"]
        self.assertEqual(found.counter, "MEM_LIVE_PEAK")
        self.assertEqual(found.cumulative["<spontaneous>"][:2],
                         (summary["peak_bytes"], summary["peak_blocks"]))
        self.assertEqual(found.own["makeHit"][:2], (500 * 64, 500))
        self.assertEqual(found.own["fill"][:2], (4096, 1))
        self.assertIn(found.own["leakOne"][:2], ((99000, 99), (100000, 100)))

    def test_callers_and_callees_add_up(self):
        for options in (["--total"], ["--leaks"], ["--peak"], ["--total", "--no-fold"]):
            found = self.printed(*options)
            total = number(found.entries[0][1][3])
            self.assertEqual([int(entry[1][1].strip("[]")) for entry in found.entries],
                             list(range(1, len(found.entries) + 1)))
            for callers, function, callees in found.entries:
                inside = number(function[4]) + number(function[5])
                self.assertEqual(number(function[3]), inside)
                self.assertEqual(sum(number(line[4]) for line in callees),
                                 number(function[5]))
                if function[8] != "<spontaneous>":
                    self.assertEqual(sum(number(line[4]) for line in callers),
                                     number(function[3]))
                    self.assertEqual(sum(number(line[6]) for line in callers),
                                     number(function[6]))
                self.assertAlmostEqual(float(function[2]),
                                       100 * number(function[3]) / total, delta=0.051)

    def test_data_are_those_of_the_text(self):
        found = self.printed("--total")
        data = self.run_of.report("--total", "--gprof")
        self.assertEqual((data["shape"], data["counter"]), ("gprof", "MEM_TOTAL"))
        rows = {row["rank"]: row for row in data["rows"]}
        for callers, function, callees in found.entries:
            row = rows[int(function[1].strip("[]"))]
            self.assertEqual((row["inclusive_bytes"], row["bytes"],
                              row["inclusive_calls"]),
                             (number(function[3]), number(function[4]),
                              number(function[6])))
            for lines, key in ((callers, "callers"), (callees, "callees")):
                self.assertEqual([(int(line[9]), number(line[4]), number(line[6]))
                                  for line in lines],
                                 [(edge["rank"], edge["bytes"], edge["calls"])
                                  for edge in row[key]])
        table = subprocess.run([tide.TIDEMARK, "report", "--gprof", "--total", "--csv",
                                self.run_of.trace], capture_output=True, text=True,
                               timeout=300, check=True).stdout.splitlines()
        self.assertEqual(len(table), len(rows) + 1)
        self.assertTrue(table[2].startswith("2,1600,100,"), table[2])

    def test_what_cannot_be_asked_is_said(self):
        for words, why in ((["--counter", "MEM_MAX", "--thread", "x"], "MEM_MAX is of"),
                           (["--counter", "MEM_MAX", "--size", "1K.."], "MEM_MAX is of"),
                           (["--counter", "MEM_MAX", "--live-at", "1"], "MEM_MAX is of"),
                           (["--counter", "MEM_LIVE", "--total"], "--counter says"),
                           (["--gprof", "--flat"], "one shape"),
                           (["--counter", "PERF_TICKS"], "MEM_TOTAL")):
            done = subprocess.run([tide.TIDEMARK, "report", self.run_of.trace, *words],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
