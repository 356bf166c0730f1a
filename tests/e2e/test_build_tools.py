"""tests/e2e/test_build_tools.py - builds where nobody prepared anything: tools/*."""
import os
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
