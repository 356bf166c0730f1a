"""tests/e2e/test_build_tools.py - builds where nobody prepared anything: tools/*."""
import os
import re
import shutil
import subprocess
import tempfile

import tide

TOOLS = os.path.join(tide.SOURCE, "tools")
NEEDED = ("bash", "awk", "sed", "comm", "sort", "dirname", "env", "grep", "rm")


class Packages(tide.Case):
    """tools/install-deps on a machine without the packages."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tide-tools-")
        os.chmod(self.folder, 0o755)
        self.programs = os.path.join(self.folder, "bin")
        os.mkdir(self.programs)
        for name in NEEDED:
            os.symlink(shutil.which(name), os.path.join(self.programs, name))
        self.stub("dpkg-query", "exit 1")   # none is installed
        shutil.copy(os.path.join(TOOLS, "install-deps"), self.folder)

    def stub(self, name, line):
        path = os.path.join(self.programs, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!{shutil.which('bash')}\n{line}\n")
        os.chmod(path, 0o755)

    def install(self):
        user = []
        if os.geteuid() == 0:
            user = [shutil.which("setpriv"), "--reuid", "64321", "--regid", "64321",
                    "--clear-groups"]
        return subprocess.run(
            [*user, shutil.which("bash"), os.path.join(self.folder, "install-deps"),
             "--demo"], env={"PATH": self.programs}, capture_output=True, text=True,
            check=False, timeout=60)

    def test_without_root_and_sudo_it_lists_them_and_stops(self):
        self.stub("apt-get", "echo called >&2")
        done = self.install()
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"As root: apt-get install .*\bcmake\b.*\bgcc\b")
        self.assertNotIn("called", done.stderr)

    def test_without_apt_it_lists_them_and_goes_on(self):
        done = self.install()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("libdw-dev", done.stderr)


class Demo(tide.Case):
    """tools/demo, in the build that is tested."""

    @classmethod
    def setUpClass(cls):
        cls.build = os.path.dirname(tide.TIDEMARK)
        cls.done = subprocess.run([os.path.join(TOOLS, "demo"), cls.build],
                                  env={**os.environ, "COLUMNS": "80"}, timeout=120,
                                  capture_output=True, text=True, check=True)

    def test_its_report_shows_a_peak_a_leak_churn_and_two_findings(self):
        text = self.done.stdout
        self.assertRegex(text, r"At the peak +9\.23 MiB")
        self.assertRegex(text, r"Live at the end +1\.\d+ MiB")
        findings = text.split("Findings\n", 1)[1].split("\n\n", 1)[0]
        self.assertEqual(len(re.findall(r"^  \S .*(remember|describe) \(tide_pool\.c:\d+\)",
                                        findings, re.M)), 2, findings)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_the_commands_that_it_names_work(self):
        text = self.done.stdout.split("Try next", 1)[1]
        commands = re.findall(r"^  \./(tidemark .*?demo\.tide)", text, re.M)
        self.assertEqual(len(commands), 3)
        for command, status, words in zip(commands, (0, 0, 1),
                                          ("remember", "write_logbook", "at most 0 B")):
            done = subprocess.run(["bash", "-c", f"./{command}"], cwd=self.build,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(words, done.stdout)


class QuietBuild(tide.Case):
    """tools/build-quietly where nobody watches."""

    def test_it_says_one_line_and_what_compilers_say(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="ascii") as file:
                file.write("cmake_minimum_required(VERSION 3.16)\nproject(x C)\n"
                           "add_executable(x x.c)\n")
            for body, said in (("return 0;", []), ("int unused; return 0;", ["unused"])):
                with open(os.path.join(folder, "x.c"), "w", encoding="ascii") as file:
                    file.write(f"int main(void) {{ {body} }}\n")
                build = os.path.join(folder, "build")
                subprocess.run(["cmake", "-G", "Ninja", "-DCMAKE_C_FLAGS=-Wall", "-S",
                                folder, "-B", build], capture_output=True, check=True)
                done = subprocess.run([os.path.join(TOOLS, "build-quietly"), build],
                                      capture_output=True, text=True, check=True)
                lines = (done.stdout + done.stderr).splitlines()
                self.assertEqual(lines[0], f"tidemark: building in {build}")
                if said:
                    self.assertIn("unused variable", done.stdout)
                else:
                    self.assertEqual(len(lines), 1, lines)


class MovedSources(tide.Case):
    """A build folder that came along when the sources were moved."""

    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="tide-tools-"))
        self.first = os.path.join(self.folder, "first")
        os.makedirs(os.path.join(self.first, "tools"))
        for name in ("forget-moved", "build-as"):
            shutil.copy(os.path.join(TOOLS, name), os.path.join(self.first, "tools"))
        with open(os.path.join(self.first, "CMakeLists.txt"), "w", encoding="ascii") as file:
            file.write("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\n"
                       "add_custom_target(say ALL COMMAND echo \"in ${PROJECT_SOURCE_DIR}\")\n")

    def build(self, root):
        done = subprocess.run([os.path.join(root, "tools", "build-as"),
                               os.path.join(root, "build")], capture_output=True,
                              text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"in {root}\n", done.stdout)
        return done.stderr

    def test_it_is_built_anew(self):
        second = os.path.join(self.folder, "second")
        self.assertNotIn("anew", self.build(self.first))
        self.assertNotIn("anew", self.build(self.first))
        os.rename(self.first, second)
        self.assertIn("anew", self.build(second))
        self.assertNotIn("anew", self.build(second))


if __name__ == "__main__":
    tide.main()
