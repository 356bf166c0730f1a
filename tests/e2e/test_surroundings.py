"""tests/e2e/test_surroundings.py - a hostile home: limits, missing folders, full disks.

Each case runs a program plain and recorded in the same surroundings.  Its output and
status must be the same, the trace readable, what is missing said, and nothing left.
"""
import json
import os
import shutil
import subprocess
import tempfile
import time

import tide

STEADY = tide.program("steady")


def processes_with(word):
    """Pids whose environment or command line holds WORD."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        for name in ("environ", "cmdline"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    if word.encode() in file.read():
                        found.append(int(pid))
            except OSError:
                pass
    return found


def can_unshare():
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return os.geteuid() == 0 and done.returncode == 0


class Home(tide.Case):
    """A folder and a runtime folder of the test's own, and what is left in them."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tide-home-")
        self.runtime = tempfile.mkdtemp(prefix="tide-rt-")
        self.trace = os.path.join(self.folder, "t.tide")
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.runtime)

    def tearDown(self):
        self.nothing_is_left()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.runtime, ignore_errors=True)

    def nothing_is_left(self):
        end = time.monotonic() + 20
        while os.listdir(self.runtime) or processes_with(self.runtime):
            if time.monotonic() > end:
                self.fail(f"left: {os.listdir(self.runtime)} "
                          f"{processes_with(self.runtime)}")
            time.sleep(0.02)
        shared = [n for n in os.listdir("/dev/shm") if "tidemark" in n]
        self.assertEqual(shared, [])

    def words(self, *argv, options=("-q",)):
        if os.path.lexists(self.trace):
            os.unlink(self.trace)
        return [tide.TIDEMARK, "run", *options, "-o", self.trace, "--", *argv]

    def call(self, argv, **more):
        more.setdefault("env", self.env)
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(argv, capture_output=True, text=True, check=False,
                              timeout=120, **more)

    def in_shell(self, script, argv, shell="sh", **more):
        """Run ARGV after the lines of SCRIPT, which set the surroundings up."""
        return self.call([shell, "-c", script + '\nexec "$@"', shell, *argv], **more)

    def same(self, plain, recorded):
        self.assertEqual((recorded.returncode, recorded.stdout),
                         (plain.returncode, plain.stdout), recorded.stderr)

    def both(self, script, *argv, options=("-q",), **more):
        """Plain and recorded by SCRIPT; the recorded one, and the report of its trace."""
        plain = self.in_shell(script, argv, **more)
        recorded = self.in_shell(script, self.words(*argv, options=options), **more)
        self.same(plain, recorded)
        self.assertEqual(plain.returncode, 7, plain.stderr)
        return recorded, tide.report(self.trace, "--total", "--flat")

    def trouble(self):
        return tide.report(self.trace)["honesty"]["troubles"]


class BeforeStart(Home):
    """The surroundings are set before `tidemark run` starts."""

    def complete(self, script, **more):
        _, result = self.both(script, STEADY, "2000", **more)
        self.whole(result)
        self.assertEqual(result["summary"]["alloc_calls"], 2000)
        self.assertEqual(result["summary"]["free_calls"], 1800)

    def test_folders_and_variables_that_are_missing(self):
        for script in ("unset HOME", "unset TMPDIR XDG_RUNTIME_DIR HOME PATH",
                       "export TMPDIR=/no/such XDG_RUNTIME_DIR=/neither",
                       "export XDG_RUNTIME_DIR= TMPDIR=",
                       "export XDG_RUNTIME_DIR=not/absolute",
                       "export XDG_RUNTIME_DIR=/proc TMPDIR=/proc/self"):
            with self.subTest(script=script):
                self.complete(script)

    def test_no_environment_at_all(self):
        argv = ["env", "-i", STEADY, "2000"]
        plain = self.call(argv)
        recorded = self.call(["env", "-i", *self.words(STEADY, "2000")])
        self.same(plain, recorded)
        self.whole(tide.report(self.trace))

    def test_a_folder_that_is_gone(self):
        gone = os.path.join(self.folder, "gone")
        self.complete(f"mkdir {gone}; cd {gone}; rmdir {gone}")

    def test_a_limit_on_descriptors(self):
        # 3 are not enough for the loader of any program, nor 4 for us.
        for limit in (4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 20):
            with self.subTest(limit=limit):
                script = f"ulimit -n {limit}"
                plain = self.in_shell(script, [STEADY, "2000"])
                self.assertEqual(plain.returncode, 7)
                recorded = self.in_shell(script, self.words(STEADY, "2000"))
                if recorded.returncode == 1:
                    self.assertRegex(recorded.stderr,
                                     r"\Atidemark: .*Too many open files\n\Z")
                    self.assertEqual((recorded.stdout, os.listdir(self.folder)), ("", []))
                    self.assertLess(limit, 16)
                    continue
                self.same(plain, recorded)
                result = tide.report(self.trace)
                if result["summary"]["alloc_calls"] == 0:
                    self.assertIn("Too many open files", self.trouble()[0])
                    self.assertLess(limit, 16)
                else:
                    self.whole(result)
                    self.assertEqual(result["summary"]["alloc_calls"], 2000)

    def test_a_soft_limit_on_descriptors_is_no_limit_for_us(self):
        self.complete("ulimit -S -n 6")  # as many as the recorder needs

    def test_the_program_keeps_its_limits(self):
        script = "ulimit -S -n 100; ulimit -S -c 0; ulimit -S -s 4096"
        argv = ["bash", "-c", "ulimit -a; exit 7"]
        self.both(script, *argv)

    def test_small_limits_of_other_kinds(self):
        for script in ("ulimit -l 0", "ulimit -s 256", "ulimit -d 20000", "ulimit -c 0",
                       "ulimit -q 0", "ulimit -i 0", "ulimit -x 0"):
            with self.subTest(script=script):
                self.complete(script, shell="bash")

    def test_closed_standard_descriptors(self):
        for closing in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-",
                        "<&- >&- 2>&-"):
            for options in (("-q",), ()):
                with self.subTest(closing=closing, options=options):
                    self.closed(closing, options)

    def closed(self, closing, options):
        texts = []
        opens = [tide.program("opens_lowest"), self.folder]
        for argv in (opens, self.words(*opens, options=options)):
            done = self.in_shell(f"exec {closing}", argv)
            self.assertEqual(done.returncode, 7)
            texts.append([])
            for i in range(3):
                with open(os.path.join(self.folder, str(i)), encoding="ascii") as file:
                    texts[-1].append(file.read())
        self.assertEqual(texts[1], texts[0])
        result = tide.report(self.trace)
        self.whole(result)
        self.assertEqual(result["summary"]["alloc_calls"], 50000)


class InTheProgram(Home):
    """The surroundings are set by a shell that is recorded, for what it executes."""

    def check(self, script, *argv):
        """The report, and what could not be recorded."""
        plain = self.in_shell(script, argv)
        recorded = self.call(self.words("sh", "-c", script + '\nexec "$@"', "sh", *argv,
                                        options=()))
        self.same(plain, recorded)
        self.assertEqual(plain.returncode, 7)
        return recorded.stderr, tide.report(self.trace, "--total", "--flat")

    def test_a_limit_on_descriptors_is_kept_and_said(self):
        for limit, enough in ((4, False), (5, False), (6, True), (7, True)):
            with self.subTest(limit=limit):
                said, result = self.check(f"ulimit -n {limit}", STEADY, "2000")
                calls = {r["function"]: r["calls"] for r in result["rows"]}
                self.assertEqual(calls.get("make", 0), 2000 if enough else 0)
                trouble = self.trouble()
                if enough:
                    self.assertEqual(trouble, [])
                else:
                    self.assertEqual(len(trouble), 1)
                    self.assertRegex(trouble[0], r"steady\) was not recorded: it could "
                                                 r"not take its shared memory")
                    self.assertIn("not all was recorded: 1 process was missed", said)

    def test_no_descriptor_of_ours_is_left_in_the_program(self):
        for limit in (4, 5, 6, 100):
            with self.subTest(limit=limit):
                texts = []
                argv = ["sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh",
                        tide.program("opens_lowest"), self.folder]
                for words in (argv, self.words(*argv)):
                    self.call(words)
                    with open(os.path.join(self.folder, "0"), encoding="ascii") as file:
                        texts.append(file.read())
                self.assertEqual(texts[1], texts[0])


if __name__ == "__main__":
    tide.main()
