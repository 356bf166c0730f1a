"""tests/e2e/test_preload_alone.py - LD_PRELOAD and nothing else: a collector comes by itself."""
import glob
import json
import os
import re
import resource
import select
import signal
import struct
import subprocess
import tempfile
import threading
import time

import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]


def collectors():
    """Those of this build: others may be at work on the machine."""
    program = os.path.join(os.path.dirname(os.path.realpath(LIBRARY)), "tidemark")
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if len(words) > 1 and words[1] == b"collect" and \
                os.path.realpath(os.fsdecode(words[0])) == program:
            found.append(path)
    return found


class PreloadAlone(tide.Case):
    def start(self, folder, *argv, variables=(), **more):
        return subprocess.run(["env", f"LD_PRELOAD={LIBRARY}", *variables, *argv],
                              env=self.surroundings(folder), cwd=folder,
                              capture_output=True, text=True, check=False, **more)

    def record(self, folder, *argv, **more):
        return self.start(folder, *argv, **more), self.trace_in(folder)

    def surroundings(self, folder):
        return {name: value for name, value in dict(os.environ, TMPDIR=folder).items()
                if name not in ("TIDEMARK_SESSION", "XDG_RUNTIME_DIR")}

    def wait_for_collectors(self):
        for _ in range(100): # they finish behind the program's back
            if not collectors():
                break
            time.sleep(0.05)
        self.assertEqual(collectors(), [])

    def trace_in(self, folder):
        self.wait_for_collectors()
        [trace] = glob.glob(os.path.join(folder, "*.tide"))
        self.assertEqual([n for n in os.listdir(folder) if not n.endswith(".tide")], [])
        return trace

    def test_a_program_is_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            done, trace = self.record(folder, tide.program("deep"), "3", "100")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            result = tide.report(trace)
            self.whole(result)
            self.assertEqual(result["summary"]["alloc_calls"], 100)

    def test_programs_that_begin_at_once_are_all_recorded(self):
        """A collector that begins looks for folders of dead ones, and so calls on the others."""
        many = 24
        with tempfile.TemporaryDirectory() as folder:
            script = f'for i in $(seq {many}); do "$@" & done; wait'
            env = dict(self.surroundings(folder), TIDEMARK_OUTPUT="%p.tide")
            subprocess.run(["sh", "-c", script, "sh", "env", f"LD_PRELOAD={LIBRARY}",
                            tide.program("deep"), "3", "100"],
                           env=env, cwd=folder, check=True, timeout=60)
            self.wait_for_collectors()
            traces = glob.glob(os.path.join(folder, "*.tide"))
            calls = [tide.report(trace)["summary"]["alloc_calls"] for trace in traces]
            self.assertEqual(sorted(calls), [100] * many)

    def test_notes_that_are_in_the_file_only_are_not_read(self):
        with open(tide.program("count_to"), "rb") as file:
            image = bytearray(file.read())
        headers, = struct.unpack_from("<Q", image, 32)
        for at in range(headers, headers + 56 * struct.unpack_from("<H", image, 56)[0], 56):
            if struct.unpack_from("<I", image, at)[0] == 4: # PT_NOTE: its addresses, and 4
                struct.pack_into("<QQ", image, at + 16, 0x70000000, 0x70000000)
                struct.pack_into("<Q", image, at + 48, 4)
        with tempfile.TemporaryDirectory() as programs, \
                tempfile.TemporaryDirectory() as folder:
            program = os.path.join(programs, "noted")
            with open(program, "wb") as file:
                file.write(image)
            os.chmod(program, 0o755)
            done, _ = self.record(folder, program, "10")
            self.assertEqual((done.returncode, done.stderr), (7, ""))

    def test_calipers_variables_ask_for_a_report(self):
        """It comes when the program has ended, where the program's output goes."""
        asked = "SELECT mem.alloc,count() GROUP BY mem.alloc WHERE mem.alloc"
        for services, name, where in (
                ("alloc:sysalloc,trace:report", None, "stdout"),
                ("alloc,trace,report", "stderr", "stderr"),
                ("alloc,sysalloc,report", "answer.txt", "file")):
            variables = [f"CALI_SERVICES_ENABLE={services}", f"CALI_REPORT_CONFIG={asked}"]
            variables += [f"CALI_REPORT_FILENAME={name}"] if name else []
            with tempfile.TemporaryDirectory() as folder:
                done = self.start(folder, tide.program("phases"), variables=variables)
                # In a container the program waits for it, with words in its buffers perhaps.
                own = re.sub(r"(?m)^\{.*\}\n", "", done.stdout)
                answers = {"stdout": own, "stderr": done.stderr}
                if where == "file":
                    for _ in range(100):
                        if not collectors():
                            break
                        time.sleep(0.05)
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        answers["file"] = file.read()
                    os.remove(os.path.join(folder, name))
                said = subprocess.run(
                    [tide.TIDEMARK, "query", *([] if "sysalloc" in services else
                                               ["--labelled"]), self.trace_in(folder), asked],
                    capture_output=True, text=True, check=True).stdout
            self.assertIn("row", said)
            self.assertEqual({key: text for key, text in answers.items() if text},
                             {where: said})

    def test_a_mistake_in_calipers_query_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.start(folder, tide.program("deep"), "3", "100", variables=[
                "CALI_SERVICES_ENABLE=report", "CALI_REPORT_CONFIG=SELECT sise"])
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertIn("did you mean 'size'?", done.stderr)
            self.whole(tide.report(self.trace_in(folder)))

    def stopped_collector(self, folder):
        """Record a program that ends while its collector is stopped: the collector's pid."""
        script = f"{tide.program('deep')} 3 100; echo ready; read line"
        with subprocess.Popen(["sh", "-c", script], cwd=folder, text=True,
                              env=dict(self.surroundings(folder), LD_PRELOAD=LIBRARY,
                                       TIDEMARK_OUTPUT=os.path.join(folder, "t")),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            [collector] = [int(path.split("/")[2]) for path in collectors()
                           if tide.read_of(int(path.split("/")[2]), "environ").find(
                               os.fsencode(folder)) >= 0]
            os.kill(collector, signal.SIGSTOP)
            process.communicate("\n", timeout=20)
        return collector

    def report_while_stopped(self, folder, seconds):
        """Stop the collector for SECONDS after its program's end; what a report says that begins
        then, and after how long."""
        collector = self.stopped_collector(folder)
        go_on = threading.Timer(seconds, os.kill, (collector, signal.SIGCONT))
        go_on.start()
        begin = time.monotonic()
        result = tide.report(os.path.join(folder, "t.tide"))
        took = time.monotonic() - begin
        go_on.join()
        self.trace_in(folder)
        return result, took

    def test_a_report_waits_until_the_collector_has_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            result, took = self.report_while_stopped(folder, 0.7)
            self.whole(result)
            self.assertGreaterEqual(result["summary"]["alloc_calls"], 100)
            self.assertGreater(took, 0.5)

    def test_a_report_does_not_wait_for_long(self):
        with tempfile.TemporaryDirectory() as folder:
            result, took = self.report_while_stopped(folder, 7)
            self.assertFalse(result["honesty"]["complete"])
            self.assertIn("still being recorded", result["honesty"]["problem"])
            self.assertLess(took, 6)

    def test_a_peak_that_nobody_was_told_is_a_least_one(self):
        bytes_made = 100 << 20
        with tempfile.TemporaryDirectory() as folder:
            _, trace = self.record(folder, tide.program("fills"), "100", "1")
            summary = tide.report(trace)["summary"]
            text = subprocess.run([tide.TIDEMARK, "report", trace], capture_output=True,
                                  text=True, check=True).stdout
            self.assertFalse(summary["rss_peak_exact"])
            self.assertNotIn("resident at most", text)
            self.assertNotIn("never touched", text)
        summary = tide.Recorded([tide.program("fills"), "100", "1"]).report()["summary"]
        self.assertTrue(summary["rss_peak_exact"])
        self.assertGreater(summary["rss_peak_bytes"], bytes_made)

    def test_what_it_starts_goes_into_the_same_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = tide.program("deep")
            done, trace = self.record(folder, "/bin/sh", "-c",
                                      f"{deep} 3 10; {deep} 3 20; exit 5")
            self.assertEqual(done.returncode, 5)
            result = tide.report(trace, "--total", "--flat")
            self.whole(result)
            rows = {row["function"]: row for row in result["rows"]}
            self.assertEqual(rows["descend"]["calls"], 30)

    def test_the_program_has_no_child_to_wait_for(self):
        with tempfile.TemporaryDirectory() as folder:
            code = ("import os\ntry:\n os.wait()\nexcept ChildProcessError:\n print('none')\n"
                    "print(sorted(os.listdir('/proc/self/fd')))")
            done, _ = self.record(folder, "/usr/bin/python3", "-c", code)
            plain = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True,
                                   text=True, check=True)
            self.assertEqual(done.stdout, plain.stdout)
            self.assertIn("none", done.stdout)

    def test_a_program_may_clear_its_environment(self):
        # What the recorder adds to the environment is no block that the program frees.
        with tempfile.TemporaryDirectory() as folder:
            done, trace = self.record(folder, tide.program("clears_environment"))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.whole(tide.report(trace))

    def test_a_mistake_in_the_monitors_costs_no_block_either(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "out.tide")
            done = subprocess.run([tide.TIDEMARK, "run", "-o", trace,
                                   tide.program("clears_environment")],
                                  env=dict(os.environ, TIDEMARK_MONITOR="simpel"),
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.whole(tide.report(trace))

    def test_variables_say_where_the_trace_is_and_what_is_in_it(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            done = self.start(
                folder, tide.program("deep"), "9", "100",
                variables=[f"TIDEMARK_OUTPUT={other}/of-%e", "TIDEMARK_DEPTH=4",
                           "TIDEMARK_FREE_STACKS=1", "TIDEMARK_SPACES=heap"])
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            trace = self.trace_in(other)
            self.assertEqual(os.listdir(folder), [])
            self.assertEqual(os.path.basename(trace), "of-deep.tide")
            result = tide.report(trace)
            self.whole(result)
            self.assertEqual(result["honesty"]["truncated_stacks"], 100)
            self.assertEqual([space["space"] for space in result["spaces"]
                              if space["alloc_calls"]], ["heap"])
            info = subprocess.run([tide.TIDEMARK, "info", trace], capture_output=True,
                                  text=True, check=True).stdout
            self.assertIn("free-stacks", info)

    def test_a_name_that_is_taken_is_told_and_the_newest_trace_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = tide.program("deep")
            for number, said in ((1, ""), (2, "tidemark: x.tide exists and is not "
                                              "overwritten: this trace is x.2.tide\n")):
                done = self.start(folder, deep, "9", f"{number}00",
                                  variables=["TIDEMARK_OUTPUT=x"])
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", said))
                self.wait_for_collectors()
                newest = subprocess.run([tide.TIDEMARK, "report", "--json"], cwd=folder,
                                        capture_output=True, text=True, check=True).stdout
                self.assertEqual(json.loads(newest)["summary"]["alloc_calls"], number * 100)

    def test_a_flag_that_is_off_is_off(self):
        for value, options in (("0", "cfi"), ("off", "cfi"), ("", "cfi"), ("1", "none")):
            with self.subTest(value=value), tempfile.TemporaryDirectory() as folder:
                _, trace = self.record(folder, tide.program("deep"), "3", "1",
                                       variables=[f"TIDEMARK_NO_STACKS={value}"])
                info = subprocess.run([tide.TIDEMARK, "info", trace], capture_output=True,
                                      text=True, check=True).stdout
                self.assertIn(f"unwind={options} ", info)

    def test_only_programs_that_were_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = tide.program("deep")
            _, trace = self.record(folder, "/bin/sh", "-c",
                                   f"{deep} 3 10; sleep 0.3; {deep} 3 20; exit 0",
                                   variables=["TIDEMARK_TARGET=deep"])
            result = tide.report(trace)
            self.whole(result)
            self.assertEqual(result["summary"]["processes"], 2)
            self.assertEqual(result["summary"]["alloc_calls"], 30)

    def test_a_mistake_is_said_in_one_line_and_the_program_is_recorded(self):
        for mistake, why in (("TIDEMARK_DEPTH=many", "is not a whole number"),
                             ("TIDEMARK_DEPTH=0", "from 1 to 2047"),
                             ("TIDEMARK_UNWIND=magic", "is not one of none, fp"),
                             ("TIDEMARK_OUTPUT=%q", "unknown %q")):
            with self.subTest(mistake=mistake), tempfile.TemporaryDirectory() as folder:
                done, trace = self.record(folder, tide.program("deep"), "3", "10",
                                          variables=[mistake])
                self.assertEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(mistake.partition("=")[0], done.stderr)
                self.assertIn(why, done.stderr)
                self.whole(tide.report(trace))
                said = subprocess.run(["env", mistake, tide.TIDEMARK, "doctor"],
                                      capture_output=True, text=True, check=True).stdout
                self.assertIn(why, " ".join(said.split()))

    def test_doctor_knows_a_variable_with_a_mistake_in_its_name(self):
        said = subprocess.run(["env", "TIDEMARK_OUPUT=x", tide.TIDEMARK, "doctor"],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("did you mean TIDEMARK_OUTPUT?", " ".join(said.split()))

    def test_that_no_trace_can_be_written_is_said_once(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = tide.program("deep")
            done = self.start(folder, "/bin/sh", "-c", f"{deep} 3 10; {deep} 3 10; exit 3",
                              variables=["TIDEMARK_OUTPUT=nowhere/x"])
            self.assertEqual(done.returncode, 3)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("nowhere/x.tide: No such file or directory", done.stderr)
            self.assertIn("not recorded", done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_every_variable_is_in_the_manual(self):
        source = os.path.join(tide.SOURCE, "docs", "man", "tidemark-run.1")
        with open(source, encoding="utf-8") as file:
            manual = file.read()
        listed = subprocess.run([tide.TIDEMARK, "run", "--help"], capture_output=True,
                                text=True, check=True).stdout
        options = set(re.findall(r"^  (?:-\w, )?--([\w-]+)", listed, re.M))
        only_run = {"monitor", "wait", "quiet", "force", "embed-symbols", "query"}
        for option in options - only_run | {"monitor"}:
            self.assertIn("TIDEMARK_" + option.upper().replace("-", "_"), manual)

    def test_a_soft_limit_on_descriptors_is_no_limit_for_us(self):
        # Each process costs us two.
        with tempfile.TemporaryDirectory() as folder:
            deep = tide.program("deep")
            script = f"for i in $(seq 30); do (sleep 1; {deep} 3 10) & done; wait; ulimit -Sn"
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            done, trace = self.record(
                folder, "/bin/sh", "-c", script,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (20, most)))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "20\n", ""))
            result = tide.report(trace, "--total", "--flat")
            self.assertEqual(result["honesty"]["troubles"], [])
            rows = {row["function"]: row for row in result["rows"]}
            self.assertEqual(rows["descend"]["calls"], 300)

    def contain(self, folder, *argv):
        """Run ARGV as the first process of a container."""
        first = ["unshare", "--fork", "--pid", "--mount-proc", "--kill-child"]
        if subprocess.run([*first, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no namespaces are to be had here")
        return subprocess.run([*first, *argv], env=self.surroundings(folder), cwd=folder,
                              timeout=30, capture_output=True, text=True, check=False)

    def as_first(self, folder, *argv):
        """Record ARGV as the first process of a container."""
        done = self.contain(folder, "env", f"LD_PRELOAD={LIBRARY}", *argv)
        return done, self.trace_in(folder)

    def below_first(self, folder, script):
        """Record what SCRIPT starts after $PRELOAD; the first process ends right after."""
        done = self.contain(folder, "/bin/sh", "-c",
                            f"PRELOAD='env LD_PRELOAD={LIBRARY}'; {script}; exit 7")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "", ""))
        # Its collector was killed with it, so the session's folder may be there still.
        [trace] = glob.glob(os.path.join(folder, "*.tide"))
        return tide.report(trace, "--total", "--flat", "--rows", "1000")

    def calls_in(self, result, function):
        return {row["function"]: row["calls"] for row in result["rows"]}.get(function)

    def test_a_short_program_below_the_first_process_is_recorded(self):
        deep = tide.program("deep")
        for script in (f"$PRELOAD {deep} 3 10", f"$PRELOAD /bin/sh -c 'exec {deep} 3 10'",
                       f"$PRELOAD /bin/sh -c '{deep} 3 5; {deep} 3 5; exit 0'"):
            with self.subTest(script=script), tempfile.TemporaryDirectory() as folder:
                result = self.below_first(folder, script)
                self.whole(result)
                self.assertEqual(self.calls_in(result, "descend"), 10)

    def test_all_that_it_did_is_there_when_it_leaves_others_behind(self):
        deep = tide.program("deep")
        with tempfile.TemporaryDirectory() as folder:
            result = self.below_first(
                folder, f"$PRELOAD /bin/sh -c 'sleep 5 & {deep} 3 10; exit 0'")
            self.assertEqual(self.calls_in(result, "descend"), 10)
            self.assertEqual(result["honesty"]["dropped"], 0)

    def test_who_goes_on_below_the_first_process_is_recorded_as_well(self):
        deep = tide.program("deep")
        with tempfile.TemporaryDirectory() as folder:
            result = self.below_first(
                folder, f"$PRELOAD /bin/sh -c '(sleep 0.3; {deep} 3 20) & exit 0'; sleep 2")
            self.whole(result)
            self.assertEqual(self.calls_in(result, "descend"), 20)

    def test_the_first_process_of_a_container_has_no_child_to_wait_for_either(self):
        with tempfile.TemporaryDirectory() as folder:
            code = "import os\ntry:\n os.wait()\nexcept ChildProcessError:\n print(os.getpid())"
            done, _ = self.as_first(folder, "/usr/bin/python3", "-c", code)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))

    def test_the_trace_of_a_container_has_its_end(self):
        # All others are killed together with the first.
        with tempfile.TemporaryDirectory() as folder:
            deep = tide.program("deep")
            done, trace = self.as_first(folder, "/bin/sh", "-c",
                                        f"{deep} 3 10; exec {deep} 3 20")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            result = tide.report(trace, "--total", "--flat")
            self.whole(result)
            rows = {row["function"]: row for row in result["rows"]}
            self.assertEqual(rows["descend"]["calls"], 30)

    def test_the_first_process_of_a_container_may_give_its_rights_away(self):
        with tempfile.TemporaryDirectory() as folder:
            done, trace = self.as_first(folder, "/usr/bin/python3", "-c",
                                        "import os; os.setuid(65534)")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.whole(tide.report(trace))

    def test_what_the_program_has_closed_is_closed(self):
        with tempfile.TemporaryDirectory() as folder:
            code = ("import os, sys, time\nos.close(int(sys.argv[1]))\n"
                    "sys.stdin.read()\n")
            ours, its = os.pipe()
            with subprocess.Popen(
                    ["env", f"LD_PRELOAD={LIBRARY}", "/usr/bin/python3", "-c", code, str(its)],
                    env=self.surroundings(folder), cwd=folder, pass_fds=[its],
                    stdin=subprocess.PIPE) as process:
                os.close(its)
                ready, _, _ = select.select([ours], [], [], 20)
                self.assertEqual(ready, [ours], "somebody has it open")
                self.assertEqual(os.read(ours, 1), b"")
                process.stdin.close()
            os.close(ours)
            self.trace_in(folder)


if __name__ == "__main__":
    tide.main()
