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

    def test_the_next_run_clears_up_behind_a_killed_collector(self):
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, TMPDIR=folder)
            env.pop("XDG_RUNTIME_DIR", None)
            argv = [tide.TIDEMARK, "run", "-q", "-o", os.path.join(folder, "t"), "--"]
            with subprocess.Popen([*argv, "sleep", "2"], env=env) as first:
                while not any(os.path.exists(os.path.join(folder, name, "collector"))
                              for name in os.listdir(folder)):
                    time.sleep(0.01)
                subprocess.run([*argv, "true"], env=env, check=True)
                self.assertEqual(len([n for n in os.listdir(folder) if "-" in n]), 1)
                first.kill()
            subprocess.run([*argv, "true"], env=env, check=True)
            self.assertEqual([n for n in os.listdir(folder) if "-" in n], [])


class NotSeenToExit(tide.Case):
    """Nobody tells us of a signal that kills what we did not start; who exits says so."""

    @staticmethod
    def words(*argv):
        return subprocess.run([tide.TIDEMARK, *argv], capture_output=True, text=True,
                              check=False).stdout

    def leaks(self, trace):
        return [found for found in tide.report(trace)["findings"]
                if found["kind"].startswith("leak")]

    def alone(self, folder, how):
        """The trace of `endings HOW`, with LD_PRELOAD and nothing else."""
        env = dict(os.environ, LD_PRELOAD=os.environ["TIDEMARK_LIBRARY"], TMPDIR=folder,
                   COUNTS=os.path.join(folder, "counts"))
        for name in ("TIDEMARK_SESSION", "XDG_RUNTIME_DIR"):
            env.pop(name, None)
        subprocess.run([tide.program("endings"), how], env=env, cwd=folder, check=False)
        for _ in range(200): # it is finished behind the program's back
            names = [n for n in os.listdir(folder) if n.endswith(".tide")]
            traces = [os.path.join(folder, name) for name in names]
            if traces and tide.report(traces[0])["honesty"]["complete"]:
                return traces[0]
            time.sleep(0.05)
        raise AssertionError("no trace")

    def test_is_not_called_a_leak(self):
        for how in ("kill", "segv", "exit_group"):
            with tempfile.TemporaryDirectory() as folder:
                trace = self.alone(folder, how)
                self.assertEqual(self.leaks(trace), [], how)
                self.assertIn("600 blocks still held when it ended, not seen to exit\n",
                              self.words("report", trace))
                verdict = self.words("check", "--max-leak", "0", trace)
                self.assertIn("(still held by a process not seen to exit)",
                              " ".join(verdict.split()))

    def test_who_exits_leaks(self):
        for how in ("return", "exit", "_exit", "thread", "pthread_exit"):
            with tempfile.TemporaryDirectory() as folder:
                trace = self.alone(folder, how)
                self.assertIn("blocks never freed\n", self.words("report", trace), how)
                self.assertNotIn("seen to exit",
                                 self.words("check", "--max-leak", "0", trace), how)

    def test_of_two_processes_one_is_to_blame(self):
        killed = f"{tide.program('endings')} term; true"
        blamed = []
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, COUNTS=os.path.join(folder, "counts"))
            for before in ("", f"{tide.program('planted_leak_growing')}; "):
                run = tide.Recorded(["/bin/sh", "-c", before + killed], env=env)
                text = self.words("report", run.trace)
                self.assertIn("never freed, or still held by processes not seen to exit",
                              " ".join(text.split()))
                blamed.append([found["kind"] for found in self.leaks(run.trace)])
        self.assertEqual(blamed, [[], ["leak_growing"]])


if __name__ == "__main__":
    tide.main()
