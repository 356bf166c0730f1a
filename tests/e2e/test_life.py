"""tests/e2e/test_life.py - fork, exec and daemons: every child harmless and counted exactly."""
import os
import signal
import subprocess
import tempfile
import time

import tide

TIMES = 20  # racy ones are repeated


def calls(result):
    """function -> calls, of a flat report of totals."""
    return {row["function"]: row["calls"] for row in result["rows"]}


class Life(tide.TidyCase):
    def record(self, *argv, options=(), status=0, **more):
        run = tide.Recorded(argv, options, **more)
        self.assertEqual((run.status, run.done.stderr), (status, ""), argv)
        return run

    def total(self, run):
        result = run.report("--total", "--flat")
        self.whole(result)
        self.assertEqual(result["honesty"]["troubles"], [])
        return result

    def assert_own_counts(self, run, result=None):
        """What the program says it made is what was recorded."""
        own = run.own_count()
        self.assertEqual(own.pop("bad"), 0)
        result = result or self.total(run)
        found = calls(result)
        self.assertEqual({who: found.get(f"{who}_makes", 0) for who in own}, own)
        return result


class Forks(Life):
    def test_forks_of_a_process_whose_threads_allocate(self):
        for _ in range(TIMES):
            result = self.assert_own_counts(self.record(tide.program("fork_busy"), "10"))
            self.assertEqual(result["summary"]["processes"], 1 + 10 + 5)

    def test_forks_in_a_handler_that_interrupted_malloc(self):
        """The child finishes the call that was interrupted, in its own name or nobody's."""
        for _ in range(TIMES):
            run = self.record(tide.program("fork_in_handler"), "50")
            own = run.own_count()
            found = calls(self.total(run))
            self.assertEqual((own["bad"], found["child_makes"]), (0, own["child"]))
            self.assertIn(found["parent_makes"], range(own["parent"], own["parent"] + 51))

    def test_every_way_to_start_a_program(self):
        processes = {"fork": 2, "vfork": 1, "spawn": 1, "system": 2, "popen": 2, "clone": 2,
                     "clone_vm": 1}
        for how, each in processes.items():
            with self.subTest(how=how):
                result = self.assert_own_counts(
                    self.record(tide.program("starts"), how, str(TIMES)))
                self.assertEqual(result["summary"]["processes"], 1 + TIMES * each)

    def test_a_child_without_room_has_that_of_its_parent(self):
        run = self.record(tide.program("starved_child"), "0")
        result = run.report("--total", "--flat")
        self.whole(result)
        self.assertEqual(result["honesty"]["troubles"], [])
        self.assert_own_counts(run, result)

    def test_a_child_that_no_room_is_left_for_is_missed_alone(self):
        run = self.record(tide.program("starved_child"), "24")
        result = run.report("--total", "--flat")
        self.whole(result)
        self.assertEqual(result["honesty"]["troubles"],
                         ["1 process was not recorded: no room for the shared memory "
                          "(is there a limit?)"])
        own, found = run.own_count(), calls(result)
        self.assertEqual((own["bad"], found["child_makes"]), (0, own["child"] * 4 // 5))

    def test_a_storm_of_forks(self):
        for _ in range(TIMES):
            run = self.record(tide.program("fork_tree"), "6")
            result = self.total(run)
            self.assertEqual(run.own_count()["bad"], 0)
            self.assertEqual(calls(result)["make"], run.own_count()["made"])
            self.assertEqual(result["summary"]["processes"], 127)
            self.assertEqual(result["honesty"]["inherited_frees"], 126)

    def test_very_many_children_in_bounded_memory(self):
        run, most = record_watched(self, "10000")
        result = self.assert_own_counts(run)
        self.assertEqual(result["summary"]["processes"], 10001)
        self.assertGreater(most["looks"], 3)
        self.assertLess(most["descriptors"], 200)  # 50 children at a time
        self.assertLess(most["kilobytes"], 32 * 1024)


def look_at(pid, most):
    """Raise MOST to what the collector PID holds now."""
    for line in tide.read_of(pid, "status").decode().splitlines():
        if line.startswith("VmRSS:"):
            most["kilobytes"] = max(most["kilobytes"], int(line.split()[1]))
            most["looks"] += 1
    try:
        most["descriptors"] = max(most["descriptors"], len(os.listdir(f"/proc/{pid}/fd")))
    except OSError:
        pass  # gone


class Finished:
    """What tide.Recorded has, of a run that was watched."""
    own_count = tide.Recorded.own_count
    report = tide.Recorded.report

    def __init__(self, trace, stdout):
        self.trace, self.stdout = trace, stdout


def record_watched(case, count):
    """Record short_children; what the collector held at most meanwhile."""
    folder = tempfile.mkdtemp(prefix="tide-e2e-")
    trace = os.path.join(folder, "t.tide")
    most = {"descriptors": 0, "kilobytes": 0, "looks": 0}
    with subprocess.Popen([tide.TIDEMARK, "run", "-q", "-o", trace,
                           tide.program("short_children"), count, "50"],
                          stdout=subprocess.PIPE, text=True) as process:
        case.addCleanup(process.kill)
        end = time.monotonic() + 250
        while process.poll() is None and time.monotonic() < end:
            look_at(process.pid, most)
            time.sleep(0.02)
        case.assertEqual(process.poll(), 0)
        return Finished(trace, process.stdout.read()), most


def text_of(run):
    """The report's words, with one blank between them."""
    return " ".join(subprocess.run([tide.TIDEMARK, "report", run.trace], text=True,
                                   capture_output=True, check=True).stdout.split())


class Execs(Life):
    def test_a_program_that_executes_itself(self):
        run = self.record(tide.program("exec_self"), "50", status=5)
        result = self.total(run)
        self.assertEqual(calls(result)["make"], 51 * 10)
        self.assertEqual(result["summary"]["processes"], 51)
        pids = {process["pid"] for process in tide.info(run.trace)["processes"]}
        self.assertEqual(pids, {int(run.stdout.split()[1])})
        self.assertIn(" in 1 process that ran 51 programs; exited with", text_of(run))

    def test_what_a_launcher_starts_is_named(self):
        run = self.record("sh", "-c", '"$1" p1x9000000; true', "sh",
                          tide.program("alters"), status=0)
        text = text_of(run)
        self.assertIn(" in 2 processes; exited with status 0", text)
        self.assertRegex(text, r"most 8\.58 MiB of the peak in alters \(pid \d+\); alone: "
                               r"report --process alters ")
        self.assertNotIn("of the peak in",
                         text_of(self.record(tide.program("alters"), status=0)))

    def test_a_chain_keeps_the_words(self):
        words = ["", "a b", "'", '"', "\\", "$HOME", "*", "\n", "\x01", "-o", "--", "ä"]
        program = tide.program("shows_itself")
        chain = ["sh", "-c", 'exec env A=1 nice -n 0 "$@"', "sh", program, *words]
        plain = subprocess.run(chain, stdout=subprocess.PIPE, text=True, check=False,
                               timeout=60).stdout
        run = self.record(*chain, status=5)

        def shown(text):
            return [line for line in text.splitlines() if line.startswith("word ")]
        self.assertEqual(len(shown(plain)), 1 + len(words))
        self.assertEqual(shown(run.stdout), shown(plain))
        programs = [os.path.basename(process["exe"])
                    for process in tide.info(run.trace)["processes"]]
        self.assertEqual(programs[1:], ["env", "nice", "shows_itself"])

    def test_setsid(self):
        run = self.record("setsid", "--wait", tide.program("family"), status=7)
        found = calls(self.total(run))
        self.assertEqual((found["parent_makes"], found["child_makes"],
                          found["second_image_makes"]), (10, 5, 3))


class Daemons(Life):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="tide-e2e-")
        self.go = os.path.join(self.folder, "go")
        self.trace = os.path.join(self.folder, "t.tide")

    def let_go(self):
        with open(self.go, "w", encoding="ascii"):
            pass

    def wait_until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.01)

    def makes(self):
        found = calls(tide.report(self.trace, "--total", "--flat"))
        return found.get("early_makes", 0), found.get("late_makes", 0)

    def test_run_returns_at_once_and_the_trace_is_complete_later(self):
        for _ in range(TIMES):
            run = self.record(tide.program("daemon"), self.go, "300", status=5)
            self.trace = run.trace
            # It runs still: the trace can be read, and says that it is not all.
            self.wait_until(lambda: self.makes() == (300, 0))
            result = tide.report(self.trace, "--total", "--flat")
            self.assertFalse(result["honesty"]["complete"])
            self.assertIn("still being recorded", result["honesty"]["problem"])
            self.let_go()
            self.wait_until(lambda: tide.info(self.trace)["complete"])
            self.whole(tide.report(self.trace))
            self.assertEqual(self.makes(), (300, 300))

    def test_wait_stays_for_the_daemon(self):
        with subprocess.Popen([tide.TIDEMARK, "run", "-q", "--wait", "-o", self.trace,
                               tide.program("daemon"), self.go, "300"]) as run:
            self.wait_until(lambda: os.path.exists(self.trace) and
                            self.makes() == (300, 0))
            self.assertIsNone(run.poll())
            self.let_go()
            self.assertEqual(run.wait(timeout=60), 5)
        self.whole(tide.report(self.trace))
        self.assertEqual(self.makes(), (300, 300))

    def test_a_killed_daemon_keeps_what_it_made(self):
        run = self.record(tide.program("daemon"), self.go, "300", status=5)
        self.trace = run.trace
        self.wait_until(lambda: self.makes() == (300, 0))
        [daemon] = [pid for pid in tide.descendants(os.getpid())
                    if b"daemon" in tide.read_of(pid, "cmdline").split(b"\0")[0]]
        os.kill(daemon, signal.SIGKILL)
        self.wait_until(lambda: tide.info(self.trace)["complete"])
        self.assertEqual(self.makes(), (300, 0))


class Surroundings(Life):
    """What a program can see of its surroundings is what it sees without us."""

    OURS = ("environment LD_PRELOAD=", "environment TIDEMARK_SESSION=")

    def shown(self, text):
        lines = [line for line in text.splitlines() if not line.startswith(self.OURS)]
        signals = [line for line in lines if line.startswith("signal ")]
        self.assertGreater(len(signals), 60)    # else little was compared
        return lines

    def compare(self, *before, **more):
        """Run plain and recorded after the words BEFORE, say what differs."""
        words = [*before, tide.program("shows_itself"), "x"]
        trace = os.path.join(tempfile.mkdtemp(prefix="tide-e2e-"), "t")
        record = [*before, tide.TIDEMARK, "run", "-q", "-o", trace, *words[len(before):]]
        plain, recorded = (
            subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           text=True, check=False, timeout=60, **more)
            for argv in (words, record))
        self.assertEqual((plain.returncode, recorded.returncode), (5, 5))
        self.assertEqual(self.shown(recorded.stdout), self.shown(plain.stdout))
        ours = [line for line in recorded.stdout.splitlines() if line.startswith(self.OURS)]
        self.assertEqual(len(ours), 2)
        return recorded.stdout

    def test_as_it_is(self):
        self.compare()

    def test_descriptors_that_were_open_stay_and_no_others_come(self):
        keep = [os.open("/dev/null", os.O_RDONLY) for _ in range(3)]
        os.lseek(keep[0], 0, os.SEEK_SET)
        shown = self.compare(pass_fds=keep)
        for fd in keep:
            self.assertIn(f"\ndescriptor {fd}: ", shown)
            os.close(fd)

    def test_signals_limits_priorities(self):
        def prepare():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD,
                                                      signal.SIGALRM})
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ,
                           signal.SIGCHLD, signal.SIGUSR2):
                signal.signal(number, signal.SIG_IGN)
            os.umask(0o27)
            os.nice(3)
        shown = self.compare("prlimit", "--nofile=200:300", "--core=0", "--stack=4194304",
                             cwd="/usr", preexec_fn=prepare)
        self.assertIn("umask 27", shown)
        self.assertIn(f"nice {os.nice(0) + 3},", shown)
        self.assertIn("folder /usr,", shown)
        self.assertIn(f"signal {signal.SIGPIPE:d}: ignored", shown)
        self.assertIn(f"signal {signal.SIGUSR1:d}: default, flags 0, blocked", shown)
        self.assertIn("limit 7: c8 12c", shown)

    def test_a_fixed_layout(self):
        self.assertIn("personality 40000", self.compare("setarch", "-R"))


class Users(Life):
    @tide.unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_program_executed_as_another_user_is_recorded(self):
        # The user must get to the library, the program and the collector.
        with tempfile.TemporaryDirectory(prefix="tide-e2e-") as folder:
            os.chmod(folder, 0o755)
            os.chmod(self.runtime, 0o711)
            for path in (tide.TIDEMARK, os.environ["TIDEMARK_LIBRARY"],
                         tide.program("family")):
                subprocess.run(["cp", path, folder], check=True)
            trace = os.path.join(folder, "t.tide")
            done = subprocess.run(
                [os.path.join(folder, "tidemark"), "run", "-q", "-o", trace, "setpriv",
                 "--reuid", "65534", "--regid", "65534", "--clear-groups",
                 os.path.join(folder, "family")],
                capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (7, ""))
            result = tide.report(trace, "--total", "--flat")
            self.whole(result)
            self.assertEqual(calls(result)["second_image_makes"], 3)


if __name__ == "__main__":
    tide.main()
