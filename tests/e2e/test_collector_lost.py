"""tests/e2e/test_collector_lost.py - the collector is stopped or killed at any moment.

The program ends as without it and in bounded time, what was recorded before is readable,
and as far as the collector lives to tell, every event is recorded or counted as dropped.
"""
import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tide

REPETITIONS = 20
seed = int(os.environ.get("TIDEMARK_SEED", random.randrange(1 << 30)))

CALLS, FREED, CHILDREN = 200000, 180000, 10
ARGV = [tide.program("steady"), str(CALLS), "2000", str(CHILDREN)]
TEXT = f"made {CALLS} freed {FREED} children {CHILDREN}\n"
EVENTS = CALLS + FREED + 10 * CHILDREN


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise AssertionError("it did not happen in time")


class Run:
    """A `tidemark run` of which the collector can be hit, its program known by pid."""

    def __init__(self, argv, **more):
        self.folder = tempfile.mkdtemp(prefix="tide-lost-")
        self.runtime = os.path.join(self.folder, "run")
        os.mkdir(self.runtime, 0o700)
        self.trace = os.path.join(self.folder, "t.tide")
        self.out = open(os.path.join(self.folder, "out"), "a+", encoding="ascii")
        env = dict(os.environ, XDG_RUNTIME_DIR=self.runtime)
        self.process = subprocess.Popen(
            [tide.TIDEMARK, "run", "-q", "-o", self.trace, "--", *argv], env=env,
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT, **more)
        self.target = wait_for(self.find_target)

    def find_target(self):
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children",
                      encoding="ascii") as file:
                for child in file.read().split():
                    if not os.readlink(f"/proc/{child}/exe").endswith("/tidemark"):
                        return int(child)
        except OSError:
            pass
        return None

    def hit(self, number):
        os.kill(self.process.pid, number)

    def stop(self):
        """Stop the collector: a signal is sent sooner than all threads have come to rest."""
        self.hit(signal.SIGSTOP)
        tasks = os.listdir(f"/proc/{self.process.pid}/task")
        wait_for(lambda: all(state_of(f"{self.process.pid}/task/{task}") == "T"
                             for task in tasks))

    def target_ends(self):
        """Wait until the program is a zombie, or was reaped by somebody."""
        wait_for(lambda: state_of(self.target) in (None, "Z", "X"))

    def text(self):
        self.out.seek(0)
        return self.out.read()

    def close(self):
        self.out.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Lost(tide.Case):
    def one(self, number):
        dice = random.Random(seed * 1000 + number)
        kind = ("short", "long", "for ever", "killed")[number % 4]
        run = Run(ARGV)
        place = f"seed {seed}, number {number}, {kind}"
        try:
            time.sleep(dice.uniform(0.0, 0.35))
            begin = time.monotonic()
            if kind == "killed":
                run.hit(signal.SIGKILL)
                run.process.wait(timeout=60)
            else:
                run.hit(signal.SIGSTOP)
            if kind == "short":
                time.sleep(1.0)
            else:
                run.target_ends()
            self.assertLess(time.monotonic() - begin, 30, place)
            if kind == "for ever":
                run.hit(signal.SIGKILL)
            elif kind != "killed":
                run.hit(signal.SIGCONT)
            self.check(run, kind, place)
        finally:
            run.close()
        return kind

    def check(self, run, kind, place):
        status = run.process.wait(timeout=60)
        self.assertEqual(run.text(), TEXT, place)
        honesty = tide.report(run.trace)["honesty"]
        place = f"{place}: {honesty}"
        if kind in ("killed", "for ever"):
            self.assertEqual(status, -signal.SIGKILL, place)
            self.assertFalse(honesty["complete"], place)
            return
        self.assertEqual(status, 7, place)
        self.assertTrue(honesty["complete"], place)
        self.assertEqual(os.listdir(run.runtime), [], place)
        if kind == "short":
            self.assertEqual((honesty["events"], honesty["dropped"]), (EVENTS, 0), place)
        else:
            # Children that were forked after the program gave up are not known.
            made = EVENTS - 10 * CHILDREN
            seen = honesty["events"] + honesty["dropped"]
            said = " ".join(honesty["troubles"])
            if "did not wait for its collector" in said: # stopped before they had met
                self.assertEqual(seen, 0, place)
                return
            self.assertTrue(made <= seen <= EVENTS, place)
            if seen < EVENTS:
                self.assertIn("gave up", said, place)

    def test_20_collectors_stopped_or_killed(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            kinds = list(pool.map(self.one, range(REPETITIONS)))
        self.assertEqual(set(kinds), {"short", "long", "for ever", "killed"})

    def test_one_who_gives_up_at_the_start_of_a_lap_writes_no_more(self):
        """The collector has taken the ring's first bytes only, and none when it comes around."""
        calls = 20000
        run = Run([tide.program("on_signal"), str(calls)])
        try:
            wait_for(lambda: run.text() == "ready\n")
            time.sleep(1.0)
            run.stop()
            os.kill(run.target, signal.SIGUSR1)
            run.target_ends()
            run.hit(signal.SIGCONT)
            self.assertEqual(run.process.wait(timeout=60), 7)
            self.assertEqual(run.text(), f"ready\nmade {calls}\n")
            honesty = tide.report(run.trace)["honesty"]
            self.assertEqual(honesty["events"] + honesty["dropped"], 2 * calls, honesty)
            self.assertGreater(honesty["dropped"], 0, honesty)
            self.assertEqual([(drop["why"], drop["events"]) for drop in honesty["drops"]],
                             [("collector_silent", honesty["dropped"])])
            self.assertIn("gave up", " ".join(honesty["troubles"]))
        finally:
            run.close()

    def test_forks_after_the_collector_was_killed_do_not_wait(self):
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(number=number):
                run = Run([tide.program("steady"), "30000", "20000", "100"])
                time.sleep(0.2)
                begin = time.monotonic()
                run.hit(number)
                run.target_ends()
                self.assertLess(time.monotonic() - begin, 20)
                if number == signal.SIGSTOP:
                    run.hit(signal.SIGCONT)
                run.process.wait(timeout=60)
                self.assertEqual(run.text(), "made 30000 freed 27000 children 100\n")
                tide.report(run.trace)
                run.close()

    def test_programs_started_after_the_collector_was_killed_do_not_wait(self):
        script = ("i=0; while [ $i -lt 30 ]; do i=$((i+1)); /bin/true; sleep 0.01; done; "
                  "echo $i; exit 7")
        run = Run(["/bin/sh", "-c", script])
        time.sleep(0.2)
        begin = time.monotonic()
        run.hit(signal.SIGKILL)
        run.process.wait(timeout=60)
        run.target_ends()
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(run.text(), "30\n")
        tide.report(run.trace)
        run.close()

    def test_whoever_executes_programs_with_a_clean_environment_waits_once(self):
        script = ("import os, time; time.sleep(2)\n"
                  "for _ in range(300):\n"
                  "    os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)\n"
                  "print(300)")
        for number in (signal.SIGKILL, signal.SIGSTOP):
            with self.subTest(number=number):
                run = Run([sys.executable, "-S", "-c", script])
                time.sleep(1)
                begin = time.monotonic()
                run.hit(number)
                run.target_ends()
                self.assertLess(time.monotonic() - begin, 25) # not 268 times 0.2 s
                if number == signal.SIGSTOP:
                    run.hit(signal.SIGCONT)
                run.process.wait(timeout=60)
                self.assertEqual(run.text(), "300\n")
                run.close()

    def test_a_program_that_waited_in_vain_is_named_though_it_has_ended(self):
        run = Run(["sh", "-c", f"kill -STOP $PPID; exec {' '.join(ARGV)}"])
        try:
            run.target_ends()
            run.hit(signal.SIGCONT)
            self.assertEqual(run.process.wait(timeout=60), 7)
            [said] = tide.report(run.trace)["honesty"]["troubles"]
            self.assertIn("it did not wait for its collector", said)
        finally:
            run.close()

    def test_programs_started_while_it_is_stopped_wait_once(self):
        deep = tide.program("deep")
        go = os.path.join(tempfile.mkdtemp(prefix="tide-go-"), "go")
        script = (f"while [ ! -e {go} ]; do sleep 0.05; done; "
                  f"i=0; while [ $i -lt 10 ]; do i=$((i+1)); {deep} 1 10; done; echo $i; "
                  f"while [ -e {go} ]; do sleep 0.05; done; {deep} 3 33; exit 7")
        run = Run(["/bin/sh", "-c", script])
        time.sleep(0.5)
        run.hit(signal.SIGSTOP)
        begin = time.monotonic()
        with open(go, "w", encoding="ascii"):
            pass
        wait_for(lambda: run.text() == "10\n", 120)
        self.assertLess(time.monotonic() - begin, 30) # not 10 times 5 s
        run.hit(signal.SIGCONT)
        os.unlink(go)
        self.assertEqual(run.process.wait(timeout=60), 7)
        result = tide.report(run.trace, "--total", "--flat")
        calls = {row["function"]: row["calls"] for row in result["rows"]}
        self.assertEqual(calls["descend"], 33)
        missed = [line for line in result["honesty"]["troubles"]
                  if "did not wait for its collector" in line]
        self.assertEqual(len(missed), 10)
        self.assertEqual(os.listdir(run.runtime), [])
        run.close()
        os.rmdir(os.path.dirname(go))


if __name__ == "__main__":
    tide.main()
