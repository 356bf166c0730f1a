"""tests/e2e/test_surroundings.py - a hostile home: limits, missing folders, full disks.

Each case runs a program plain and recorded in the same surroundings.  Its output and
status must be the same, the trace readable, what is missing said, and nothing left.
"""
import collections
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import tide

STEADY = tide.program("steady")


def can_unshare():
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return os.geteuid() == 0 and done.returncode == 0


class Home(tide.TidyCase):
    """A folder of the test's own, and what is run in it."""

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="tide-home-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.trace = os.path.join(self.folder, "t.tide")

    def words(self, *argv, options=("-q",)):
        if os.path.lexists(self.trace):
            os.unlink(self.trace)
        return [tide.TIDEMARK, "run", *options, "-o", self.trace, "--", *argv]

    def call(self, argv, **more):
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

    def test_what_little_address_space_costs_is_said(self):
        partly = 0
        for kib in (14000, 16000, 18000, 20000, 1000000):
            with self.subTest(kib=kib):
                done, result = self.both(f"ulimit -v {kib}", STEADY, "60000", options=())
                checked = self.call([tide.TIDEMARK, "check", "--max-peak", "1GiB", self.trace])
                if result["summary"]["alloc_calls"] == 60000:
                    self.assertNotIn("not all was recorded", done.stderr)
                    self.assertEqual(checked.returncode, 0)
                    continue
                partly += 1
                self.assertIn("not all was recorded", done.stderr)
                self.assertIn("ulimit -v", " ".join(self.trouble()))
                self.assertEqual(checked.returncode, 1)
                text = self.call([tide.TIDEMARK, "report", self.trace]).stdout
                self.assertNotIn("nothing dropped", text)
                os.unlink(self.trace)
        self.assertGreater(partly, 0)

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


class Output(Home):
    """Where the trace shall go there is something else, or nothing any more."""

    def test_what_is_there_is_not_touched(self):
        victim = os.path.join(self.folder, "victim")
        with open(victim, "w", encoding="ascii") as file:
            file.write("precious")
        for make in (lambda: os.mkfifo(self.trace), lambda: os.mkdir(self.trace),
                     lambda: os.symlink(victim, self.trace),
                     lambda: os.symlink("/dev/full", self.trace),
                     lambda: os.symlink("nowhere", self.trace)):
            words = self.words(STEADY, "2000", options=())
            make()
            done = self.call(words)
            self.assertEqual(done.returncode, 7)
            second = os.path.join(self.folder, "t.2.tide")
            self.assertIn(f"in {second};", done.stderr)
            self.assertEqual(tide.report(second)["summary"]["alloc_calls"], 2000)
            os.unlink(second)
            if os.path.isdir(self.trace):
                os.rmdir(self.trace)
        with open(victim, encoding="ascii") as file:
            self.assertEqual(file.read(), "precious")
        self.assertFalse(os.path.lexists(os.path.join(self.folder, "nowhere")))

    def test_a_folder_that_vanishes(self):
        gone = os.path.join(self.folder, "gone")
        os.mkdir(gone)
        trace = os.path.join(gone, "t.tide")
        script = f"rm -r {gone}; exec {STEADY} 20000"
        done = self.call([tide.TIDEMARK, "run", "-o", trace, "--", "sh", "-c", script])
        self.assertEqual((done.returncode, done.stdout),
                         (7, "made 20000 freed 18000 children 0\n"))
        self.assertEqual(done.stderr, f"tidemark: {trace} was removed while it was "
                                      "written: nothing is left of it\n")

    def test_who_is_left_behind_with_closed_descriptors(self):
        deep = tide.program("deep")
        for closing in ("<&- >&- 2>&-", ">&-", "<&-"):
            script = f"exec {closing}"
            words = self.words("sh", "-c", f"(sleep 0.4; exec {deep} 3 500) & exit 7")
            self.assertEqual(self.in_shell(script, words).returncode, 7)
            self.nothing_left()
            result = tide.report(self.trace, "--total", "--flat")
            self.whole(result)
            rows = {row["function"]: row["calls"] for row in result["rows"]}
            self.assertEqual(rows.get("descend"), 500, closing)


class OwnMemory(Home):
    """What `info` says that we cost, against what was promised and what the kernel says."""

    def test_the_parts_are_told_apart(self):
        for threads in (0, 15):
            done = self.call(self.words(tide.program("fills"), "1", str(threads)))
            self.assertEqual(done.returncode, 7)
            info = tide.info(self.trace)
            honesty, [process] = info["honesty"], info["processes"]
            place = f"{threads} threads: {honesty}"
            self.assertEqual(process["recorder_bytes"], honesty["recorder_bytes"])
            own = honesty["recorder_bytes"] + honesty["ring_bytes"]
            self.assertLess(own, (4 << 20) + (threads + 1) * (1 << 19), place)
            self.assertGreater(honesty["recorder_bytes"], 1 << 20, place)
            if threads == 0:
                self.assertEqual(honesty["order_table_bytes"], 0, place)
            else:
                self.assertTrue(16 << 20 <= honesty["order_table_bytes"] < 17 << 20, place)

    def test_the_rings_are_what_the_kernel_says(self):
        script = ("import os, sys\n"
                  "for fd in os.listdir('/proc/self/map_files'):\n"
                  "  path = '/proc/self/map_files/' + fd\n"
                  "  if 'tidemark-segment' in os.readlink(path):\n"
                  "    print(os.stat(path).st_blocks * 512, flush=True)\n"
                  "    os._exit(7)\n")
        done = self.call(self.words("/usr/bin/python3", "-c", script))
        if done.returncode != 7:
            self.skipTest("/proc/self/map_files is not to be read here")
        self.assertEqual(tide.info(self.trace)["honesty"]["ring_bytes"], int(done.stdout))


class Sandbox(Home):
    def check(self, how, calls):
        argv = [tide.program("sandboxed"), how, str(calls)]
        plain, recorded = self.call(argv), self.call(self.words(*argv))
        self.same(plain, recorded)
        self.assertEqual(plain.returncode, 7)
        return tide.report(self.trace)["honesty"]

    def test_calls_that_are_refused(self):
        honesty = self.check("errno", 1000)
        self.assertEqual((honesty["events"], honesty["dropped"]), (2002, 0))
        honesty = self.check("errno", 100000)
        self.assertEqual(honesty["events"] + honesty["dropped"], 200002)

    def test_nothing_is_allowed_any_more(self):
        # Neither a system call nor the clock: what comes after is counted as lost.
        honesty = self.check("strict", 5000)
        self.assertGreater(honesty["dropped"], 0)
        self.assertEqual(len(honesty["troubles"]), 1)
        self.assertIn("strict seccomp", honesty["troubles"][0])

    def test_an_end_by_exit_makes_no_other_call(self):
        self.assertEqual(self.check("unheard", 10)["events"], 22)

    def test_mapping_is_forbidden(self):
        argv = [tide.program("maps_no_more")]
        plain, recorded = self.call(argv), self.call(self.words(*argv))
        self.same(plain, recorded)
        self.assertEqual((plain.returncode, plain.stdout), (7, "done\n"))

    def test_the_clock_is_forbidden(self):
        argv = [tide.program("no_clock")]
        plain, recorded = self.call(argv), self.call(self.words(*argv))
        self.same(plain, recorded)
        self.assertEqual((plain.returncode, plain.stdout),
                         (7, "child ended with status 7\n"))
        honesty = tide.report(self.trace)["honesty"]
        self.assertGreater(honesty["dropped"], 0)
        self.assertIn("PR_SET_TSC", honesty["troubles"][0])

    def test_calls_that_the_program_answers_itself(self):
        # By a handler of SIGSYS.  One that is held back would end it.
        honesty = self.check("trap", 100000)
        self.assertEqual(honesty["events"] + honesty["dropped"], 400003)

    def test_calls_that_kill(self):
        # Allowed is what malloc and threads need; the recorder must do with that.
        honesty = self.check("kill", 100000)
        self.assertEqual(honesty["dropped"], 0)
        self.assertGreaterEqual(honesty["events"], 400002)


class AddressSpace(Home):
    """RLIMIT_AS from where the program just runs to where everything fits."""

    def fills(self, threads):
        return [tide.program("fills"), "4", str(threads)]

    def plain_least(self, threads):
        """The lowest limit (KiB, in steps of 128) under which the program gets all."""
        low, high = 8, 1 << 12
        while high - low > 1:
            middle = (low + high) // 2
            done = self.limited(middle * 128, self.fills(threads))
            low, high = (low, middle) if done.returncode == 7 else (middle, high)
        return high * 128

    def limited(self, limit, argv):
        env = dict(os.environ, MALLOC_ARENA_MAX="1")
        return self.in_shell(f"ulimit -v {limit}", argv, env=env)

    def check(self, done, place):
        """It ended by itself, and the trace agrees with what it says it did."""
        self.assertIn(done.returncode, (7, 3, 4), place)
        result = tide.report(self.trace, "--total", "--flat")
        honesty = result["honesty"]
        self.assertTrue(honesty["complete"], place)
        rows = {row["function"]: row["calls"] for row in result["rows"]}
        if done.returncode == 4 or honesty["troubles"]:
            return
        words = done.stdout.split()
        made, failed = int(words[1]), int(words[3])
        seen = rows.get("make", 0) + result["summary"]["failed_calls"]
        self.assertEqual(seen + honesty["dropped"], made + failed, place)
        if honesty["dropped"] == 0:
            self.assertEqual(rows.get("make", 0), made, place)

    def sweep(self, threads, most, step, for_both):
        least = self.plain_least(threads)
        statuses = []
        for limit in range(least - 2 * step, least + most + 1, step):
            place = f"{threads} threads, {limit} KiB, least {least}, both: {for_both}"
            argv = self.fills(threads)
            if for_both:
                done = self.limited(limit, self.words(*argv))
                if done.returncode == 1: # too little for ourselves: refused in words
                    self.assertRegex(done.stderr, r"\Atidemark: .*\n\Z", place)
                    self.assertEqual(os.listdir(self.folder), [], place)
                    continue
            else:
                script = f'ulimit -v {limit}; exec "$@"'
                done = self.call(self.words("sh", "-c", script, "sh", *argv),
                                 env=dict(os.environ, MALLOC_ARENA_MAX="1"))
            if done.returncode not in (127,): # the loader itself had too little
                self.check(done, place + done.stderr)
            statuses.append(done.returncode)
        self.assertEqual(statuses[-1], 7, statuses)
        self.assertIn(3, statuses)

    def test_of_one_thread(self):
        self.sweep(0, 6 * 1024, 384, False)

    def test_of_four_threads(self):
        self.sweep(3, 36 * 1024, 3072, False)

    def test_of_both(self):
        self.sweep(0, 8 * 1024, 256, True)
        self.assertEqual(self.trouble(), [])

    def births_at_once(self, limit, *more):
        """How many blocks were made at one time stamp, at most; and what is said."""
        script = f'ulimit -v {limit}; exec "$@"'
        done = self.call(self.words("sh", "-c", script, "sh", tide.program("ring"), "20000",
                                    "4", "one", *more))
        self.assertEqual(done.returncode, 0, done.stderr)
        told = self.call([tide.TIDEMARK, "export", "--to", "ndjson", "--all", self.trace])
        made = [json.loads(line) for line in told.stdout.splitlines()]
        times = collections.Counter(block["birth_s"] for block in made
                                    if block["function"] == "turn_over")
        self.assertEqual(times.total(), 20000)
        return times.most_common(1)[0][1], self.trouble()

    def test_of_order(self):
        # A stamp for each KiB of rows, of which a birth has 16 bytes.  While there is one
        # thread some are left out; but without room for numbers threads have nothing else.
        self.assertGreater(self.births_at_once(400000)[0], 64)
        for limit, troubles in ((400000, 1), ("unlimited", 0)):
            with self.subTest(limit=limit):
                births, said = self.births_at_once(limit, "threads")
                self.assertLessEqual(births, 64)
                self.assertEqual(len(said), troubles, said)


class Processes(Home):
    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become a user with a limit")
    @unittest.skipUnless(tide.others_reach(STEADY), "others cannot come here")
    def test_a_limit_on_processes(self):
        os.chmod(self.folder, 0o777)
        os.chmod(self.runtime, 0o777)
        user = ["setpriv", "--reuid", "64321", "--regid", "64321", "--clear-groups"]
        for limit, status in ((1, 1), (2, 1), (3, 7)):
            with self.subTest(limit=limit):
                done = self.call(["prlimit", f"--nproc={limit}:{limit}", *user,
                                  *self.words(STEADY, "2000")])
                self.assertEqual(done.returncode, status, done.stderr)
                if status == 1:
                    self.assertRegex(done.stderr, r"\Atidemark: cannot start.*: Resource "
                                                  r"temporarily unavailable\n\Z")
                    self.assertEqual(os.listdir(self.folder), [])
        self.whole(tide.report(self.trace))


@unittest.skipUnless(can_unshare(), "needs root and mount namespaces")
class Mounts(Home):
    """A mount namespace of its own: no /proc, full file systems."""

    def apart(self, script, argv):
        return self.call(["unshare", "-m", "--propagation", "private", "sh", "-c",
                          script + '\nexec "$@"', "sh", *argv])

    def test_no_proc(self):
        script = "umount -l /proc"
        plain = self.apart(script, [STEADY, "2000", "0", "3"])
        recorded = self.apart(script, self.words(STEADY, "2000", "0", "3"))
        if recorded.returncode == 1:
            self.assertRegex(recorded.stderr, r"\Atidemark: .*/proc.*\n\Z")
            return
        self.same(plain, recorded)
        self.whole(tide.report(self.trace))

    def test_a_full_shared_memory_folder(self):
        # Rings are no files: they are charged to memory, and /dev/shm may be full.
        script = ("mount -t tmpfs -o size=64k none /dev/shm; "
                  "head -c 1000000 /dev/zero > /dev/shm/full 2>/dev/null")
        argv = [tide.program("hostile_home"), "nothing"]
        recorded = self.apart(script, self.words(*argv))
        self.assertEqual((recorded.returncode, recorded.stdout), (7, "done\n"))
        result = tide.report(self.trace)
        self.whole(result)

    def test_a_folder_that_is_read_only(self):
        script = f"mount -t tmpfs -o ro none {self.folder}"
        done = self.apart(script, self.words(STEADY, "2000"))
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", f"tidemark: {self.trace}: Read-only file system; "
                          "name another place with -o\n"))

    def test_a_full_disk(self):
        for kib in (4, 8, 16, 64, 128, 200, 333):
            with self.subTest(kib=kib):
                self.full_disk(kib)

    def full_disk(self, kib):
        small = os.path.join(self.folder, "small")
        os.makedirs(small, exist_ok=True)
        # What is in it is gone with the namespace: copy the trace out.
        script = (f"mount -t tmpfs -o size={kib}k none {small}; "
                  f'"$@"; status=$?; cp {small}/t.tide {self.trace}; exit $status')
        argv = [tide.program("count_to"), "100000"]
        plain = self.call(argv)
        words = [tide.TIDEMARK, "run", "-o", os.path.join(small, "t"), "--", *argv]
        done = self.call(["unshare", "-m", "--propagation", "private", "sh", "-c", script,
                          "sh", *words])
        self.same(plain, done)
        self.assertIn("t.tide: No space left on device; the trace ends there", done.stderr)
        result = tide.report(self.trace)
        self.assertFalse(result["honesty"]["complete"])
        self.assertIn("No space left", " ".join(result["honesty"]["troubles"]))


if __name__ == "__main__":
    tide.main()
