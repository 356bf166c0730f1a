"""tests/e2e/test_unrecorded.py - programs that are not recorded are counted, each with its reason."""
import os
import re
import shutil
import subprocess
import tempfile

import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]
WAYS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve",
        "execveat", "vfork", "posix_spawn", "posix_spawnp")
CLEANED = "LD_PRELOAD was removed from its environment"
HINT = ("; 'run --keep-preload' records programs that are started with a clean "
        "environment")
LINE = re.compile(r"(At least )?(\d+) programs? (?:was|were) not recorded, nor what "
                  r"(?:it|they) started: (.*)")


class Unrecorded(tide.TidyCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="tide-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.trace = os.path.join(self.folder, "t.tide")
        self.hinted = False     # does the trace name --keep-preload?

    def record(self, *words, options=()):
        """Record WORDS; what they printed, and what tidemark said in one piece."""
        if os.path.exists(self.trace):
            os.unlink(self.trace)
        done = subprocess.run([tide.TIDEMARK, "run", "--wait", "-o", self.trace, *options,
                               "--", *words], capture_output=True, text=True, timeout=60,
                              check=False)
        return done.stdout, done.stderr

    def told(self):
        """What the trace says: "at least" or None, how many, and of whom."""
        troubles = tide.report(self.trace)["honesty"]["troubles"]
        if not troubles:
            return None, 0, ""
        self.assertEqual(len(troubles), 1, troubles)
        line, _, hint = troubles[0].partition(HINT)
        self.assertEqual(hint, "")
        self.hinted = HINT in troubles[0]
        match = LINE.fullmatch(line)
        self.assertIsNotNone(match, troubles)
        return match[1], int(match[2]), match[3]

    def rows(self):
        return tide.info(self.trace)["unrecorded"]


class Counted(Unrecorded):
    """tests/programs/starts_unrecorded starts exactly as many as it is told."""

    def test_each_way_to_execute_is_counted(self):
        for how in WAYS:
            with self.subTest(how=how):
                out, _ = self.record(tide.program("starts_unrecorded"), how, "25", "/bin/true")
                self.assertEqual(out, "25\n")
                least, count, of_whom = self.told()
                self.assertEqual((least, count), (None, 25))
                self.assertRegex(of_whom, rf"^\S*true \(25 times, .*; {CLEANED}\)$")
                self.assertTrue(self.hinted)

    def test_the_shells_of_libc_are_counted(self):
        for how in ("system", "popen"):
            for options in ((), ("--keep-preload",)):
                with self.subTest(how=how, options=options):
                    self.record(tide.program("starts_unrecorded"), how, "40", ":",
                                options=options)
                    least, count, of_whom = self.told()
                    self.assertEqual((least, count), (None, 40))
                    self.assertRegex(of_whom, rf"^\S*sh \(40 times.*; {CLEANED}\)$")
                    self.assertEqual(self.hinted, not options)

    def test_a_shell_of_libc_that_is_seen_counts_once(self):
        self.record(tide.program("starts_unrecorded"), "system", "3", "sleep 0.5; :")
        rows = [row for row in self.rows() if not row["program"].endswith("sleep")]
        self.assertEqual(len(rows), 3, self.rows())

    def test_who_keeps_the_environment_is_recorded(self):
        for how in WAYS:
            with self.subTest(how=how):
                self.record(tide.program("starts_unrecorded"), "keeping-" + how, "5", "/bin/true")
                self.assertEqual(self.told(), (None, 0, ""))
                names = [os.path.basename(process["exe"])
                         for process in tide.info(self.trace)["processes"]]
                self.assertEqual(names.count("true"), 5)

    def test_what_could_not_be_executed_is_not_counted(self):
        for how in ("execve", "posix_spawn"):
            out, _ = self.record(tide.program("starts_unrecorded"), "failing-" + how, "30",
                                 "/bin/true")
            self.assertEqual(out, "30\n")
            self.assertEqual(self.told()[:2], (None, 30))

    def test_a_wrong_environment_is_the_kernels_to_refuse(self):
        program = tide.program("wrong_environments")
        plain = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(plain.stdout.count("EFAULT"), 6, plain.stdout)
        for options in ((), ("--keep-preload",)):
            self.assertEqual(self.record(program, options=options)[0], plain.stdout)

    def test_a_shell_that_starts_many_with_a_clean_environment(self):
        self.record("sh", "-c", "i=0; while [ $i -lt 300 ]; do env -i /bin/true; "
                                "i=$((i+1)); done")
        self.assertEqual(self.told()[:2], (None, 300))

    def test_the_table_has_each_process_with_its_life(self):
        self.record("sh", "-c", "env -i /bin/sleep 0.3; env -i /bin/sleep 0.1; exit 0")
        rows = self.rows()
        self.assertEqual([os.path.basename(row["program"]) for row in rows], ["sleep"] * 2)
        lives = sorted(row["end_s"] - row["begin_s"] for row in rows)
        self.assertTrue(0.1 <= lives[0] < 0.25 and 0.3 <= lives[1] < 0.6, lives)
        self.assertEqual({row["reason"] for row in rows}, {CLEANED})
        text = subprocess.run([tide.TIDEMARK, "info", self.trace], capture_output=True,
                              text=True, timeout=60, check=True,
                              env={**os.environ, "COLUMNS": "80"}).stdout
        table = text.split("Not recorded\n")[1]
        self.assertEqual(table.count("/sleep\n"), 1)
        self.assertRegex(table, r"\n +2 +0\.[12]\d* s +0\.[3-5]\d* s +\S*/sleep\n")
        self.assertLessEqual(max(map(len, table.splitlines())), 80)

    @tide.unittest.skipUnless(os.path.exists(f"/proc/self/task/{os.getpid()}/children"),
                              "the kernel lists no children")
    def test_what_an_unrecorded_program_starts_makes_the_number_a_least_one(self):
        self.record("env", "-i", "/bin/sh", "-c", "sleep 0.5; exit 0")
        least, count, of_whom = self.told()
        self.assertEqual((least, count), ("At least ", 2))
        self.assertIn("sleep (", of_whom)

    def test_a_session_that_is_taken_away(self):
        self.record("env", "-u", "TIDEMARK_SESSION", "TIDEMARK_MONITOR=simple", "/bin/true")
        self.assertEqual(self.told()[1], 1)
        self.assertIn("TIDEMARK_SESSION in its environment is not that of this run", self.told()[2])

    def test_static_programs_that_live_for_a_moment(self):
        source = os.path.join(self.folder, "moment.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("int main(void) { return 0; }\n")
        static = os.path.join(self.folder, "moment")
        subprocess.run(["cc", "-static", "-o", static, source], check=True, timeout=60)
        self.record(tide.program("starts_unrecorded"), "keeping-execve", "40", static)
        least, count, of_whom = self.told()
        self.assertEqual((least, count), (None, 40))
        self.assertRegex(of_whom, rf"^{re.escape(static)} \(40 times, .*; statically linked\)$")
        self.assertFalse(self.hinted)

    def test_follow_and_target_ask_for_less(self):
        driver = [tide.program("starts_unrecorded"), "execve", "5", "/bin/true"]
        for options, count in ((("--follow", "exec"), 0), (("--follow", "none"), 0),
                               (("-t", "starts*"), 0), (("-t", "true,starts*"), 5)):
            self.record(*driver, options=options)
            self.assertEqual(self.told()[1], count, options)


class Kept(Unrecorded):
    """--keep-preload puts back what a clean environment lacks."""

    def test_each_way_to_execute_is_recorded(self):
        for how in WAYS:
            with self.subTest(how=how):
                self.record(tide.program("starts_unrecorded"), how, "5", "/bin/true",
                            options=["--keep-preload"])
                self.assertEqual(self.told(), (None, 0, ""))
                names = [os.path.basename(process["exe"])
                         for process in tide.info(self.trace)["processes"]]
                self.assertEqual(names.count("true"), 5)

    def test_the_rest_of_the_environment_stays(self):
        math = re.search(r"/\S*/libm\.so\.\d+", subprocess.run(
            ["ldconfig", "-p"], env={"PATH": "/sbin:/usr/sbin"}, capture_output=True,
            text=True, check=True, timeout=60).stdout)[0]
        out, _ = self.record("env", "-i", "B=2", f"LD_PRELOAD={math}", "A=1", "/usr/bin/env",
                             options=["--keep-preload"])
        lines = out.splitlines()
        own, session, *rest = lines
        self.assertEqual(rest, ["B=2", "A=1"])
        self.assertRegex(own, rf"^LD_PRELOAD=/\S*/libtidemark\.so:{re.escape(math)}$")
        self.assertRegex(session, rf"^TIDEMARK_SESSION={re.escape(self.runtime)}/")

    def test_through_several_clean_environments(self):
        self.record("sh", "-c", "env -i sh -c 'env -i sh -c /bin/true; exit 0'",
                    options=["--keep-preload"])
        self.assertEqual(self.told(), (None, 0, ""))
        self.assertIn("true", [os.path.basename(process["exe"])
                               for process in tide.info(self.trace)["processes"]])

    def test_a_clean_environment_stays_clean_without_the_option(self):
        out, _ = self.record("env", "-i", "A=1", "/usr/bin/env")
        self.assertEqual(out, "A=1\n")


@tide.unittest.skipUnless(os.geteuid() == 0, "needs root")
class OutOfReach(Unrecorded):
    """Who cannot reach the collector is named, and hears no complaint of the loader's."""

    def jail(self, library):
        """A folder to chroot to, with a program in it, and LIBRARY or not."""
        jail = os.path.join(self.folder, "jail")
        source = os.path.join(self.folder, "jailed.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("#include <stdio.h>\n#include <unistd.h>\nint main(void)\n"
                       "{ usleep(100000); puts(\"jailed\"); return 0; }\n")
        os.makedirs(jail)
        subprocess.run(["cc", "-o", os.path.join(jail, "jailed"), source], check=True,
                       timeout=60)
        needed = subprocess.run(["ldd", os.path.join(jail, "jailed")], capture_output=True,
                                text=True, check=True, timeout=60).stdout
        for path in re.findall(r"(/\S+)", needed) + ([LIBRARY] if library else []):
            inside = jail + path
            os.makedirs(os.path.dirname(inside), exist_ok=True)
            shutil.copy(os.path.realpath(path), inside)
        return jail

    def test_a_private_mount_over_the_session(self):
        script = (f"mount -t tmpfs none {self.runtime}; i=0; while [ $i -lt 20 ]; do "
                  "/bin/true; i=$((i+1)); done")
        out, err = self.record("unshare", "-m", "sh", "-c", script)
        if "unshare" in err:
            self.skipTest(err)
        self.assertEqual(out, "")
        least, count, of_whom = self.told()
        self.assertEqual((least, count), (None, 20))
        self.assertRegex(of_whom, r"^\S*true \(20 times, .*; the collector is out of its "
                                  r"reach, as in a chroot or behind a private /tmp\)$")

    def test_a_jail_with_the_library(self):
        out, err = self.record("chroot", self.jail(True), "/jailed")
        self.assertEqual(out, "jailed\n")
        least, count, of_whom = self.told()
        self.assertEqual((least, count), (None, 1))
        self.assertRegex(of_whom, r"^/jailed \(0\.\d\d s; the collector is out of its reach, "
                                  r"as in a chroot or behind a private /tmp\)$")
        self.assertNotIn("ld.so", err)

    def test_a_jail_without_the_library(self):
        out, err = self.record("chroot", self.jail(False), "/jailed")
        self.assertEqual(out, "jailed\n")
        self.assertEqual(self.told()[:2], (None, 1))
        self.assertRegex(self.told()[2], r"^/jailed \(0\.\d\d s; libtidemark.so is out of "
                                         r"its reach, as in a chroot or in a folder closed "
                                         r"to its user\)$")
        self.assertNotIn("ld.so", err)

    def dropped(self, library):
        """What is told of twenty programs that root executes as another user; LIBRARY says
        who may go to the recorder's folder.  To the collector's nobody may."""
        folder = tempfile.mkdtemp(prefix="tide-e2e-")
        os.chmod(folder, library)
        for path in (tide.TIDEMARK, LIBRARY):
            shutil.copy(path, folder)
        script = ("i=0; while [ $i -lt 20 ]; do setpriv --reuid 65534 --regid 65534 "
                  "--clear-groups /bin/true; i=$((i+1)); done")
        subprocess.run([os.path.join(folder, os.path.basename(tide.TIDEMARK)), "run",
                        "--wait", "-o", self.trace, "--", "sh", "-c", script],
                       capture_output=True, timeout=60, check=True)
        return self.told()

    def test_who_drops_rights_cannot_reach_a_private_session(self):
        least, count, of_whom = self.dropped(0o755)
        self.assertEqual((least, count), (None, 20))
        self.assertRegex(of_whom, r"^\S*true \(20 times, [^;]*; runs as another user, who "
                                  r"cannot reach the collector\)$")

    def test_who_drops_rights_cannot_reach_a_private_library(self):
        least, count, of_whom = self.dropped(0o700)
        self.assertEqual((least, count), (None, 20))
        self.assertRegex(of_whom, r"^\S*true \(20 times, [^;]*; libtidemark.so is out of its "
                                  r"reach, as in a chroot or in a folder closed to its "
                                  r"user\)$")


if __name__ == "__main__":
    tide.main()
