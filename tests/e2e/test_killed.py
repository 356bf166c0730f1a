"""tests/e2e/test_killed.py - what was recorded outlives the target, and the collector."""
import os
import random
import signal
import struct
import subprocess
import tempfile
import time

import tide

KILLS = 50
seed = int(os.environ.get("TIDEMARK_SEED", random.randrange(1 << 30)))
rng = random.Random(seed)


def read_words(path):
    with open(path, "rb") as file:
        return struct.unpack("<512Q", file.read(4096))


def find_target(parent):
    """The pid of the program that `tidemark run` (PARENT) started."""
    path = f"/proc/{parent}/task/{parent}/children"
    for _ in range(2000):
        with open(path, encoding="ascii") as file:
            children = file.read().split()
        for child in children:
            try:
                if os.readlink(f"/proc/{child}/exe").endswith("count_in_page"):
                    return int(child)
            except OSError:
                pass
        time.sleep(0.001)
    raise AssertionError("the target did not start")


def start(folder, *words):
    trace, page = os.path.join(folder, "t.tide"), os.path.join(folder, "page")
    parent = subprocess.Popen(
        [tide.TIDEMARK, "run", "-q", "--no-stacks", "-o", trace, "--",
         tide.program("count_in_page"), page, *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return parent, trace, page


class Killed(tide.Case):
    def kill_target(self, threads):
        folder = tempfile.mkdtemp(prefix="tide-kill-")
        parent, trace, page = start(folder, str(threads))
        target = find_target(parent.pid)
        time.sleep(rng.uniform(0.0, 0.08))
        os.kill(target, signal.SIGKILL)
        parent.wait(timeout=60)
        parent.stderr.close()
        self.assertEqual(parent.returncode, -signal.SIGKILL)
        if not os.path.exists(page) or os.path.getsize(page) < 4096:
            return 0
        words = read_words(page)
        calls, frees = sum(words[0:64:2]), sum(words[1:64:2])
        result = tide.report(trace)
        summary = result["summary"]
        place = f"seed {seed}, {threads} threads, {calls} calls, {frees} frees: {summary}"
        self.assertGreaterEqual(summary["alloc_calls"], calls, place)
        self.assertGreaterEqual(summary["free_calls"], frees, place)
        # Not more than one call each beyond what was counted, and libc's own few.
        self.assertLessEqual(summary["alloc_calls"], calls + 2 * threads + 1, place)
        self.assertLessEqual(summary["free_calls"], frees + threads, place)
        self.whole(result)
        return calls

    def test_50_kills_of_the_target_lose_nothing(self):
        counted = sum(self.kill_target(1 + i % 4) for i in range(KILLS))
        self.assertGreater(counted, 10000)

    def test_killed_together_with_the_collector_it_keeps_all_but_a_second(self):
        for _ in range(3):
            folder = tempfile.mkdtemp(prefix="tide-kill-")
            parent, trace, page = start(folder, "1", "2000")
            target = find_target(parent.pid)
            time.sleep(rng.uniform(1.5, 2.5))
            os.kill(parent.pid, signal.SIGKILL)
            os.kill(target, signal.SIGKILL)
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            parent.wait(timeout=60)
            parent.stderr.close()
            words = read_words(page)
            log = [(words[i], words[i + 1]) for i in range(256, 256 + 240, 2)]
            old = [count for when, count in log if when and now - when > 1_000_000_000]
            result = tide.report(trace)
            self.assertFalse(result["honesty"]["complete"])
            self.assertTrue(old, "the log holds nothing that is a second old")
            self.assertGreaterEqual(result["summary"]["alloc_calls"], max(old),
                                    f"seed {seed}")


if __name__ == "__main__":
    tide.main()
