"""tests/e2e/test_no_memory.py - the N-th allocation of our own fails, for every N.

tidemark says so and ends with status 1, or goes on and says what is missing; it never
crashes, and the program it has started never knows.
"""
import os
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
        self.assertEqual(done.returncode, 1, place)
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
        self.readers("report", most=240, step=5)

    def test_info(self):
        self.readers("info", "--json", most=160, step=4)


if __name__ == "__main__":
    tide.main()
