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


if __name__ == "__main__":
    tide.main()
