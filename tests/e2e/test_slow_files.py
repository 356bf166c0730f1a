"""tests/e2e/test_slow_files.py - the end of a run where a module's file system does not answer."""
import os
import signal
import subprocess
import tempfile
import time

import tide
import truth

LIBRARY = os.environ["TIDEMARK_LIBRARY"]


class SlowFiles(tide.TidyCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="tide-slow-")
        self.trace = os.path.join(self.folder, "t.tide")
        self.note = os.path.join(self.folder, "note")
        self.program = tide.program("deep")

    def start(self, slow, options=(), script="exit 3"):
        """Record a shell that runs a program on the slow file system, and then SCRIPT."""
        env = dict(truth.preloaded("lib_slow_files.so"), SLOW_NOTE=self.note)
        env[slow] = self.program
        return subprocess.Popen(
            [tide.TIDEMARK, "run", "-o", self.trace, *options, "--", "sh", "-c",
             f"{self.program} 3 100; {script}"], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_names(self):
        """Until somebody waits for the file; his pid."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                with open(self.note, encoding="ascii") as file:
                    text = file.read()
            except FileNotFoundError:
                text = ""
            if text.endswith("\n"):
                return int(text)
            time.sleep(0.005)
        return self.fail("nobody opened the file")

    def ends(self, process, seconds):
        """PROCESS ends with the program's status in SECONDS, the trace is complete and lacks
        names; what it said."""
        begin = time.monotonic()
        try:
            out, err = process.communicate(timeout=seconds + 10)
        finally:
            process.kill()
        self.assertLess(time.monotonic() - begin, seconds)
        self.assertEqual((process.returncode, out), (3, ""), err)
        facts = tide.info(self.trace)
        self.assertTrue(facts["complete"])
        result = tide.report(self.trace, "--total", "--flat")
        self.whole(result)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual(rows["descend"]["calls"], 100)     # the report can read the file
        return facts, err

    def test_two_seconds_are_waited_for_a_file_that_cannot_be_opened(self):
        process = self.start("SLOW_OPEN")
        self.wait_for_names()
        facts, _ = self.ends(process, 4)
        self.assertGreater(facts["frames_left_unnamed"], 0)

    def test_nor_longer_where_nobody_says_what_it_is(self):
        for options in ((), ("--no-names",)):
            with self.subTest(options=options):
                process = self.start("SLOW_STAT", options)
                self.wait_for_names()
                self.ends(process, 4)
                os.unlink(self.trace)
                os.unlink(self.note)

    def test_control_c_ends_the_wait(self):
        for slow in ("SLOW_OPEN", "SLOW_STAT"):
            with self.subTest(slow=slow):
                process = self.start(slow, ["--embed-symbols"])
                self.wait_for_names()
                process.send_signal(signal.SIGINT)
                facts, _ = self.ends(process, 1.5)
                self.assertGreater(facts["frames_left_unnamed"], 0)
                os.unlink(self.trace)
                os.unlink(self.note)

    def test_who_reads_the_output_does_not_wait_for_the_file(self):
        # The child that waits for it holds no pipe of ours open when we have ended.
        process = self.start("SLOW_OPEN")
        child = self.wait_for_names()
        for fd in ("0", "1", "2"):
            self.assertEqual(os.readlink(f"/proc/{child}/fd/{fd}"), "/dev/null")
        self.ends(process, 4)

    def test_a_collector_that_nobody_started_leaves_names_when_it_is_told_to_end(self):
        env = dict(os.environ, TIDEMARK_OUTPUT=self.trace, LD_PRELOAD=LIBRARY)
        ready = f"{self.program} 3 100; echo ready; exec sleep 20"
        with subprocess.Popen(["sh", "-c", ready], env=env, stdout=subprocess.PIPE,
                              text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            [collector] = [pid for pid in tide.descendants(os.getpid())
                           if b"\0collect\0" in tide.read_of(pid, "cmdline")]
            os.kill(collector, signal.SIGTERM)
            while (tide.state_and_parent(collector) or "Z")[0] not in "ZX":
                time.sleep(0.01)
            process.kill()
        facts = tide.info(self.trace)
        self.assertTrue(facts["complete"])
        self.assertGreater(facts["frames_left_unnamed"], 0)


if __name__ == "__main__":
    tide.main()
