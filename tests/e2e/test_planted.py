"""What others put where tidemark writes or reads: links, pipes, devices.

In a folder that others write to, a name that can be foreseen may be a link of theirs, to a
file of ours.
"""
import os
import stat
import subprocess
import tempfile
import threading
import unittest

import tide

SECRET = "this is nobody's to overwrite\n"


class PlantedCase(tide.Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tide-planted-")
        self.trace = tide.record_once("planted", program_name="labels")
        self.victim = self.path("victim")
        with open(self.victim, "w", encoding="utf-8") as file:
            file.write(SECRET)

    def path(self, name):
        return os.path.join(self.folder, name)

    def tidemark(self, *words, **more):
        more = {"capture_output": True, **more}
        return subprocess.run([tide.TIDEMARK, *words], text=True, check=False, timeout=60,
                              cwd=self.folder, **more)

    def content(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()


class OutputTest(PlantedCase):
    def writers(self, name):
        """Each way to write to NAME, in words of tidemark."""
        check = ("check", "--max-peak", "1G")
        return [("export", "--to", "folded", "-o", name, self.trace),
                ("export", "--to", "sqlite", "-o", name, self.trace),
                ("export", "--to", "cali", "-o", name, self.trace),
                ("pack", "-q", "-o", name, self.trace),
                (*check, "--junit", name, self.trace),
                (*check, "--markdown", name, self.trace)]

    def at_the_end(self, name, **more):
        """`run` with a query whose answer goes to NAME."""
        env = {**os.environ, "CALI_SERVICES_ENABLE": "report,sysalloc",
               "CALI_REPORT_CONFIG": "SELECT count()", "CALI_REPORT_FILENAME": name}
        trace = tempfile.mktemp(dir=self.folder, suffix=".tide")
        return self.tidemark("run", "-q", "-o", trace, "--", tide.program("labels"), env=env,
                             **more)

    def monitored(self, options):
        trace = tempfile.mktemp(dir=self.folder, suffix=".tide")
        return self.tidemark("run", "-q", "-o", trace, "--monitor", options, "--",
                             tide.program("labels"))

    def test_a_link_is_not_followed(self):
        for target in (self.victim, self.path("not there"), self.folder, "/dev/null"):
            link = self.path("link")
            os.symlink(target, link)
            before = sorted(os.listdir(self.folder))
            for words in self.writers(link):
                with self.subTest(target=target, words=words):
                    done = self.tidemark(*words)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(f"{link}: this is a symbolic link", done.stderr)
                    self.assertEqual(os.readlink(link), target)
                    self.assertEqual(self.content("victim"), SECRET)
                    self.assertEqual(sorted(os.listdir(self.folder)), before)
            os.unlink(link)

    def test_nor_at_the_end_of_a_run(self):
        os.symlink(self.victim, self.path("link"))
        done = self.at_the_end(self.path("link"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("this is a symbolic link", done.stderr)
        self.assertEqual(self.content("victim"), SECRET)
        self.at_the_end(self.path("plain"))
        self.assertIn("count", self.content("plain"))
        self.assertIn("count", self.at_the_end("stdout").stdout)
        self.assertIn("count", self.at_the_end("stderr").stderr)

    def test_nor_by_a_monitor(self):
        os.symlink(self.victim, self.path("link"))
        done = self.monitored(f"simple,file={self.path('link')}")
        self.assertEqual(self.content("victim"), SECRET)
        self.assertIn("cannot write", done.stderr)
        self.monitored(f"simple,file={self.path('plain')}")
        self.assertIn("Memory Report", self.content("plain"))
        self.assertIn("Memory Report", self.monitored("simple,file=/dev/stdout").stdout)

    def test_a_file_of_our_own_is_replaced_and_keeps_its_mode(self):
        for number, words in enumerate(self.writers("own")):
            with self.subTest(words=words):
                name = self.path("own")
                with open(name, "w", encoding="utf-8") as file:
                    file.write("old")
                os.chmod(name, 0o640)
                os.link(name, self.path(f"kept{number}"))
                self.assertEqual(self.tidemark(*words).returncode, 0)
                self.assertNotEqual(self.content("own"), "old")
                self.assertEqual(self.content(f"kept{number}"), "old")
                if words[0] != "pack":  # which has the trace's
                    self.assertEqual(stat.S_IMODE(os.stat(name).st_mode), 0o640)

    def test_descriptors_are_written_where_they_are(self):
        whole = self.tidemark("export", "--to", "folded", self.trace).stdout
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            with self.subTest(name=name):
                with open(self.path("out"), "w", encoding="utf-8") as out:
                    out.write("before\n")
                    out.flush()
                    done = self.tidemark("export", "--to", "folded", "-o", name, self.trace,
                                         capture_output=False, stdout=out)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(self.content("out"), "before\n" + whole)
        script = 'cat <("$0" export --to folded -o >(cat >&2) "$1")'
        done = subprocess.run(["bash", "-c", script, tide.TIDEMARK, self.trace], text=True,
                              capture_output=True, timeout=60, check=False)
        self.assertEqual(done.stderr, whole)

    def test_a_pipe_is_written_if_it_is_ours(self):
        pipe, found = self.path("pipe"), []
        os.mkfifo(pipe)

        def read():
            with open(pipe, encoding="utf-8") as file:
                found.append(file.read())
        reader = threading.Thread(target=read)
        reader.start()
        self.assertEqual(self.tidemark("export", "--to", "folded", "-o", pipe,
                                       self.trace).returncode, 0)
        reader.join()
        self.assertEqual(found, [self.tidemark("export", "--to", "folded",
                                               self.trace).stdout])
        if os.geteuid() == 0:
            os.chown(pipe, 65534, 65534)    # nobody reads along
            done = self.tidemark("export", "--to", "folded", "-o", pipe, self.trace)
            self.assertEqual(done.returncode, 1)
            self.assertIn("somebody else", done.stderr)

    def test_the_trace_itself_may_be_named_by_a_link(self):
        nameless = self.path("nameless.tide")
        self.tidemark("run", "-q", "--no-names", "-o", nameless, "--", tide.program("labels"))
        before = os.path.getsize(nameless)
        os.symlink("nameless.tide", self.path("link.tide"))
        done = self.tidemark("pack", "link.tide")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.islink(self.path("link.tide")))
        self.assertGreater(os.path.getsize(nameless), before)


NOBODY = 65534


class SourceTest(PlantedCase):
    """A crafted program calls files that are no sources its own."""

    made = 0    # programs

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("project"))
        os.mkdir(self.path("home"))

    def program(self, source, where="project"):
        """A program whose debug information says that it is made of SOURCE; its trace."""
        code = ("#include <stdlib.h>\nvoid *volatile kept;\nint main(void)\n{\n"
                f'#line 1 "{source}"\n  kept = malloc(100);\n  return kept == NULL;\n}}\n')
        self.made += 1
        path = self.path(f"{where}/crafted{self.made}")
        subprocess.run(["cc", "-g", "-x", "c", "-", "-o", path], input=code, text=True,
                       check=True, timeout=60)
        trace = path + ".tide"
        subprocess.run([tide.TIDEMARK, "run", "-q", "-o", trace, path], check=True, timeout=60)
        os.chmod(trace, 0o644)
        return trace

    def give(self, user):
        """All of the folder to USER, if we may."""
        for folder, _, files in os.walk(self.folder):
            for name in ["."] + files:
                os.chown(os.path.join(folder, name), user, user, follow_symlinks=False)

    def shown(self, trace, *options, cwd="project", user=None):
        """What `report --source` prints and says; root becomes USER for it."""
        drop = (lambda: (os.setgid(user), os.setuid(user))) if user else None
        done = subprocess.run([tide.TIDEMARK, "report", "--total", "--lines", "--source",
                               *options, trace], text=True, capture_output=True, timeout=20,
                              check=False, cwd=self.path(cwd), preexec_fn=drop,
                              env={**os.environ, "HOME": self.path("home")})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def as_user(self):
        """Root looks as somebody else, others as themselves."""
        if os.geteuid() != 0:
            return None
        if not tide.others_reach(tide.TIDEMARK):
            self.skipTest("tidemark is out of reach of other users")
        self.give(NOBODY)
        return NOBODY

    def test_files_elsewhere_are_not_shown(self):
        for source in (self.victim, "/etc/passwd", "../victim", "/etc/shadow"):
            with self.subTest(source=source):
                trace = self.program(source)
                out, _ = self.shown(trace, user=self.as_user())
                self.assertRegex(out, r"is below no --source-root|is not here|cannot be read")
                self.assertNotIn("nobody's", out)
                self.assertNotIn("root:", out)

    def test_a_link_in_the_project_shows_no_file_elsewhere(self):
        os.symlink(self.victim, self.path("project/source.c"))
        out, _ = self.shown(self.program(self.path("project/source.c")), user=self.as_user())
        self.assertIn("is below no --source-root", out)
        self.assertNotIn("nobody's", out)

    def test_pipes_and_devices_are_not_opened(self):
        os.mkfifo(self.path("project/pipe.c"))
        for source in (self.path("project/pipe.c"), "/proc/self/environ", "/dev/zero"):
            with self.subTest(source=source):
                out, _ = self.shown(self.program(source), "--source-root", "/")
                self.assertIn("is not a plain file", out)

    def test_the_project_is_shown(self):
        with open(self.path("project/source.c"), "w", encoding="utf-8") as file:
            file.write("this is the line\n")
        trace = self.program(self.path("project/source.c"))
        user = self.as_user()
        self.assertIn("this is the line", self.shown(trace, user=user)[0])
        self.assertIn("this is the line", self.shown(trace, cwd="home", user=user)[0],
                      "the program lies there, and is ours")
        os.unlink(self.path("project/crafted1"))
        self.assertNotIn("this is the line", self.shown(trace, cwd="home", user=user)[0])

    def test_a_working_copy_is_shown_but_not_what_it_hides(self):
        for name in ("project/.git", "project/build"):
            os.mkdir(self.path(name))
        for name, text in (("project/source.c", "this is the line"),
                           ("project/.git/config", "token = secret")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        trace = self.program(self.path("project/source.c"), "project/build")
        hidden = self.program(self.path("project/.git/config"))
        user = self.as_user()
        self.assertIn("this is the line", self.shown(trace, cwd="project/build", user=user)[0])
        self.assertNotIn("token", self.shown(hidden, user=user)[0])

    def test_home_is_no_project(self):
        with open(self.path("home/letter"), "w", encoding="utf-8") as file:
            file.write("dear diary\n")
        trace, user = self.program(self.path("home/letter")), self.as_user()
        self.assertNotIn("dear", self.shown(trace, cwd="home", user=user)[0])
        self.assertIn("dear", self.shown(trace, "--source-root", self.path("home"),
                                         user=user)[0])

    @unittest.skipIf(os.geteuid() != 0, "only root is told so")
    def test_root_names_the_folders(self):
        with open(self.path("project/source.c"), "w", encoding="utf-8") as file:
            file.write("this is the line\n")
        trace = self.program(self.path("project/source.c"))
        out, said = self.shown(trace)
        self.assertIn("is below no --source-root", out)
        self.assertIn("--source-root DIR", said)
        out, said = self.shown(trace, "--source-root", "/usr", "--source-root", ".")
        self.assertIn("this is the line", out)
        self.assertEqual(said, "")

    def test_folders_that_are_none(self):
        done = self.tidemark("report", "--source", "--source-root", self.victim, self.trace)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no such folder", done.stderr)
        done = self.tidemark("report", "--source-root", self.folder, self.trace)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
