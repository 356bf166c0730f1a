"""tests/soak/soak_round.py - one round of soak.py: soak_round.py SEED [--keep].

Its last line says as JSON what it was about.
"""
import collections
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import tide  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(tide.PROGRAMS), "soak", "soak_target")
PATIENCE = 150  # seconds for anything: far above what is needed, a hang all the same

# As enum soak_kind: the function that the report names, and in which space.
KINDS = (("soak_malloc", "heap"), ("soak_calloc", "heap"), ("soak_realloc", "heap"),
         ("soak_reallocarray", "heap"), ("soak_memalign", "heap"),
         ("soak_posix_memalign", "heap"), ("soak_aligned_alloc", "heap"),
         ("soak_free", None), ("soak_mmap", "mmap"), ("soak_mremap", "mmap"),
         ("soak_munmap", None), ("soak_handler_mmap", "mmap"),
         ("library_one_site", "heap"), ("library_two_site", "heap"))
FREE = KINDS[7]
# Calls that handlers make while another is being recorded, by wildness.
NESTED = {False: ("soak_handler_mmap",), True: ("soak_handler_mmap", "soak_malloc")}
LARGEST = 4096  # bytes of such a call
# mremap is recorded after the call, when the old pages may be another thread's already.
UNSURE = ("soak_mremap",)
# tidemark itself runs without it.
ADD_PRELOAD = 'LD_PRELOAD="$LD_PRELOAD:$SOAK_WILD" exec "$0" "$@"'
TROUBLES = ("kill a target", "pause the collector", "end tidemark", "kill the collector")


def exe_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


class Plan:
    """What the seed says about a round, besides what the program does."""

    def __init__(self, seed):
        dice = random.Random(seed)
        self.seed = seed
        self.wild = dice.random() < 0.25
        self.options = dice.choice(([], ["--wait"]))
        self.options += dice.choice(([], [], [], ["--unwind", "fp"], ["--free-stacks"]))
        self.trouble = dice.choice(TROUBLES) if dice.random() < 1 / 3 else None
        self.delay = dice.uniform(0.0, 0.15)
        self.pause = dice.uniform(0.01, 0.5)
        self.dice = dice

    def __str__(self):
        words = (["wild"] if self.wild else []) + self.options
        return " ".join(words + ([self.trouble] if self.trouble else [])) or "plain"


class Round(tide.TidyCase):
    """See soak.py.  What went wrong is kept in a folder that the message names."""

    plan = None
    keep = False
    folder = None
    events = 0

    def runTest(self):
        self.folder = tempfile.mkdtemp(prefix=f"tide-soak-{self.plan.seed}-")
        self.trace = os.path.join(self.folder, "t.tide")
        self.counts = os.path.join(self.folder, "counts")
        plain, expected = self.run_target([])
        recorded, seen = self.run_target(
            [tide.TIDEMARK, "run", "-q", "-o", self.trace, *self.plan.options, "--"],
            self.plan.trouble)
        killed_collector = self.plan.trouble == "kill the collector"
        self.nothing_left(PATIENCE, folders=not killed_collector)
        self.compare_words(plain, recorded)
        if not self.plan.trouble or self.plan.trouble == "pause the collector":
            self.assertEqual(seen, expected, "how it ended")
        self.events = self.compare_counts(whole=not killed_collector)
        if not self.keep:
            shutil.rmtree(self.folder)

    def tearDown(self):
        pass  # said by the test itself: a killed collector leaves its folder

    # --- Running ---

    def run_target(self, prefix, trouble=None):
        with open(self.counts, "wb") as file:
            file.truncate(4096)
        folder = os.path.dirname(PROGRAM)
        env = dict(os.environ, SOAK_COUNTS=self.counts, SOAK_FOLDER=folder)
        command = [*prefix, PROGRAM, str(self.plan.seed), "r", "0"]
        if self.plan.wild:
            env["SOAK_WILD"] = tide.program("lib_toy_malloc.so")
            command = [*prefix, "/bin/sh", "-c", ADD_PRELOAD, *command[len(prefix):]]
        with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True) as process:
            if trouble:
                threading.Thread(target=self.make_trouble, args=(process,)).start()
            try:
                words = process.communicate(timeout=PATIENCE)[0]
            except subprocess.TimeoutExpired:
                left = "; ".join(self.who_is_left())
                for pid in tide.descendants(os.getpid()):
                    os.kill(pid, signal.SIGKILL)
                self.fail(f"hangs: {left}")
        return sorted(words.splitlines()), process.returncode

    def targets(self):
        """The processes of this round that run the program itself."""
        return [pid for pid in tide.descendants(os.getpid()) if exe_of(pid) == PROGRAM]

    def make_trouble(self, process):
        while process.poll() is None and not self.targets():
            time.sleep(0.001)
        time.sleep(self.plan.delay)
        victims = self.targets()
        try:
            if self.plan.trouble == "kill a target" and victims:
                os.kill(self.plan.dice.choice(victims), signal.SIGKILL)
            elif self.plan.trouble == "end tidemark" and process.poll() is None:
                os.kill(process.pid, signal.SIGTERM)
            elif self.plan.trouble == "kill the collector" and process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            elif self.plan.trouble == "pause the collector" and process.poll() is None:
                os.kill(process.pid, signal.SIGSTOP)
                time.sleep(self.plan.pause)
                os.kill(process.pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    # --- Comparing ---

    def compare_words(self, plain, recorded):
        missing = collections.Counter(plain) - collections.Counter(recorded)
        more = collections.Counter(recorded) - collections.Counter(plain)
        if self.plan.trouble == "end tidemark":
            missing.clear()  # the first process may have been ended by it
        if self.plan.trouble == "kill a target":
            missing.clear()
            killed = [line for line in more if re.search(r" (child|copy) \d+: 9$", line)]
            if len(killed) <= 1:
                more = [line for line in more if line not in killed]
        self.assertFalse(missing or more, f"printed: plain {missing}, recorded {more}")

    def compare_counts(self, whole):
        with open(self.counts, "rb") as file:
            words = struct.unpack("<512Q", file.read(4096))
        reports = {space: tide.report(self.trace, "--total", "--flat", "--no-fold",
                                      "--space", space)
                   for space in ("heap", "mmap")}
        rows = {(row["function"], space): row for space, result in reports.items()
                for row in result["rows"]}
        honesty = reports["heap"]["honesty"]
        counts = {kind: words[4 * i:4 * i + 4] for i, kind in enumerate(KINDS)}
        # Calls that a death or a jump has cut off.  What a handler did in the middle
        # of one is written at its end, so as many of those may be missing.
        if self.plan.trouble == "end tidemark" and honesty["troubles"]:
            whole = False  # it went before the last process did, and says so
        torn = sum(begun - done for begun, _, done, _ in counts.values())
        wrong = []
        for (function, space), (begun, begun_bytes, done, done_bytes) in counts.items():
            if not space:
                continue
            if not whole or function in UNSURE:
                done = done_bytes = 0
            elif torn and function in NESTED[self.plan.wild]:
                done, done_bytes = done - torn, done_bytes - torn * LARGEST
            row = rows.get((function, space), {"calls": 0, "bytes": 0})
            if not (done <= row["calls"] <= begun
                    and done_bytes <= row["bytes"] <= begun_bytes):
                wrong.append(f"{function}: recorded {row['calls']} calls with "
                             f"{row['bytes']} bytes, begun {begun} with {begun_bytes}, "
                             f"done {done} with {done_bytes}")
        self.assertFalse(wrong, "\n".join(wrong + [f"torn {torn}", str(honesty)]))
        if whole:
            self.check_honesty(honesty, torn)
            self.assertGreaterEqual(reports["heap"]["summary"]["free_calls"],
                                    counts[FREE][2] - torn, "frees")
        return honesty["events"]

    def check_honesty(self, honesty, torn):
        """Nothing lost.  A torn call may leave a number that nobody wrote: a hole, see
        docs/internals/order.md, around which frees may be mispaired; a few at the end of
        a process, any number when a jump has made it in the middle of a life."""
        most = math.inf if torn and self.plan.wild else 4 * torn
        expected = {"dropped": 0, "lost_records": 0, "complete": True}
        self.assertEqual({key: honesty[key] for key in expected}, expected, honesty)
        for key in ("reordered", "unmatched_frees", "replaced_blocks"):
            self.assertLessEqual(honesty[key], most, f"{key}, torn {torn}: {honesty}")


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    case, result = Round(), unittest.TestResult()
    case.plan, case.keep = Plan(int(sys.argv[1])), "--keep" in sys.argv
    case.run(result)
    for _, words in result.errors + result.failures:
        print(f"{words}kept: {case.folder}")
    print(json.dumps({"events": case.events, "plan": str(case.plan),
                      "trouble": case.plan.trouble is not None}))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
