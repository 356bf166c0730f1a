"""tests/e2e/test_run.py - the life of a run: ends, signals, job control, those left behind."""
import os
import pty
import signal
import stat
import subprocess
import sys
import tempfile
import time

import tide

# What would end us if it were not for the program: hangup, interrupt, abort, user 1 and 2,
# alarm, stack fault, CPU limit, virtual alarm, profiling, power, and the first for real time.
SENT = (1, 2, 6, 10, 12, 14, 16, 24, 26, 27, 30, 34)


def wait_for(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError("it did not happen in time")


def state_of(pid):
    """The kernel's letter for the state of PID; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return None


class Run(tide.Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tide-run-")
        # A place of our own for session folders: what is left there is ours.
        self.runtime = tempfile.mkdtemp(prefix="tide-rt-")
        os.environ["XDG_RUNTIME_DIR"] = self.runtime

    def tearDown(self):
        wait_for(lambda: not os.listdir(self.runtime))

    def start(self, *argv, options=(), **more):
        return subprocess.Popen(
            [tide.TIDEMARK, "run", "-q", "-o", os.path.join(self.folder, "t"), *options,
             "--", *argv],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, **more)

    def run_it(self, *argv, options=(), **more):
        process = self.start(*argv, options=options, **more)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def trace(self, name="t.tide"):
        return os.path.join(self.folder, name)

    # --- Ends

    def test_the_exit_status_is_the_programs(self):
        for code in (0, 1, 3, 127, 255):
            self.assertEqual(self.run_it("sh", "-c", f"exit {code}")[0], code)

    def test_it_dies_of_the_programs_signal(self):
        for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGPIPE):
            self.assertEqual(self.run_it("sh", "-c", f"kill -{number:d} $$")[0], -number)

    def test_a_program_that_does_not_exist_leaves_no_trace(self):
        done = subprocess.run([tide.TIDEMARK, "run", "./no-such-program"], text=True,
                              cwd=self.folder, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (127, "", "tidemark: ./no-such-program: "
                                   "there is no such file\n"))
        done = subprocess.run([tide.TIDEMARK, "run", "/etc/passwd"], text=True,
                              cwd=self.folder, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (126, "tidemark: /etc/passwd: may not be executed "
                               "(permission denied)\n"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_script_without_a_first_line_runs_as_in_a_shell(self):
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="ascii") as file:
            file.write("echo ran; exit 4\n")
        os.chmod(script, 0o755)
        self.assertEqual(self.run_it(script)[:2], (4, "ran\n"))

    def test_output_and_environment_are_the_programs(self):
        plain = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout
        code, out, err = self.run_it("env")
        self.assertEqual((code, err), (0, ""))
        ours = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        theirs = dict(line.split("=", 1) for line in plain.splitlines() if "=" in line)
        self.assertEqual(set(ours) - set(theirs), {"LD_PRELOAD", "TIDEMARK_SESSION"})
        for key, value in theirs.items():
            if key != "_":
                self.assertEqual(ours[key], value)

    def test_it_says_where_the_trace_is_and_what_to_do(self):
        done = subprocess.run([tide.TIDEMARK, "run", "-o", "a b", "true"], text=True,
                              cwd=self.folder, capture_output=True, check=True)
        self.assertRegex(done.stderr, r"\Atidemark: [\d.,]+ (B|KiB) in a b\.tide; now: "
                                      r"tidemark report 'a b\.tide'\n\Z")

    # --- Names

    def test_a_trace_is_private_and_never_overwritten(self):
        victim = os.path.join(self.folder, "victim")
        os.symlink(victim, self.trace("t.2.tide"))
        for name in ("t.tide", "t.3.tide"):
            self.assertEqual(self.run_it("true")[0], 0)
            self.assertEqual(stat.S_IMODE(os.stat(self.trace(name)).st_mode), 0o600)
        self.assertFalse(os.path.exists(victim))

    def test_a_name_that_was_taken_is_said(self):
        """Also with -q, but only where somebody asked for a name that is not the one."""
        first, second = self.trace(), self.trace("t.2.tide")
        line = f"tidemark: {first} exists and is not overwritten: this trace is {second}\n"
        self.assertEqual(self.run_it("true"), (0, "", ""))
        self.assertEqual(self.run_it("true"), (0, "", line))
        os.unlink(second)
        done = subprocess.run([tide.TIDEMARK, "run", "-o", first, "true"], text=True,
                              capture_output=True, check=True)
        self.assertRegex(done.stderr, f"^{line}tidemark: .* in {second}; now: .*\n$")
        for _ in range(2):
            done = subprocess.run([tide.TIDEMARK, "run", "-q", "-o", "n%n", "true"],
                                  text=True, cwd=self.folder, capture_output=True, check=True)
            self.assertEqual(done.stderr, "")

    def test_names_are_filled_in(self):
        subprocess.run([tide.TIDEMARK, "run", "-q", "-o", "%e-%r-%p", "sh", "-c",
                        "echo $$ > pid"], cwd=self.folder, check=True,
                       env=dict(os.environ, OMPI_COMM_WORLD_RANK="5"))
        with open(os.path.join(self.folder, "pid"), encoding="ascii") as file:
            pid = file.read().strip()
        self.assertIn(f"sh-5-{pid}.tide", os.listdir(self.folder))

    def test_a_folder_that_is_missing_is_named(self):
        done = subprocess.run([tide.TIDEMARK, "run", "-o", "no/t", "true"], text=True,
                              cwd=self.folder, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "tidemark: no/t.tide: No such file or directory; "
                          "name another place with -o\n"))

    def test_a_device_or_a_pipe_is_no_place_for_a_trace(self):
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        for name in ("/dev/null", pipe):
            done = subprocess.run([tide.TIDEMARK, "run", "-o", name, "touch", "ran"], text=True,
                                  cwd=self.folder, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.splitlines()[0],
                             f"tidemark: -o '{name}': a trace is a file of its own, not a "
                             "device or a pipe")
            self.assertFalse(os.path.exists(f"{name}.tide"))
        self.assertEqual(os.listdir(self.folder), ["pipe"])

    # --- Signals

    def program_pid(self, process):
        path = f"/proc/{process.pid}/task/{process.pid}/children"

        def look():
            with open(path, encoding="ascii") as file:
                return file.read().split()
        return int(wait_for(look)[0])

    def test_signals_sent_to_it_reach_the_program(self):
        script = ("import os, signal, sys, time\n"
                  "def note(number, frame): os.write(1, b'%d\\n' % number)\n"
                  f"for n in {SENT}: signal.signal(n, note)\n"
                  "signal.signal(15, lambda n, f: sys.exit(9))\n"
                  "print('ready', flush=True)\n"
                  "for _ in range(2000): time.sleep(0.01)\n")
        process = self.start(sys.executable, "-c", script)
        self.assertEqual(process.stdout.readline(), "ready\n")
        for number in SENT:
            os.kill(process.pid, number)
            self.assertEqual(process.stdout.readline(), f"{number}\n")
        os.kill(process.pid, 15)
        self.assertEqual(process.communicate(timeout=30), ("", ""))
        self.assertEqual(process.returncode, 9)
        self.assertTrue(tide.report(self.trace())["honesty"]["complete"])

    def test_an_alarm_that_was_set_before_is_the_programs(self):
        process = self.start("sleep", "20", preexec_fn=lambda: signal.alarm(1))
        self.assertEqual(process.communicate(timeout=15), ("", ""))
        self.assertEqual(process.returncode, -signal.SIGALRM)
        self.assertTrue(tide.report(self.trace())["honesty"]["complete"])

    def on_terminal(self, *argv):
        """Run on a terminal of its own, as a shell runs a foreground job: the pid of
        tidemark and the terminal's other end."""
        pid, master = pty.fork()
        if pid == 0:
            # The session's leader plays the shell; the job gets a group of its own.
            job = os.fork()
            if job == 0:
                os.setpgid(0, 0)
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.tcsetpgrp(0, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                os.execv(tide.TIDEMARK, [tide.TIDEMARK, "run", "-q", "-o",
                                         os.path.join(self.folder, "t"), "--", *argv])
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            while True:
                _, status = os.waitpid(job, os.WUNTRACED)
                if os.WIFSTOPPED(status):
                    os.tcsetpgrp(0, os.getpgrp())
                    os.write(1, b"[stopped]\n")
                    while os.read(0, 1) != b"f":
                        pass
                    os.tcsetpgrp(0, job)
                    os.killpg(job, signal.SIGCONT)
                    continue
                code = os.waitstatus_to_exitcode(status)
                os.write(1, f"[ended {code}]\n".encode())
                os._exit(0)
        return pid, master

    def read_until(self, master, text):
        seen = ""
        end = time.monotonic() + 30
        while text not in seen and time.monotonic() < end:
            seen += os.read(master, 1000).decode()
        self.assertIn(text, seen)
        return seen

    def test_a_signal_to_the_group_reaches_the_program_once(self):
        with subprocess.Popen([tide.TIDEMARK, "run", "-q", "-o",
                               os.path.join(self.folder, "t"), "--",
                               tide.program("counts_signals")],
                              stdout=subprocess.PIPE, text=True,
                              start_new_session=True) as run:
            self.assertIn("ready", run.stdout.readline())
            for send, number, word in ((os.killpg, signal.SIGUSR1, "usr1\n"),
                                       (os.kill, signal.SIGUSR1, "usr1\n"),
                                       (os.killpg, signal.SIGUSR1, "usr1\n"),
                                       (os.killpg, signal.SIGTERM, "term\n"),
                                       (os.kill, signal.SIGTERM, "term\n")):
                send(run.pid, number)
                self.assertEqual(run.stdout.readline(), word)
                time.sleep(0.05)    # a second one would come now
            os.kill(run.pid, signal.SIGUSR2)
            self.assertEqual((run.stdout.read(), run.wait(30)), ("", 7))

    def test_control_c_reaches_the_program_once(self):
        script = ("import os, signal, sys, time\n"
                  "count = 0\n"
                  "def note(number, frame):\n"
                  "    global count\n"
                  "    count += 1\n"
                  "signal.signal(2, note)\n"
                  "print('ready', flush=True)\n"
                  "while count == 0: time.sleep(0.01)\n"
                  "time.sleep(0.3)\n"
                  "print(f'count={count}', flush=True)\n"
                  "sys.exit(6)\n")
        pid, master = self.on_terminal(sys.executable, "-c", script)
        self.read_until(master, "ready")
        os.write(master, b"\x03")
        seen = self.read_until(master, "[ended")
        self.assertIn("count=1", seen)
        self.assertIn("[ended 6]", seen)
        os.waitpid(pid, 0)
        os.close(master)

    def test_control_z_stops_both_and_fg_goes_on(self):
        script = ("import time\n"
                  "print('ready', flush=True)\n"
                  "for i in range(100):\n"
                  "    x = [bytes(1000) for _ in range(100)]\n"
                  "    time.sleep(0.01)\n"
                  "print('done', flush=True)\n")
        pid, master = self.on_terminal(sys.executable, "-c", script)
        self.read_until(master, "ready")
        time.sleep(0.1)
        os.write(master, b"\x1a")
        self.read_until(master, "[stopped]")
        time.sleep(2.5)  # longer than a recorder believes in a silent collector
        os.write(master, b"f\n")
        seen = self.read_until(master, "[ended")
        self.assertIn("done", seen)
        self.assertIn("[ended 0]", seen)
        os.waitpid(pid, 0)
        os.close(master)
        self.whole(tide.report(self.trace()))

    def test_a_program_stopped_by_somebody_else_leaves_it_running(self):
        process = self.start("sleep", "30")
        target = self.program_pid(process)
        wait_for(lambda: os.readlink(f"/proc/{target}/exe").endswith("sleep"))
        os.kill(target, signal.SIGSTOP)
        wait_for(lambda: state_of(target) == "T")
        time.sleep(0.1)
        self.assertIn(state_of(process.pid), ("S", "R")) # not stopped
        os.kill(target, signal.SIGCONT)
        os.kill(target, signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    # --- Those left behind

    def test_it_returns_at_once_and_records_who_is_left(self):
        begin = time.monotonic()
        code, _, err = self.run_it(
            "sh", "-c", f"{sys.executable} -c 'import time; time.sleep(1.5); "
                        "x = [bytes(100000) for _ in range(100)]' >/dev/null 2>&1 &")
        self.assertLess(time.monotonic() - begin, 1.2)
        self.assertEqual((code, err), (0, ""))
        self.assertFalse(tide.info(self.trace())["complete"])
        wait_for(lambda: tide.info(self.trace())["complete"])
        result = tide.report(self.trace())
        self.whole(result)
        self.assertGreater(result["summary"]["allocated_bytes"], 100 * 100000)

    def as_first(self, script):
        """Run SCRIPT by us as the first process of a container."""
        first = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]
        if subprocess.run([*first, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no namespaces are to be had here")
        return subprocess.run([*first, tide.TIDEMARK, "run", "-o", self.trace(), "--", "sh",
                               "-c", script], timeout=15, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)

    def test_the_first_process_of_a_container_reaps_orphans(self):
        script = ("for i in 1 2 3 4 5; do (sleep 0 &); done; for i in 1 2 3 4 5 6 7 8 9; do\n"
                  "sleep 0.2; cat /proc/[0-9]*/stat | grep -c ') Z ' || break; done; exit 3")
        done = self.as_first(script)
        self.assertEqual(done.returncode, 3)
        self.assertLess(done.stdout.count("\n"), 9, done.stdout)
        self.assertEqual(done.stdout.split()[-1], "0")

    def test_the_first_process_of_a_container_leaves_nobody_behind(self):
        done = self.as_first("sleep 20 & exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("go on", done.stderr)
        self.assertTrue(tide.report(self.trace())["honesty"]["complete"])

    def test_many_that_end_at_once_are_not_taken_for_others(self):
        # More ends than tidemark hears of in a few turns: all while it is stopped.
        fifo = os.path.join(self.folder, "fifo")
        os.mkfifo(fifo)
        process = subprocess.Popen(
            [tide.TIDEMARK, "run", "-o", self.trace(), "--", "sh", "-c",
             "i=0; while [ $i -lt 300 ]; do cat fifo & i=$((i+1)); done; wait; exit 3"],
            cwd=self.folder, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: os.path.exists(self.trace()))
        wait_for(lambda: 300 <= len([p for p in tide.info(self.trace())["processes"]
                                     if p["exe"].endswith("/cat")]), 60)
        program = self.program_pid(process)

        def has_ended():
            try:    # whoever opened it reads its end
                os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                pass
            return state_of(program) == "Z"
        os.kill(process.pid, signal.SIGSTOP)
        wait_for(has_ended, 60)
        os.kill(process.pid, signal.SIGCONT)
        self.assertNotIn("go on", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, 3)
        self.whole(tide.report(self.trace()))

    def test_wait_stays_until_all_have_ended(self):
        begin = time.monotonic()
        code = self.run_it("sh", "-c", "sleep 1 >/dev/null 2>&1 & exit 5",
                           options=["--wait"])[0]
        self.assertGreater(time.monotonic() - begin, 1.0)
        self.assertEqual(code, 5)
        self.whole(tide.report(self.trace()))

    def test_a_run_without_anybody_left_is_complete_when_it_returns(self):
        for _ in range(20):
            code = self.run_it("sh", "-c", "for i in 1 2 3; do (ls | cat) >/dev/null; done",
                               options=["-o", os.path.join(self.folder, "n%n")])[0]
            self.assertEqual(code, 0)
        for name in os.listdir(self.folder):
            self.whole(tide.report(self.trace(name)))

    def test_a_daemon_that_closes_everything_is_recorded(self):
        script = ("import os, time\n"
                  "if os.fork(): os._exit(0)\n"
                  "os.setsid()\n"
                  "if os.fork(): os._exit(0)\n"
                  "os.closerange(0, 1000)\n"
                  "os.chdir('/')\n"
                  "time.sleep(0.3)\n"
                  "x = [bytes(200000) for _ in range(100)]\n")
        begin = time.monotonic()
        self.assertEqual(self.run_it(sys.executable, "-c", script)[0], 0)
        self.assertLess(time.monotonic() - begin, 5)
        wait_for(lambda: tide.info(self.trace())["complete"])
        result = tide.report(self.trace())
        self.assertGreater(result["summary"]["allocated_bytes"], 100 * 200000)
        self.assertEqual(result["honesty"]["dropped"], 0)

    def test_sigterm_to_the_background_collector_closes_the_trace(self):
        note = os.path.join(self.folder, "pid")
        self.run_it("sh", "-c", f"sleep 100 >/dev/null 2>&1 & echo $! >{note}")
        out = subprocess.run(["pgrep", "-f", f"run -q -o {self.folder}/t "],
                             capture_output=True, text=True, check=True).stdout
        os.kill(int(out), signal.SIGTERM)
        wait_for(lambda: tide.info(self.trace())["complete"])
        with open(note, encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def test_many_processes(self):
        code = self.run_it("sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true & "
                                       "i=$((i+1)); done; wait")[0]
        self.assertEqual(code, 0)
        result = tide.report(self.trace())
        self.whole(result)
        self.assertGreaterEqual(result["summary"]["processes"], 301)

    # --- Trouble

    def test_a_file_size_limit_stops_the_recording_and_not_the_program(self):
        done = subprocess.run(
            ["bash", "-c", "ulimit -f 600; exec \"$0\" run -o \"$1\" -- \"$2\" -c "
                           "'import random\nfor i in range(500000): "
                           "x = bytes(600 + random.randrange(3000))\nprint(i)'",
             tide.TIDEMARK, self.trace(), sys.executable],
            capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "499999\n"))
        self.assertIn("File too large; the trace ends there", done.stderr)
        result = tide.report(self.trace())
        self.assertFalse(result["honesty"]["complete"])
        self.assertGreater(result["summary"]["alloc_calls"], 0)

    def test_a_file_size_limit_that_leaves_no_room_is_told_as_such(self):
        """Shared memory counts as a file; the program may well be dynamic."""
        for limit, status in ((2, 1), (8, 0)):
            done = subprocess.run(["bash", "-c", f"ulimit -f {limit}; exec \"$0\" run -o \"$1\" "
                                   "/bin/true", tide.TIDEMARK, self.trace()],
                                  capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, status)
            said = done.stderr.splitlines()
            self.assertIn("the limit on the size of files is too small (ulimit -f)", said[0])
            self.assertNotIn("static", done.stderr)
        self.assertIn("nothing was recorded: ", said[0])
        text = subprocess.run([tide.TIDEMARK, "report", self.trace()], capture_output=True,
                              text=True, check=True, timeout=60).stdout
        self.assertIn("(ulimit -f)", " ".join(text.split()))
        self.assertIn("No allocation was recorded.\n", text)
        self.assertNotIn("static", text)

    def test_a_static_program_is_said_not_to_be_recorded(self):
        source = os.path.join(self.folder, "s.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("int main(void) { return 7; }\n")
        binary = os.path.join(self.folder, "static")
        subprocess.run(["cc", "-static", "-o", binary, source], check=True)
        done = subprocess.run([tide.TIDEMARK, "run", "--force", binary], cwd=self.folder,
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 7)
        self.assertIn("nothing was recorded", done.stderr)

    def test_bad_options_are_usage(self):
        for words in (["--depth", "0"], ["--depth", "99999"], ["--spaces", "stack"],
                      ["--unwind", "magic"], ["--no-stacks", "--unwind", "fp"], []):
            argv = [tide.TIDEMARK, "run", *words, *(["true"] if words else [])]
            done = subprocess.run(argv, capture_output=True, text=True, check=False,
                                  cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    tide.main()
