"""tests/e2e/test_no_memory.py - the N-th allocation of our own fails, for every N.

tidemark says so and ends with status 1, or goes on and says what is missing; it never
crashes, and the program it has started never knows.
"""
import errno
import json
import os
import re
import shutil
import subprocess
import tempfile

import tide

LIBRARY = os.path.join(tide.PROGRAMS, "lib_fail_nth.so")
STEADY = [tide.program("steady"), "3000", "0", "1"]
TEXT = "made 3000 freed 2700 children 1\n"


class NoMemory(tide.TidyCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="tide-memory-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def call(self, argv, nth, every, **more):
        env = dict(os.environ, LD_PRELOAD=LIBRARY, FAIL_NTH=str(nth))
        if every:
            env["FAIL_ALL"] = "1"
        return subprocess.run(argv, env=env, capture_output=True, text=True, check=False,
                              timeout=60, **more)

    def said(self, done, place):
        """It failed and said so, in one line each."""
        self.assertIn(done.returncode, (1, 126), place) # 126: could not be started
        self.assertRegex(done.stderr, r"\A(tidemark: [^\n]+\n)+\Z", place)

    def one_run(self, nth, every):
        trace = os.path.join(self.folder, "t.tide")
        done = self.call([tide.TIDEMARK, "run", "-o", trace, "--", *STEADY], nth, every)
        place = f"call {nth}, every later one: {every}: {done}"
        left = os.path.exists(trace)
        if done.stdout == "" and not left:
            self.said(done, place)
            return False
        self.assertEqual((done.returncode, done.stdout), (7, TEXT), place)
        honesty = tide.report(trace)["honesty"]
        whole = honesty["events"] == 5710 and honesty["dropped"] == 0
        self.assertTrue(whole or honesty["troubles"] or honesty["dropped"] or
                        not honesty["complete"], f"{place}: {honesty}")
        os.unlink(trace)
        return whole

    def test_run(self):
        # The environment is copied word by word: a short one leaves the other calls.
        for name in list(os.environ):
            if not name.startswith(("XDG_RUNTIME_DIR", "PATH")):
                self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name))
        for every, step in ((False, 1), (True, 3)):
            results = [self.one_run(nth, every) for nth in range(1, 90, step)]
            self.assertEqual(set(results), {True, False})

    def test_hands_of_the_collector(self):
        # Its third thread and those after it: what they cannot do, the second does.
        trace = os.path.join(self.folder, "t.tide")
        done = subprocess.run(
            [tide.TIDEMARK, "run", "-o", trace, "--collector-threads", "4", "--",
             tide.program("ground_threads"), "16", "25000"],
            env=dict(os.environ, LD_PRELOAD=LIBRARY, FAIL_THREAD="3"),
            capture_output=True, text=True, check=True, timeout=60)
        result = tide.report(trace, "--total", "--flat")
        honesty = result["honesty"]
        self.assertEqual((honesty["complete"], honesty["dropped"], honesty["troubles"]),
                         (True, 0, []))
        found = {row["function"]: row["calls"] for row in result["rows"]}
        for name, site in json.loads(done.stdout)["sites"].items():
            self.assertEqual(found[name], site["calls"], name)

    def readers(self, *words, most, step):
        trace = tide.Recorded(STEADY, folder=self.folder).trace
        argv = [tide.TIDEMARK, *words, trace]
        self.assertEqual(self.call(argv, 0, False).returncode, 0)
        seen = set()
        for every in (False, True):
            for nth in range(1, most, step):
                done = self.call(argv, nth, every)
                if done.returncode != 0:
                    self.said(done, f"{words}, call {nth}, every: {every}: {done}")
                seen.add(done.returncode)
        self.assertEqual(seen, {0, 1})

    def test_report(self):
        self.readers("report", most=480, step=3)

    def test_no_word_is_missing(self):
        # Once all is read and named, the report is whole, or there is none.
        trace = tide.Recorded(STEADY, folder=self.folder).trace
        argv = [tide.TIDEMARK, "report", trace]
        whole = self.call(argv, 0, False).stdout
        done = [self.call(argv, nth, False) for nth in range(1, 520)]
        failed = [nth for nth, each in enumerate(done) if each.returncode]
        for nth in range(failed[-1] - 180, failed[-1]):
            if done[nth].returncode == 0:
                self.assertEqual(done[nth].stdout, whole, f"call {nth + 1}")

    def test_stacks(self):
        for words in (("--leaks",), ("--stacks", "--json"), ("--stacks", "--csv")):
            self.readers("report", *words, most=360, step=3)

    def test_info(self):
        self.readers("info", "--json", most=160, step=4)


class Recorder(tide.TidyCase):
    """The same in the program: the recorder's own system calls fail, one by one.

    A tracer does it, so the program is a child of the one that was started; what the
    recorder could not get it goes without.
    """

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="tide-memory-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def one(self, nth, number, argv, text):
        trace = os.path.join(self.folder, "t.tide")
        done = subprocess.run(
            [tide.TIDEMARK, "run", "-q", "-o", trace, "--", tide.program("fail_call"),
             str(nth), str(number), *argv],
            capture_output=True, text=True, check=False, timeout=60)
        place = f"call {nth}, errno {number}: {done}"
        if done.returncode == 77:
            self.skipTest("ptrace is not allowed here")
        self.assertEqual((done.returncode, done.stdout), (7, text), place)
        result = tide.report(trace, "--total", "--flat")
        self.assertTrue(result["honesty"]["complete"], place)
        made = {row["function"]: row["calls"] for row in result["rows"]}.get("make", 0)
        honesty = result["honesty"]
        calls = int(text.split()[1])
        # Who has no socket cannot even knock: nobody knows that there was a program.
        known = any(p["exe"] == argv[0] for p in tide.info(trace)["processes"])
        nameless = honesty["unresolved_frames"] and honesty["events"] >= calls
        self.assertTrue(made == calls or made + honesty["dropped"] >= calls or nameless or
                        honesty["troubles"] or (made == 0 and not known),
                        f"{place}: {made} {honesty}")
        os.unlink(trace)
        failed, counted = map(int, re.search(r"FAILED (\d+) of (\d+)", done.stderr).groups())
        return failed, counted

    def sweep(self, argv, text, step):
        for number in (errno.ENOMEM, errno.EPERM):
            nth, failed = 1, 1
            while failed and nth < 60:
                failed, _ = self.one(nth, number, argv, text)
                nth += step
            self.assertGreater(nth, 15)
        for nth in (1, 2, 3, 5, 8, 12, 16, 20, 25):
            self.one(-nth, errno.ENOMEM, argv, text)

    def test_of_one_thread(self):
        self.sweep([tide.program("steady"), "3000"], "made 3000 freed 2700 children 0\n", 1)

    def test_of_four_threads(self):
        self.sweep([tide.program("fills"), "1", "3"], "made 512 failed 0\n", 2)


if __name__ == "__main__":
    tide.main()
