"""tests/e2e/test_follow.py - --follow and --target: who is recorded, who is not, what is said."""
import os
import re
import shutil
import subprocess
import tempfile

import tide


class Chosen(tide.TidyCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="tide-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.trace = os.path.join(self.folder, "t.tide")

    def record(self, *words, status=0):
        """Run with OPTIONS and argv; what tidemark said, with the trace's line left out."""
        done = subprocess.run([tide.TIDEMARK, "run", "-o", self.trace, *words],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, [line for line in done.stderr.splitlines()
                             if "; now: tidemark report" not in line]

    def quiet(self, *words, status=0):
        self.assertEqual(self.record(*words, status=status), ("", []))

    def calls(self, *names):
        result = tide.report(self.trace, "--total", "--flat")
        self.whole(result)
        rows = {row["function"]: row["calls"] for row in result["rows"]}
        return tuple(rows.get(name, 0) for name in names)

    def family(self):
        return self.calls("parent_makes", "child_makes", "second_image_makes")

    def programs(self):
        return [os.path.basename(process["exe"])
                for process in tide.info(self.trace)["processes"]]

    def sentence(self):
        report = subprocess.run([tide.TIDEMARK, "report", self.trace], capture_output=True,
                                text=True, timeout=60, check=True).stdout
        return next(line for line in report.splitlines() if line.startswith("  Ran "))


class Follow(Chosen):
    def test_all_is_the_default(self):
        self.quiet(tide.program("family"), status=7)
        self.assertEqual(self.family(), (10, 5, 3))
        os.unlink(self.trace)
        self.quiet("--follow", "all", tide.program("family"), status=7)
        self.assertEqual(self.family(), (10, 5, 3))

    def test_exec_and_none_leave_children_out(self):
        for follow in ("exec", "none"):
            self.quiet("--follow", follow, tide.program("family"), status=7)
            self.assertEqual((self.family(), self.programs()), ((10, 0, 0), ["family"]))
            os.unlink(self.trace)

    def test_exec_goes_through_a_chain_and_none_does_not(self):
        chain = ["sh", "-c", 'exec env nice "$0"', tide.program("family")]
        self.quiet("--follow", "exec", *chain, status=7)
        self.assertEqual(self.family(), (10, 0, 0))
        self.assertEqual(self.programs()[1:], ["env", "nice", "family"])
        os.unlink(self.trace)
        self.quiet("--follow", "none", *chain, status=7)
        self.assertEqual(self.family(), (0, 0, 0))
        [shell] = tide.info(self.trace)["processes"]
        self.assertEqual(shell["ending"], "replaced by exec, exit status 7")

    def test_a_program_that_executes_itself(self):
        for follow, made in (("exec", 21 * 10), ("none", 10)):
            self.record("--follow", follow, tide.program("exec_self"), "20", status=5)
            self.assertEqual(self.calls("make"), (made,))
            os.unlink(self.trace)

    def test_a_process_and_its_main_thread_stay_the_same_over_exec(self):
        self.quiet("--wait", tide.program("family"), status=7)
        self.assertEqual(len(self.programs()), 3)
        self.assertRegex(self.sentence(), r"with 2 allocating threads in 2 processes;")
        os.unlink(self.trace)
        self.record(tide.program("exec_self"), "20", status=5)
        self.assertRegex(self.sentence(),
                         r"with 1 allocating thread in 1 process that ran 21 programs;")

    def test_children_of_every_kind_run_unharmed(self):
        for how in ("fork", "vfork", "spawn", "system", "popen", "clone", "clone_vm"):
            with self.subTest(how=how):
                out, said = self.record("--follow", "exec", tide.program("starts"), how, "10")
                self.assertIn('{"bad": 0,', out)
                self.assertEqual(said, [])
                # Who shares the memory of the process is the process.
                shared = 40 if how == "clone_vm" else 0
                self.assertEqual(self.calls("child_makes", "image_makes"), (shared, 0))
                self.assertEqual(self.programs(), ["starts"])
                os.unlink(self.trace)

    def test_forks_in_the_middle_of_a_record(self):
        for _ in range(4):
            out, _ = self.record("--follow", "none", tide.program("fork_in_handler"), "50")
            self.assertIn('{"bad": 0,', out)
            made = int(out.split('"parent": ')[1].split(",")[0])
            self.assertEqual(self.calls("parent_makes", "child_makes"), (made, 0))
            os.unlink(self.trace)

    def test_many_short_children_cost_no_descriptor(self):
        out, _ = self.record("--follow", "exec", tide.program("short_children"), "500", "50")
        self.assertEqual(out, '{"bad": 0, "child": 1500}\n')
        self.assertEqual(self.programs(), ["short_children"])

    def test_the_trace_is_complete_though_a_child_lives_on(self):
        go = os.path.join(self.folder, "go")
        for follow in ("exec", "none"):
            self.quiet("--follow", follow, tide.program("daemon"), go, "100", status=5)
            self.assertEqual(self.calls("early_makes", "late_makes"), (0, 0))
            # It holds none of our memory, and our folder is gone.
            [daemon] = self.who_is_left()
            self.assertNotIn("with shared memory", daemon)
            self.assertEqual(os.listdir(self.runtime), [])
            with open(go, "w", encoding="ascii"):
                pass
            self.nothing_left()
            os.unlink(self.trace)

    def test_what_has_ended_is_not_in_memory(self):
        each = 64 << 20
        hold = f"import time; kept = b'x' * {each}; time.sleep(0.3)"
        one = f'/usr/bin/python3 -c "{hold}"; '
        self.record("--", "sh", "-c", one * 4)
        peak = tide.report(self.trace)["summary"]["rss_peak_bytes"]
        done = subprocess.run([tide.TIDEMARK, "query", self.trace,
                               "SELECT rss FROM timeline FORMAT csv"],
                              capture_output=True, text=True, check=True)
        seen = [int(line) for line in done.stdout.split()[1:] if line]
        for most in (peak, max(seen)):
            self.assertGreater(most, each)
            self.assertLess(most, 2 * each)


class Target(Chosen):
    def test_a_name_picks_programs_among_others(self):
        self.quiet("-t", "family", "sh", "-c", 'env nice "$0"; env true; "$0"',
                   tide.program("family"), status=7)
        self.assertEqual(self.family(), (20, 10, 6))
        self.assertEqual(set(self.programs()), {"family"})

    def test_patterns_and_lists(self):
        for names in ("fam*", "x,family", "[ef]amil?", "x*,*y"):
            self.quiet("--target", names, "sh", "-c", 'env "$0"', tide.program("family"),
                       status=7)
            self.assertEqual((self.family(), set(self.programs())), ((10, 5, 3), {"family"}))
            os.unlink(self.trace)

    def test_target_and_follow_together(self):
        words = ["sh", "-c", '"$0"; exec "$0"', tide.program("family")]
        self.quiet("-t", "family", "--follow", "exec", *words, status=7)
        self.assertEqual(self.family(), (10, 0, 0))
        self.assertEqual(self.programs(), ["family"])

    def test_names_of_links_and_scripts(self):
        link = os.path.join(self.folder, "another-name")
        os.symlink(tide.program("family"), link)
        script = os.path.join(self.folder, "a-script-with-a-long-name")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\n{link}\nexit 0\n")
        os.chmod(script, 0o755)
        self.quiet("-t", "another-name", script)
        self.assertEqual(self.family(), (10, 5, 3))
        os.unlink(self.trace)
        self.quiet("-t", "a-script-with-a-long-name", "env", script)
        [program] = self.programs()
        self.assertIn(program, ("sh", "dash", "bash"))

    def test_nothing_of_that_name(self):
        _, said = self.record("-t", "no-such", "sh", "-c", "env true; env nice true")
        self.assertEqual(said, ["tidemark: no program named no-such was started; "
                                "programs seen: sh, env, true, nice"])
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_program_of_that_name_comes_late(self):
        """Nothing matched when the first program ended; the collector stays for those left."""
        go = os.path.join(self.folder, "go")
        daemon = ("setsid sh -c 'while [ ! -e \"$0\" ]; do sleep 0.01; done; \"$1\"' "
                  f"{go} {tide.program('family')} >/dev/null 2>&1 &")
        _, said = self.record("-t", "family", "sh", "-c", daemon)
        self.assertEqual(len(said), 1)
        self.assertIn("other processes of the run go on", said[0])
        with open(go, "w", encoding="ascii"):
            pass
        self.nothing_left()
        self.assertEqual(self.family(), (10, 5, 3))

    def test_bad_words_are_usage(self):
        for words in (["--follow", "some"], ["--follow"], ["-t", ""]):
            done = subprocess.run([tide.TIDEMARK, "run", *words, "true"], text=True,
                                  capture_output=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)


class NotRecorded(Chosen):
    """Programs that do not load the recorder are named, with the reason."""

    def build(self, name, *options):
        source = os.path.join(self.folder, "pause.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <unistd.h>\nint main(void) { usleep(700000); return 3; }\n")
        path = os.path.join(self.folder, name)
        subprocess.run(["cc", *options, "-o", path, source], check=True, timeout=60)
        return path

    def troubles(self):
        return tide.report(self.trace)["honesty"]["troubles"]

    def assert_said(self, count, program, reason, *words, status=0):
        """COUNT processes of PROGRAM were not recorded, and nobody else."""
        _, said = self.record(*words, status=status)
        who, times = ("1 program was", "") if count == 1 else \
            (f"{count} programs were", f"{count} times, ")
        life = r"\d\.\d\d s( to \d\.\d\d s)?"
        line = (rf"{who} not recorded, nor what (it|they) started: {re.escape(program)} "
                rf"\({times}{life}; {reason}\)")
        if "LD_PRELOAD" in reason:
            line += "; 'run --keep-preload' records programs that are started with a " \
                    "clean environment"
        [trouble] = self.troubles()
        self.assertRegex(trouble, rf"^{line}$")
        self.assertEqual(said, [f"tidemark: {trouble}"])
        os.unlink(self.trace)

    def test_static_programs(self):
        static = self.build("static", "-static")
        why = (1, static, "statically linked")
        self.assert_said(*why, "sh", "-c", f"exec {static}", status=3)
        self.assert_said(*why, "sh", "-c", f"{static}; exit 4", status=4)
        self.assert_said(*why, "-t", "static,sh", "sh", "-c", f"{static}; exit 4", status=4)
        self.assert_said(3, static, "statically linked",
                         "sh", "-c", f"{static} & {static} & {static} & wait")
        # Not missed: nobody asked for it.
        self.quiet("-t", "sh", "sh", "-c", f"{static}; exit 4", status=4)

    def test_the_program_that_was_left_has_ended_then(self):
        static = self.build("static", "-static")
        self.record("sh", "-c", f"exec {static}", status=3)
        [shell] = tide.info(self.trace)["processes"]
        self.assertEqual(shell["ending"], "replaced by exec, exit status 3")
        os.unlink(self.trace)
        self.record("env", "-i", "sh", "-c", "sleep 0.5; kill -9 $$", status=-9)
        [env] = tide.info(self.trace)["processes"]
        self.assertEqual(env["ending"], "replaced by exec, killed by SIGKILL")

    def test_an_environment_without_the_recorder(self):
        plain = self.build("plain")
        why = (1, plain, "LD_PRELOAD was removed from its environment")
        self.assert_said(*why, "env", "-i", plain, status=3)
        self.assert_said(*why, "env", "-u", "LD_PRELOAD", plain, status=3)

    def test_the_loader_is_no_static_program(self):
        loader = os.path.realpath("/proc/self/exe")
        for line in subprocess.run(["ldd", loader], capture_output=True, text=True,
                                   check=True, timeout=60).stdout.splitlines():
            if "/ld" in line:
                loader = os.path.realpath(line.split("(")[0].split("=>")[-1].strip())
        self.assert_said(1, loader, "LD_PRELOAD was removed from its environment",
                         "env", "-i", loader, self.build("plain"), status=3)

    @tide.unittest.skipUnless(os.geteuid() == 0, "needs root")
    @tide.unittest.skipUnless(tide.others_reach(tide.TIDEMARK), "others cannot come here")
    def test_setuid_and_other_users(self):
        plain = self.build("plain")
        os.chmod(self.folder, 0o755)
        other = ["setpriv", "--reuid", "65534", "--clear-groups"]
        setuid = self.build("setuid")
        os.chmod(setuid, 0o4755)
        self.assert_said(1, setuid, "setuid, setgid or with file capabilities",
                         *other, setuid, status=3)
        # The runtime folder of the tests is private: that user cannot get to the collector.
        self.assert_said(1, plain, "runs as another user, who cannot reach the collector",
                         *other, plain, status=3)

    def test_who_is_recorded_is_not_named(self):
        plain = self.build("plain")
        self.record("sh", "-c", f"env {plain} & nice {plain} & {plain}; wait")
        self.assertEqual(self.troubles(), [])


if __name__ == "__main__":
    tide.main()
