"""tests/e2e/test_totals.py - info says how much there is without reading it."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import tide

EVENTS, END = 1, 4
SUMMED = ("alloc_calls", "free_calls", "allocated_bytes")


def chunks(path):
    """(offset, kind, stored bytes, sequence) of every chunk."""
    with open(path, "rb") as file:
        image = file.read()
    at = 64
    while at + 64 <= len(image):
        magic, kind, _flags, stored, _raw, _process, _lane, sequence = \
            struct.unpack_from("<IHHIIIII", image, at)
        if magic != 0x4b484354:
            raise ValueError(at)
        yield at, kind, stored, sequence
        at += 64 + stored


class Totals(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tide-totals-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, name, *argv):
        trace = os.path.join(self.folder, f"{name}.tide")
        subprocess.run([tide.TIDEMARK, "run", "-q", "-o", trace, "--", *argv],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=120, check=False)
        return trace

    def without_end(self, trace):
        """A copy whose end was never written: all of it has to be read."""
        copy = trace + ".cut.tide"
        shutil.copy(trace, copy)
        os.truncate(copy, next(chunk[0] for chunk in chunks(trace) if chunk[1] == END))
        return copy

    def with_garbage(self, trace):
        """A copy whose events cannot be read, but for the first chunk of each lane, which is
        looked at when a trace is opened."""
        copy = trace + ".bad.tide"
        shutil.copy(trace, copy)
        spoiled = 0
        with open(copy, "r+b") as file:
            for at, kind, stored, sequence in chunks(trace):
                if kind == EVENTS and sequence > 0:
                    file.seek(at + 64)
                    file.write(b"\xa5" * stored)
                    spoiled += stored
        self.assertGreater(spoiled, os.path.getsize(trace) * 2 / 3)
        return copy

    def check_program(self, name, *argv):
        trace = self.record(name, *argv)
        told = tide.info(trace)
        walked = tide.info(self.without_end(trace))
        self.assertFalse(walked["complete"])
        for key in ("events", "kinds", *SUMMED):
            self.assertEqual(told[key], walked[key], f"{name}: {key}")
        summary = tide.report(trace)["summary"]
        for key in SUMMED:
            self.assertEqual(told[key], summary[key], f"{name}: {key}")
        self.assertEqual(told["honesty"]["events"],
                         tide.report(trace)["honesty"]["events"])

    def test_they_are_those_of_a_walk_through_all_events(self):
        for name, arguments in (("event_loop", []), ("planted_leak_once", []),
                                ("all_calls", []), ("ground_threads", ["8", "2000"]),
                                ("odd_frees", []), ("moves_maps", []), ("paused", []),
                                ("fail_call", []), ("maps", []), ("family", [])):
            self.check_program(name, tide.program(name), *arguments)
        self.check_program("python", sys.executable, "-c",
                           "import json, mmap; m = mmap.mmap(-1, 9999); "
                           "a = [bytearray(i) for i in range(2000)]; a += a; json.dumps([1] * 9)")
        self.check_program("several", "/bin/sh", "-c", "ls / | sort | uniq; (cat /dev/null)")

    def test_nothing_of_the_events_is_read(self):
        trace = self.record("long", sys.executable, "-c",
                            "for i in range(1500000): b'x' * (1000 + i * 7919 * i % 5003)")
        garbage = self.with_garbage(trace)
        before, after = tide.info(trace), tide.info(garbage)
        for key in ("events", "kinds", "processes", "duration_s", "embedded_frames", *SUMMED):
            self.assertEqual(after[key], before[key], key)
        self.assertGreater(before["events"], 3000000)
        self.assertLess(tide.report(garbage)["honesty"]["events"], before["events"] / 2)

    def test_what_only_a_walk_tells_is_null(self):
        trace = self.record("plain", tide.program("event_loop"))
        honesty = tide.info(trace)["honesty"]
        self.assertIsNone(honesty["unmatched_frees"])
        self.assertEqual(honesty["dropped"], 0)
        self.assertEqual(tide.info(self.without_end(trace))["honesty"]["unmatched_frees"], 0)

    def test_text_says_the_same(self):
        trace = self.record("plain", tide.program("event_loop"))
        told, walked = (subprocess.run(
            [tide.TIDEMARK, "info", path], capture_output=True, text=True, timeout=60,
            check=True).stdout for path in (trace, self.without_end(trace)))
        lines = {line.split()[0]: line for line in told.splitlines() if line.strip()}
        self.assertRegex(lines["allocated"], r"allocated +[0-9.,]+ [KM]?i?B by [0-9,]+ calls")
        for word in ("allocated", "kinds"):
            self.assertIn(lines[word], walked)

    def test_names_do_not_make_the_run_longer(self):
        """What the run takes for its names is not its time."""
        trace = self.record("plain", tide.program("event_loop"))
        info = tide.info(trace)
        self.assertLess(info["duration_s"] - info["processes"][0]["end_s"], 0.02)


if __name__ == "__main__":
    unittest.main()
