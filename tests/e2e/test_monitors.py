"""tests/e2e/test_monitors.py - the built-in monitors against a count by hand.

With LD_PRELOAD alone and no trace, and with `run --monitor`.
"""
import csv
import glob
import json
import os
import shlex
import subprocess
import tempfile
import threading
import time
import unittest

import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]


class Monitors(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def alone(self, monitor, argv, **more):
        env = dict(os.environ, LD_PRELOAD=LIBRARY, TIDEMARK_MONITOR=monitor, **more)
        env.pop("TIDEMARK_SESSION", None)
        done = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=120,
                              check=False, cwd=self.folder)
        self.assertEqual([name for name in os.listdir(self.folder)
                          if name.endswith(".tide")], [], "no trace was asked for")
        return done

    @staticmethod
    def reports(text):
        return {report["monitor"]: report for report in map(json.loads, text.splitlines())}

    def compare(self, own, reports):
        simple, loop = reports["simple"], reports["loop"]
        for key in ("total_requested_bytes", "live_bytes", "alloc_calls", "free_calls"):
            self.assertEqual(simple[key], own[key], key)
        self.assertGreaterEqual(simple["max_used_bytes"], 112345)
        self.assertEqual(loop["alloc_calls"], own["loop_allocs"])
        self.assertEqual(loop["total_requested_bytes"], own["loop_requested"])
        self.assertEqual((loop["live_bytes"], loop["loops"]), (0, 1))
        bins = {str(row["least_bytes"]): [row["requested_calls"], row["used_calls"],
                                          row["freed_calls"]]
                for row in reports["histogram"]["bins"]}
        self.assertEqual(bins, own["bins"])
        regions = {row["region"]: row for row in reports["regions"]["regions"]}
        inner = regions["outer/cycle/inner"]
        self.assertEqual((inner["alloc_calls"], inner["free_calls"]),
                         (own["inner_allocs"],) * 2)
        self.assertEqual(inner["requested_bytes"], own["inner_requested"])
        self.assertEqual((inner["added_bytes"], inner["temporary_calls"]),
                         (0, own["inner_allocs"]))
        self.assertEqual(inner["max_bytes"], own["inner_max"])
        self.assertEqual(regions["outer"]["requested_bytes"], 112345)
        self.assertEqual(regions["outer"]["added_bytes"], 12360 - 0)
        self.assertEqual(sum(row["requested_bytes"] for row in regions.values()),
                         own["total_requested_bytes"])
        self.assertEqual(sum(row["alloc_calls"] for row in regions.values()),
                         own["alloc_calls"])

    def test_counts_are_exact_with_threads(self):
        for threads in ("1", "64"):
            done = self.alone("simple,loop:name=cycle,histogram,regions,json",
                              [tide.program("tallied"), threads])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.compare(json.loads(done.stdout), self.reports(done.stderr))

    def test_beside_a_trace_to_a_file(self):
        path = os.path.join(self.folder, "out.%p")
        run = tide.Recorded([tide.program("tallied"), "8"],
                            ["--monitor", f"simple,loop,histogram,regions,json,file={path}"])
        self.assertEqual(run.done.stderr, "")
        [name] = os.listdir(self.folder)
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            self.compare(run.own_count(), self.reports(file.read()))
        summary = run.report()["summary"]
        self.assertGreaterEqual(summary["alloc_calls"], run.own_count()["alloc_calls"])

    def test_totals_are_those_of_the_trace(self):
        """Of programs that allocate in every way, in threads and in signal handlers."""
        for name in ("all_calls", "odd_arguments", "cross_frees", "signal_storm",
                     "handlers", "ground_threads", "thread_farewell", "fail_call"):
            path = os.path.join(self.folder, name)
            run = tide.Recorded([tide.program(name)],
                                ["--monitor", f"simple,json,file={path}"])
            with open(path, encoding="utf-8") as file:
                told = json.loads(file.readline())
            summary = run.report()["summary"]
            self.assertEqual(
                [told[key] for key in ("alloc_calls", "free_calls", "failed_calls",
                                       "total_requested_bytes")],
                [summary[key] for key in ("alloc_calls", "free_calls", "failed_calls",
                                          "allocated_bytes")], name)

    def test_simple_in_words(self):
        done = self.alone("simple", [tide.program("tallied"), "2"])
        own = json.loads(done.stdout)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], r"^tidemark: simple, tallied \(pid \d+\), at exit$")
        self.assertEqual(lines[1], "Memory Report: total memory requested: "
                                   f"{own['total_requested_bytes']}")
        self.assertEqual(lines[3], f"Memory Report: presently used: {own['live_bytes']}")
        self.assertEqual(lines[4], f"Memory Report: # allocations calls: {own['alloc_calls']}")
        self.assertEqual(lines[5],
                         f"Memory Report: # deallocations calls: {own['free_calls']}")

    def test_the_histogram_is_that_of_the_trace(self):
        run = tide.Recorded([tide.program("ground_truth")], ["--monitor", "histogram,json"])
        [report] = self.reports(run.done.stderr).values()
        rows = run.report("--sizes")["rows"]
        told = {row["least_bytes"]: row["requested_calls"] for row in report["bins"]}
        trace = {row["least_bytes"]: row["requested_calls"] for row in rows
                 if row["requested_calls"]}
        self.assertEqual({key: told.get(key, 0) for key in trace}, trace)

    def test_the_demo_against_a_count_event_by_event(self):
        """Of examples/hydro, which make demo records: its events, added up one by one."""
        hydro = os.path.join(os.environ["TIDEMARK_EXAMPLES"], "hydro")
        run = tide.Recorded([hydro, "--cycles", "7", "14", "10", "8"],
                            ["--monitor", "simple,histogram,json"])
        answer = subprocess.run(
            [tide.TIDEMARK, "query", "--json", run.trace,
             "SELECT mem.alloc,size,usable WHERE kind"],
            capture_output=True, text=True, timeout=120, check=True).stdout
        calls, live, most, requested, bins = [0, 0], 0, 0, 0, {}
        for made, size, usable in json.loads(answer)["rows"]:
            live += usable if made else -usable
            most = max(most, live)
            calls[not made] += 1
            requested += size if made else 0
            for column, amount in ((0, size), (1, usable)) if made else ((2, usable),):
                least = 1 << amount.bit_length() - 1
                bins.setdefault(least, [0, 0, 0])[column] += 1
        reports = self.reports(run.done.stderr)
        self.assertEqual(
            [reports["simple"][key] for key in ("alloc_calls", "free_calls",
                                                "max_used_bytes", "total_requested_bytes")],
            [*calls, most, requested])
        self.assertEqual({row["least_bytes"]: [row["requested_calls"], row["used_calls"],
                                               row["freed_calls"]]
                          for row in reports["histogram"]["bins"]}, bins)

    def test_periodic_has_a_line_for_every_moment(self):
        path = os.path.join(self.folder, "%p.csv")
        self.alone(f"periodic:ms=20:file={path}", ["/bin/sh", "-c", "sleep 0.3; exit 0"])
        tables = []
        for name in sorted(os.listdir(self.folder)):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                tables.append(list(csv.DictReader(file)))
        table = max(tables, key=len)
        times = [int(row["time_ms"]) for row in table]
        self.assertGreaterEqual(len(times), 10)
        self.assertEqual(times[:10], [20 * (i + 1) for i in range(10)])
        for key in ("total_requested_bytes", "max_used_bytes", "alloc_calls"):
            values = [int(row[key]) for row in table]
            self.assertEqual(values, sorted(values))

    def lines_of(self, name="lines.csv"):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return [{key: int(value) for key, value in row.items()}
                    for row in csv.DictReader(file)]

    def settled(self, seconds=20):
        """The file, once nobody writes to it any more."""
        end = time.monotonic() + seconds
        before, lines = None, self.lines_of()
        while (lines != before or len(lines) < 10) and time.monotonic() < end:
            time.sleep(0.2)
            before, lines = lines, self.lines_of()
        return lines

    def test_periodic_leaves_its_lines_when_killed(self):
        """While nothing is allocated, and by whatever ends without a farewell."""
        for ending in ("os.kill(os.getpid(), 9)", "os._exit(0)", "os.abort()"):
            self.alone("periodic:ms=20:file=lines.csv", [
                *self.PYTHON, f"import os, time\nx = bytes(5000000)\ntime.sleep(0.5); {ending}"])
            lines = self.settled()
            times = [line["time_ms"] for line in lines]
            self.assertGreaterEqual(times[-1], 500, ending)
            self.assertEqual(times[:-1], [20 * (i + 1) for i in range(len(times) - 1)])
            self.assertGreaterEqual(lines[-1]["max_used_bytes"], 5000000)
            self.assertEqual(lines[-1]["alloc_calls"], lines[-2]["alloc_calls"])

    def test_periodic_of_a_program_that_runs_another(self):
        """Its file is the other one's from then on; when that could not begin, its own."""
        script = "import os, time\n{}\ntime.sleep(0.3); os._exit(0)"
        run = "os.execv('/bin/sleep', ['sleep', '0.3'])"
        fail = "try: os.execv('/nowhere', ['x'])\nexcept OSError: pass"
        for first, least in ((run, 10), (fail, 14)):
            self.alone("periodic:ms=20:file=lines.csv", [*self.PYTHON, script.format(first)])
            times = [line["time_ms"] for line in self.settled()]
            self.assertEqual(times, sorted(times), first)
            self.assertGreaterEqual(len(times), least)

    def test_periodic_gives_the_first_process_of_a_container_no_children(self):
        code = ("import os, time\nown = [os.posix_spawn('/bin/true', ['true'], os.environ)"
                " for _ in range(3)]\nstrange = 0\ntry:\n    while True:\n"
                "        strange += os.wait()[0] not in own\nexcept OSError: print(strange)")
        aside = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
        if subprocess.run([*aside, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no namespaces here")
        done = self.alone("periodic:file=lines.%p", [*aside, *self.PYTHON, code])
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def waiting(self):
        """Processes aside that wait for the end of a program started here."""
        count = 0
        for folder in glob.glob("/proc/[0-9]*"):
            try:
                with open(f"{folder}/comm", encoding="utf-8") as comm, \
                        open(f"{folder}/environ", "rb") as environ:
                    count += comm.read() == "tidemark\n" and \
                        f"OF_TEST={self.folder}".encode() in environ.read().split(b"\0")
            except OSError:
                pass
        return count

    def test_periodic_leaves_nobody_waiting_for_programs_that_ran_others(self):
        """A process that lives long, and executes many, has one that waits for the last."""
        script = 'if [ $1 -lt 20 ]; then exec "$0" -c "$2" "$0" $(($1 + 1)) "$2"; fi; sleep 9'
        counts = []
        looks = threading.Thread(target=lambda: [time.sleep(8), counts.append(self.waiting())])
        looks.start()
        self.alone("periodic:file=lines.csv", ["/bin/sh", "-c", script, "/bin/sh", "0", script],
                   OF_TEST=self.folder)
        looks.join()
        self.assertEqual(counts, [2]) # for the last shell, and for sleep
        for _ in range(100): # the folder is theirs until they have written
            if not self.waiting():
                break
            time.sleep(0.1)
        self.assertEqual(self.waiting(), 0)

    def test_periodic_says_a_long_silence_in_two_lines(self):
        self.alone("periodic:ms=1:file=lines.csv", [*self.PYTHON, "import time; time.sleep(3)"])
        with open(os.path.join(self.folder, "lines.csv"), encoding="utf-8") as file:
            times = [int(row["time_ms"]) for row in csv.DictReader(file)]
        longest = max(range(1, len(times)), key=lambda i: times[i] - times[i - 1])
        before, after = times[longest - 1:longest + 1]
        self.assertGreater(after - before, 1000)
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[-1], after)
        self.assertLess(len(times), times[-1] - 1000)

    def test_periodic_begins_a_file_for_every_generation(self):
        code = ("import os, time\ndef pass_time(): time.sleep(0.05); bytes(100000); return 0\n"
                "if os.fork() or pass_time() or os.fork(): os.wait()\nelse: pass_time()")
        self.alone("periodic:ms=10:file=lines.%p", [*self.PYTHON, code])
        names = os.listdir(self.folder)
        self.assertEqual(len(names), 3)
        for name in names:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                head, *lines = file.read().splitlines()
            self.assertTrue(head.startswith("time_ms,"), head)
            self.assertEqual({line.count(",") for line in lines}, {6}, name)

    def test_a_threshold_changes_nothing_of_the_trace(self):
        for options in [], ["--depth", "20"], ["--unwind", "none"], ["--unwind", "fp"]:
            with self.subTest(options=options):
                stacks = [[[frame["function"] for frame in row["stack"]]
                           for row in tide.Recorded([tide.program("deep"), "100", "5"],
                                                    [*options, *more])
                           .report("--total", "--stacks")["rows"]]
                          for more in ([], ["--monitor", "threshold:single=1M"])]
                self.assertEqual(*stacks)

    def test_thresholds(self):
        program = tide.program("tallied")
        done = self.alone("threshold:single=100K", [program, "1"])
        self.assertNotIn("reaches", done.stderr)
        done = self.alone("threshold:single=90K", [program, "1"])
        self.assertIn("a request of 100000 bytes reaches 92160, at\n", done.stderr)
        [_, first, *_] = done.stderr.splitlines()
        address = first.strip().rpartition("+")[2]
        [advice] = [line for line in done.stderr.splitlines() if "for names: " in line]
        command = shlex.split(advice.partition("for names: ")[2])
        self.assertEqual(command[2:4], [program, address])
        named = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual([line.split()[0] for line in named.stdout.splitlines()][:2],
                         ["make", "main"])
        self.assertTrue(done.stderr.endswith("a limit was reached 1 time\n"))
        done = self.alone("threshold:live=110000:action=abort", [program, "1"])
        self.assertEqual(done.returncode, -6)
        self.assertIn("aborting", done.stderr)
        done = self.alone("threshold:single=3K:skip=5", [program, "1"])
        self.assertRegex(done.stderr, r"a request of \d{4} bytes reaches 3072")

    NONSENSE = {
        "sample": "'sample' is no monitor; there are simple, loop, histogram, periodic, "
                  "regions, threshold, own, and for all json, file=PATH",
        "json": "no monitor is named; there are",
        "simple:x=1": "'x=1': simple has no options",
        "simple:x": "'x': simple has no options",
        "simple,simple": "simple is named twice",
        "loop:ms=1": "'ms=1': loop has name=LOOP",
        "periodic:x=1": "'x=1': periodic has ms=N, file=PATH",
        "threshold": "threshold needs single=SIZE or live=SIZE, as in threshold:single=1M",
        "threshold:skip=1": "threshold needs single=SIZE or live=SIZE",
        "threshold:single=1:action=faint": "'action=faint': it is action=report|abort",
        **{f"threshold:single={word}": f"'single={word}': it is single=SIZE, a number"
           for word in ("1X", "1MB", "K", "1.5G", "", "0", "99999999999999999999",
                        "8388608T", "18446744073709551617")},
        "threshold:single=5:skip=some": "'skip=some': it is skip=N",
        "periodic:ms=10:ms=abc": "'ms=abc': ms is given twice",
        "threshold:single=1:skip=1:single=1": "'single=1': single is given twice",
        "periodic:ms=1x": "'ms=1x': it is ms=N",
        "periodic:ms=288230376151711744": "'ms=288230376151711744': it is ms=N",
    }

    def test_nonsense_is_said(self):
        for monitor, fault in self.NONSENSE.items():
            done = self.alone(monitor, [tide.program("tallied"), "1"])
            self.assertEqual(done.returncode, 0)
            self.assertIn(f"tidemark: TIDEMARK_MONITOR: {fault}", done.stderr)

    def test_nonsense_is_said_once(self):
        """Not by `timeout` or `env` before the program as well; by who has another list."""
        for wrapper in (["timeout", "60"], ["env"], ["env", "timeout", "60", "env"]):
            done = self.alone("foo,loop:x=1", [*wrapper, tide.program("tallied"), "1"])
            self.assertEqual(done.stderr.count("'foo'"), 1, wrapper)
            self.assertEqual(done.stderr.count("'x=1'"), 1, wrapper)
        done = self.alone("foo", ["env", "TIDEMARK_MONITOR=bar", tide.program("tallied"), "1"])
        self.assertEqual([done.stderr.count(word) for word in ("'foo'", "'bar'")], [1, 1])

    def test_run_refuses_nonsense(self):
        ran = os.path.join(self.folder, "ran")
        for monitor, fault in self.NONSENSE.items():
            done = subprocess.run([tide.TIDEMARK, "run", "--monitor", monitor, "-o",
                                   os.path.join(self.folder, "t"), "/usr/bin/touch", ran],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2, monitor)
            self.assertIn(f"tidemark: --monitor: {fault}", done.stderr.splitlines()[0])
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_loop_that_never_came_is_said(self):
        program = [tide.program("tallied"), "1"]
        self.assertIn("There was no loop named nope:",
                      self.alone("loop:name=nope", program).stderr)
        self.assertNotIn("no loop", self.alone("loop:name=cycle", program).stderr)
        self.assertIn("There was no loop: ",
                      self.alone("loop", [tide.program("count_to"), "1"]).stderr)
        told = json.loads(self.alone("loop:name=nope,json", program).stderr)
        self.assertEqual(told["loops"], 0)

    def test_periodic_keeps_no_descriptor(self):
        """The program may close it, and get its number for a file of its own."""
        own = os.path.join(self.folder, "own")
        done = self.alone("periodic:ms=10:file=lines.csv", [tide.program("closes_all"), own])
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("3\n", "", 0))
        with open(own, encoding="utf-8") as file:
            self.assertEqual(file.read(), "own")
        with open(os.path.join(self.folder, "lines.csv"), encoding="utf-8") as file:
            self.assertGreaterEqual(len(list(csv.DictReader(file))), 5)

    def test_lines_that_cannot_be_written_are_said(self):
        gone = os.path.join(self.folder, "gone")
        os.mkdir(gone)
        done = self.alone(f"periodic:ms=3600000:file={gone}/lines.csv",
                          ["/usr/bin/python3", "-c",
                           f"import shutil; shutil.rmtree({gone!r})"])
        self.assertIn("periodic, python3", done.stderr)
        self.assertTrue(done.stderr.endswith("\n1 line could not be written\n"),
                        done.stderr)

    PYTHON = ["/usr/bin/python3", "-c"]

    def own_file(self):
        """What the program has in its file."""
        with open(os.path.join(self.folder, "own"), encoding="utf-8") as file:
            return file.read()

    def test_reports_go_where_standard_error_was(self):
        """The program may have closed it, or opened a file of its own in its place."""
        reopen = [*self.PYTHON, "import os\nown = os.open('own', os.O_WRONLY | os.O_CREAT)\n"
                  "os.dup2(own, 2)\nx = bytes(13000000)"]
        for argv in (["/bin/ls", self.folder], reopen, [*self.PYTHON, "import os; os.close(2)"]):
            done = self.alone("simple,json", argv)
            self.assertEqual([json.loads(line)["monitor"] for line in
                              done.stderr.splitlines()], ["simple"], argv)
        self.assertEqual(self.own_file(), "")
        done = self.alone("threshold:single=12M", reopen)
        self.assertIn("a request of 130000", done.stderr)
        self.assertEqual(self.own_file(), "")

    def test_reports_go_to_no_file_of_the_program(self):
        """Neither where there was no standard error, nor to a number that was ours."""
        done = self.alone("simple", [
            "/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *self.PYTHON, "import os\n"
            "print(os.open('own', os.O_WRONLY | os.O_CREAT))"])
        self.assertEqual((done.stdout, done.stderr, self.own_file()), ("2\n", "", ""))
        done = self.alone("simple,json", [
            *self.PYTHON, "import os; os.closerange(3, 4096)\n"
            "own = os.open('own', os.O_WRONLY)\n"
            "for number in range(3, 1024): os.dup2(own, number)"])
        self.assertEqual((json.loads(done.stderr)["monitor"], self.own_file()),
                         ("simple", ""))

    def test_an_inode_that_is_used_again_is_another_file(self):
        script = ("import os; os.unlink('errors'); os.closerange(2, 4096)\n"
                  "assert os.open('own', os.O_WRONLY | os.O_CREAT) == 2")
        self.alone("simple", ["/bin/sh", "-c", 'exec "$@" 2>errors', "sh", *self.PYTHON,
                              script])
        self.assertEqual(self.own_file(), "")

    def test_a_daemon_leaves_standard_error(self):
        """Its reader sees the end while the daemon lives, as long as a file is there."""
        stay = os.path.join(self.folder, "stay")
        with open(stay, "w", encoding="utf-8"):
            pass
        code = ("import os, time\nif os.fork(): os._exit(0)\nos.closerange(0, 3)\n"
                "while os.path.exists('stay'): time.sleep(0.02)\n")
        env = dict(os.environ, LD_PRELOAD=LIBRARY, TIDEMARK_MONITOR="simple")
        with subprocess.Popen([*self.PYTHON, code], cwd=self.folder, env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            try:
                self.assertEqual(started.communicate(timeout=60), (b"", b""))
            finally:
                os.unlink(stay)

    def test_where_to_report_is_remembered(self):
        """Not in the environment's memory, which is the program's to write over."""
        done = self.alone("simple,json,file=out", [tide.program("wipes_environment")])
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        self.assertEqual(os.listdir(self.folder), ["out"])

    def test_a_file_that_cannot_be_written_is_said(self):
        done = self.alone("simple,json,file=/nonexistent/out", [tide.program("count_to"), "1"])
        first, report = done.stderr.splitlines()
        self.assertEqual(first, "tidemark: TIDEMARK_MONITOR: cannot write /nonexistent/out:")
        self.assertEqual(json.loads(report)["monitor"], "simple")

    def test_a_report_that_nobody_reads_harms_nobody(self):
        """Neither by SIGPIPE nor by SIGXFSZ; what the program itself does still counts."""
        count = [tide.program("count_to"), "1"]
        expected = subprocess.run(count, timeout=60, check=False,
                                  stdout=subprocess.DEVNULL).returncode
        env = dict(os.environ, LD_PRELOAD=LIBRARY, TIDEMARK_MONITOR="simple")
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as broken:
            done = subprocess.run(count, stdout=subprocess.DEVNULL, stderr=broken, env=env,
                                  timeout=60, check=False)
            self.assertEqual(done.returncode, expected)
        no_files = ["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]
        done = self.alone("simple,file=out", [*no_files, *count])
        self.assertEqual(done.returncode, expected, done.stderr)
        writes = ["/usr/bin/python3", "-c",
                  "import os, signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL);"
                  "r, w = os.pipe(); os.close(r); os.write(w, b'x')"]
        self.assertEqual(self.alone("simple", writes).returncode, -13)

    def test_a_loop_ends_with_its_thread(self):
        done = self.alone("loop,json", [tide.program("open_loop")])
        loop = json.loads(done.stderr)
        self.assertEqual((loop["loops"], loop["alloc_calls"]), (2, 8))

    def test_too_many_regions_are_said(self):
        done = self.alone("regions,json", [tide.program("many_regions")])
        report = json.loads(done.stderr)
        self.assertTrue(report["too_many"])
        self.assertLess(len(report["regions"]), 20000)
        self.assertGreaterEqual(sum(row["alloc_calls"] for row in report["regions"]), 20000)
        done = self.alone("regions", [tide.program("many_regions")])
        self.assertTrue(done.stderr.endswith("There were more regions: the rest counts for "
                                             "the region around it.\n"))
        few = self.alone("regions,json", [tide.program("tallied"), "1"])
        self.assertNotIn("too_many", few.stderr)

    def test_a_forked_child_has_a_report_of_its_own(self):
        path = os.path.join(self.folder, "r")
        self.alone(f"simple,json,file={path}",
                   ["/usr/bin/python3", "-c", "import os\npid = os.fork()\n"
                    "x = [bytes(5000) for i in range(1000)]\n"
                    "if pid: os.wait()"])
        reports = []
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                reports.append(json.load(file))
        self.assertEqual(len({report["pid"] for report in reports}), 2)
        for report in reports:
            self.assertGreater(report["total_requested_bytes"], 5000000)


if __name__ == "__main__":
    tide.main()
