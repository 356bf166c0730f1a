"""tests/e2e/test_quiet.py - what recording does while there is nothing to do, and what it
asks of the kernel while there is: counted by the kernel and by strace."""
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import tide

BUFFER = 1024       # bytes of rows between two looks of the recorder at its ring (stream.h)
ROW = 8             # the least that an event takes there


def switches(pid, kind=""):
    """How often the threads of PID came to rest: by themselves ("^voluntary_"), or at all."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        status = tide.read_of(pid, f"task/{thread}/status").decode()
        found += [int(count) for count in re.findall(kind + r"ctxt_switches:\s*(\d+)", status,
                                                   re.MULTILINE)]
    return sum(found)


def asleep_for(pid, seconds):
    """Did PID sleep all the time from now on?"""
    before = switches(pid)
    if tide.state_and_parent(pid)[0] != "S":
        return False
    time.sleep(seconds)
    return tide.state_and_parent(pid)[0] == "S" and switches(pid) == before


class Quiet(tide.TidyCase):
    def start(self, *words):
        trace = os.path.join(tempfile.mkdtemp(prefix="tide-quiet-"), "t.tide")
        collector = subprocess.Popen([tide.TIDEMARK, "run", "-q", "-o", trace, "--",
                                      tide.program("alters"), *words])
        self.addCleanup(collector.wait)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for pid in tide.descendants(collector.pid):
                if tide.read_of(pid, "comm") == b"alters\n" and asleep_for(pid, 1.2):
                    return trace, collector, pid
            time.sleep(0.01)
        self.fail("the program never came to rest")

    def test_an_idle_program_is_left_alone_and_its_collector_sleeps(self):
        trace, collector, program = self.start("a1000x100", "z6000", "a1000x100")
        before = switches(program), switches(collector.pid, "^voluntary_")
        time.sleep(2)
        after = switches(program), switches(collector.pid, "^voluntary_")
        self.assertEqual(tide.state_and_parent(program)[0], "S")
        self.assertEqual(after[0], before[0])
        # A pass every 400 ms, and a look at the RSS of a young process every 100 ms: 25.
        # With naps of 10 ms it were 220.
        self.assertLess(after[1] - before[1], 100)
        self.assertEqual(collector.wait(60), 0)
        result = tide.report(trace, "--total", "--flat")
        self.whole(result)
        rows = {row["function"]: row["calls"] for row in result["rows"]}
        self.assertEqual(rows["shore"], 2000)


def can_trace():
    """Is there strace, and may it trace here?"""
    return bool(shutil.which("strace")) and subprocess.run(
        ["strace", "-c", "-o", "/dev/null", "true"], capture_output=True,
        check=False).returncode == 0


class HandOver(tide.TidyCase):
    def calls_of(self, argv, before=()):
        """How many system calls ARGV makes, when what starts it is BEFORE."""
        counts = os.path.join(tempfile.mkdtemp(prefix="tide-quiet-"), "counts")
        subprocess.run([*before, "strace", "-f", "-c", "-o", counts, *argv], check=True,
                       timeout=120)
        with open(counts, encoding="utf-8") as file:
            return {words[-1]: int(words[3]) for words in map(str.split, file)
                    if len(words) > 4 and words[3].isdigit()}

    @unittest.skipUnless(can_trace(), "system calls cannot be traced here")
    def test_a_buffer_is_handed_over_without_a_system_call(self):
        argv = [tide.program("alters"), "t1000000x64"]
        trace = os.path.join(tempfile.mkdtemp(prefix="tide-quiet-"), "t.tide")
        plain = self.calls_of(argv)
        recorded = self.calls_of(argv, [tide.TIDEMARK, "run", "-q", "-o", trace, "--"])
        events = tide.report(trace)["honesty"]["events"]
        self.assertGreaterEqual(events, 2_000_000)
        self.assertGreater(recorded["total"], plain["total"])
        self.assertLess(recorded["total"] - plain["total"], events * ROW // BUFFER // 8,
                        recorded)


if __name__ == "__main__":
    tide.main()
