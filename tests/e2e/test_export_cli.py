"""tests/e2e/test_export_cli.py - `tidemark export`: its options, its files, its failures."""
import os
import pty
import re
import resource
import signal
import stat
import subprocess
import threading

import exports
import tide

STREAMS = ("pprof", "folded", "speedscope", "chrome", "perfetto", "callgrind", "csv",
           "tsv", "ndjson")


def run(*words, **options):
    return subprocess.run([tide.TIDEMARK, "export", *words], capture_output=True,
                          text=True, errors="replace", timeout=120, check=False, **options)


class Files(tide.Case):
    def setUp(self):
        self.trace = exports.record("tide_pool").trace
        self.folder = exports.new_folder()

    def path(self, name):
        return os.path.join(self.folder, name)

    def fails(self, done, status, words):
        """One clear line (two more explain usage), nothing on stdout."""
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1 if status == 1 else 3, done.stderr)
        self.assertTrue(lines[0].startswith("tidemark: "))
        self.assertIn(words, lines[0])

    def test_a_small_trace_does_not_fill_the_disk(self):
        # Each of the 1170 stacks is written out whole, by names of 1600 letters.
        depth, name = 1170, 1600
        trace = tide.Recorded([tide.program("deep_names"), str(depth)],
                              options=["--depth", "2000"], folder=self.folder).trace
        whole = depth * depth // 2 * name
        self.assertGreater(whole, 1 << 30)
        with open("/dev/null", "w", encoding="ascii") as nowhere:
            refused = subprocess.run(
                [tide.TIDEMARK, "export", "--to", "folded", trace], stdout=nowhere,
                stderr=subprocess.PIPE, text=True, timeout=120, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, r"\Atidemark: [^\n]*more than 1\.00 GiB would be "
                                         r"written[^\n]*--force[^\n]*\n\Z")
        with subprocess.Popen([tide.TIDEMARK, "export", "--to", "folded", "--force", trace],
                              stdout=subprocess.PIPE) as forced:
            written = 0
            while piece := forced.stdout.read(1 << 20):
                written += len(piece)
        self.assertEqual(forced.returncode, 0)
        self.assertGreater(written, whole)

    def test_file_and_stdout_get_the_same_bytes(self):
        for form in STREAMS:
            with self.subTest(form=form):
                plain = exports.export(self.trace, form)
                self.assertTrue(plain)
                self.assertEqual(exports.export(self.trace, form, "-o", "-"), plain)
                self.assertEqual(
                    exports.export(self.trace, form, "-o", self.path(form)), b"")
                with open(self.path(form), "rb") as file:
                    self.assertEqual(file.read(), plain)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(STREAMS))

    def test_a_new_file_has_the_rights_of_others(self):
        os.umask(before := os.umask(0))
        exports.export(self.trace, "folded", "-o", self.path("x"))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("x")).st_mode), 0o666 & ~before)

    def test_a_pipe_is_written_as_it_is(self):
        os.mkfifo(self.path("pipe"))
        found = []

        def read():
            with open(self.path("pipe"), "rb") as file:
                found.append(file.read())
        reader = threading.Thread(target=read)
        reader.start()
        exports.export(self.trace, "folded", "-o", self.path("pipe"))
        reader.join(60)
        self.assertEqual(found, [exports.export(self.trace, "folded")])

    def test_usage(self):
        for words, message in (
                ((), "which format?"),
                (("--to", "excel"), "excel"),
                (("--to", "csv", "--space", "heap"), "csv holds all spaces"),
                (("--to", "pprof", "--leaks"), "pprof holds all of them"),
                (("--to", "folded", "--peak", "--leaks"), "at a time"),
                (("--to", "folded", "--all"), "--all is for blocks"),
                (("--to", "sqlite"), "needs a file"),
                (("--to", "sqlite", "-o", "-"), "needs a file"),
                (("--to", "csv", "another.tide"), "one trace at a time")):
            with self.subTest(words=words):
                self.fails(run(*words, self.trace), 2, message)

    def test_a_terminal_gets_no_binary(self):
        ours, terminal = pty.openpty()
        done = subprocess.run([tide.TIDEMARK, "export", "--to", "pprof", self.trace],
                              stdout=terminal, stderr=subprocess.PIPE, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"not for a terminal", done.stderr)
        os.close(terminal)
        os.close(ours)

    def test_what_cannot_be_written(self):
        os.mkdir(self.path("folder"))
        for name, words in (("none/x", "No such file or directory"),
                            ("folder", "Is a directory")):
            for form in ("csv", "sqlite"):
                done = run("--to", form, "-o", self.path(name), self.trace)
                self.fails(done, 1, f"{self.path(name)}: {words}")
        self.fails(run("--to", "sqlite", "-o", "/dev/null", self.trace), 1, "not a file")
        self.fails(run("--to", "csv", "-o", self.trace, self.trace), 1,
                   "the trace itself")
        tide.report(self.trace)
        self.fails(run("--to", "csv", "-o", self.path("x"), self.path("y.tide")), 1,
                   "no such file")
        self.assertEqual(os.listdir(self.folder), ["folder"])

    def test_a_full_disk(self):
        for form in STREAMS:
            with self.subTest(form=form):
                self.fails(run("--to", form, "-o", "/dev/full", self.trace), 1,
                           "/dev/full: No space left on device")
                with open("/dev/full", "w", encoding="utf-8") as full:
                    done = subprocess.run(
                        [tide.TIDEMARK, "export", "--to", form, self.trace], stdout=full,
                        stderr=subprocess.PIPE, timeout=120, check=False)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"standard output: No space left", done.stderr)

    def test_what_was_there_stays_when_it_fails(self):
        def little():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        for form in ("csv", "sqlite"):
            with self.subTest(form=form):
                with open(self.path("x"), "w", encoding="utf-8") as file:
                    file.write("old")
                done = run("--to", form, "--all", "-o", self.path("x"), self.trace,
                           preexec_fn=little)
                self.fails(done, 1, self.path("x"))
                with open(self.path("x"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), "old")
                self.assertEqual(os.listdir(self.folder), ["x"])

    def test_ctrl_c_leaves_nothing_behind(self):
        with open(self.path("x"), "w", encoding="utf-8") as file:
            file.write("old")
        trace = exports.record("ground_threads", "4", "3000").trace
        for _ in range(100):
            if self.interrupted(trace):
                break
        else:
            self.fail("never came in time")
        self.assertEqual(os.listdir(self.folder), ["x"])
        with open(self.path("x"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")

    def interrupted(self, trace):
        """Export, and stop it in the middle; false if it was faster."""
        with subprocess.Popen([tide.TIDEMARK, "export", "--to", "csv", "--all", "-o",
                               self.path("x"), trace]) as process:
            while len(os.listdir(self.folder)) < 2 and process.poll() is None:
                pass
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)  # some press it twice
            status = process.wait(60)
        if status == 0:
            with open(self.path("x"), "w", encoding="utf-8") as file:
                file.write("old")
        return status == -signal.SIGINT

class Odd(tide.Case):
    def all_exports(self, trace):
        """All formats of TRACE; none fails."""
        for form in STREAMS:
            exports.export(trace, form)
        return exports.database(trace, "--all")

    def test_a_run_that_allocates_nothing(self):
        trace = tide.Recorded(["/bin/true"], folder=exports.new_folder()).trace
        self.all_exports(trace)
        profile, _ = exports.read_pprof(exports.export(trace, "pprof", "--space", "mmap"))
        self.assertEqual(len(profile.sample), 0)
        self.assertEqual(exports.export(trace, "folded", "--space", "mmap"), b"")

    def test_a_trace_of_which_not_everything_was_recorded(self):
        trace = tide.Recorded([tide.program("late_names")],
                              folder=exports.new_folder()).trace
        for form in ("folded", "cali"):
            done = run("--to", form, trace)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"^tidemark: \S+: [^\n]*more names[^\n]*\n$")

    def test_a_trace_that_ends_early(self):
        recorded = exports.record("ground_threads", "4", "3000")
        with open(recorded.trace, "rb") as file:
            whole = file.read()
        path = os.path.join(exports.new_folder(), "half.tide")
        with open(path, "wb") as file:
            file.write(whole[:len(whole) * 3 // 4])
        summary = tide.report(path)["summary"]
        for form in ("folded", "ndjson", "cali"):
            done = run("--to", form, path)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"^tidemark: {re.escape(path)}: the file is cut off: it ends early at "
                                          r"byte [^\n]*\n$")
            self.assertEqual(run("--to", form, recorded.trace).stderr, "")
        database = self.all_exports(path)
        self.assertEqual(
            database.execute("SELECT COUNT(*), TOTAL(size), TOTAL(live_bytes) FROM blocks "
                             "WHERE space = 'heap'").fetchone(), # none are left if chunks fell so
            (summary["alloc_calls"], summary["allocated_bytes"], summary["live_bytes"]))
        self.assertEqual(database.execute("SELECT value FROM meta WHERE key = 'complete'")
                         .fetchone(), (0,))


class Walk(tide.Case):
    """Blocks, one by one, against the account: where moves nest, processes fork and end,
    addresses are taken twice."""

    PROGRAMS = [("ground_truth",), ("all_calls",), ("fork_tree", "4"), ("exec_self", "5"),
                ("odd_frees", "realloc"), ("odd_arguments",), ("odd_maps",),
                ("odd_numbers",), ("fork_storm", "20"), ("short_threads", "200", "8"),
                ("exceptions",)]

    def test_every_block_is_counted_once(self):
        for name, *arguments in self.PROGRAMS:
            with self.subTest(program=name):
                self.check([tide.program(name), *arguments], "")

    def test_in_handlers_that_interrupt_each_other(self):
        self.check([tide.program("handlers"), "nested", "50"],
                   tide.program("lib_toy_malloc.so"))

    def test_what_an_allocator_maps_is_no_block(self):
        trace = self.check([tide.program("ground_truth")], "libjemalloc.so.2")
        self.assertGreater(tide.info(trace)["kinds"]["mmap"], 0)
        self.assertEqual(exports.space_of(tide.report(trace), "mmap")["alloc_calls"], 0)

    def check(self, argv, preload):
        """Record ARGV; its blocks are those of its sites.  The trace."""
        env = dict(os.environ, LD_PRELOAD=preload)
        trace = tide.Recorded(argv, env=env, folder=exports.new_folder()).trace
        database = exports.database(trace, "--all")
        self.assertEqual(exports.wrong_sites(database), [])
        calls, = database.execute("SELECT COUNT(*) FROM blocks").fetchone()
        self.assertEqual(calls, sum(space["alloc_calls"] for space in
                                    tide.report(trace)["spaces"]))
        self.assertGreater(calls, 0)
        return trace


if __name__ == "__main__":
    tide.main()
