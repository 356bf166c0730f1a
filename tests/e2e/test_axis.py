"""tests/e2e/test_axis.py - moments counted in events and bytes, of a program that does as it
is told: a3x100 keeps 3 blocks of 100 bytes, t2x64 makes and frees 2 of 64, z600 sleeps."""
import functools
import os
import shutil
import subprocess
import tempfile

import tide

FOLDER = tempfile.mkdtemp(prefix="tide-axis-")


def tearDownModule():
    shutil.rmtree(FOLDER, ignore_errors=True)


@functools.lru_cache(maxsize=None)
def record(*words):
    trace = os.path.join(FOLDER, "-".join(words) + ".tide")
    subprocess.run([tide.TIDEMARK, "run", "-q", "-o", trace, "--", tide.program("alters"),
                    *words], check=True, timeout=120, capture_output=True)
    return trace


def along(trace, axis, *options):
    return tide.report(trace, "--time", axis, *options)


def live(trace, axis, place):
    found = along(trace, axis, "--live-at", str(place))
    return found["total_bytes"]


class Moments(tide.Case):
    words = ("a4x100", "t3x64", "b2x1000")
    steps = [100] * 4 + [64, -64] * 3 + [1000] * 2

    def begin(self, trace):
        """How many events come before those of the words."""
        events = tide.report(trace)["honesty"]["events"]
        levels = [live(trace, "events", i) for i in range(events + 1)]
        self.assertEqual(levels[0], 0)
        self.assertEqual(levels[-1], tide.report(trace)["summary"]["live_bytes"])
        done = subprocess.run([tide.TIDEMARK, "report", "--time", "events", "--live-at",
                               str(events + 1000), trace], timeout=60, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"the run ended after {events} events, before {events + 1000}",
                      done.stderr)
        changes = [after - before for before, after in zip(levels, levels[1:])]
        at, = [i for i in range(len(changes))
               if changes[i:i + len(self.steps)] == self.steps]
        return at

    def test_every_event_is_a_moment(self):
        trace = record(*self.words)
        at = self.begin(trace)
        births = [along(trace, "events", "--between", "0", str(at + i), "--total")
                  ["total_calls"] for i in range(len(self.steps) + 1) if at + i]
        expected = [sum(step > 0 for step in self.steps[:i])
                    for i in range(len(self.steps) + 1)]
        if not at:
            expected = expected[1:]
        self.assertEqual([birth - births[-1] for birth in births],
                         [birth - expected[-1] for birth in expected])

    def test_bytes_are_those_allocated(self):
        trace = record(*self.words)
        whole = tide.report(trace)["summary"]
        end = whole["allocated_bytes"]
        before = end - 4 * 100 - 3 * 64 - 2 * 1000
        base = live(trace, "bytes", before)
        for place, more in ((0, 0), (1, 100), (100, 100), (101, 200), (400, 400),
                            (401, 464), (465, 464), (400 + 192, 464), (593, 1400),
                            (2592, 2400)):
            self.assertEqual(live(trace, "bytes", before + place), base + more, place)

    def test_mistakes(self):
        trace = record(*self.words)
        for words in (["--time", "events", "--live-at", "0.5"],
                      ["--time", "events", "--age", "1..", "--leaks"],
                      ["--time", "miles"], ["--live-at", "many"]):
            done = subprocess.run([tide.TIDEMARK, "report", trace, *words], timeout=60,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, words)


class Curves(tide.Case):
    def test_two_runs_lie_over_each_other(self):
        fast = record("a50x1000", "t500x64", "a50x1000")
        slow = record("a50x1000", "z300", "t500x64", "z300", "a50x1000")
        for axis in ("events", "bytes"):
            one, other = (along(trace, axis, "--peak", "--flat")["timeline"]
                          for trace in (fast, slow))
            self.assertEqual(one["axis"], axis)
            self.assertEqual(one, other)
            self.assertEqual(max(one["highest_bytes"]),
                             tide.report(fast)["summary"]["peak_bytes"])
            self.assertEqual(len(one["highest_bytes"]), 240)
        seconds = [along(trace, "seconds", "--peak", "--flat")["timeline"]["highest_bytes"]
                   for trace in (fast, slow)]
        self.assertNotEqual(*seconds)

    def test_lengths_are_those_of_the_summary(self):
        trace = record("a50x1000", "t500x64", "a50x1000")
        whole = tide.report(trace)
        self.assertEqual(along(trace, "events")["timeline"]["length"],
                         whole["honesty"]["events"])
        self.assertEqual(along(trace, "bytes")["timeline"]["length"],
                         whole["summary"]["allocated_bytes"])
        self.assertNotIn("timeline", whole)


if __name__ == "__main__":
    tide.main()
