"""tests/e2e/test_kinds.py - examples/kinds: one annotated source in every kind of program."""
import os
import shutil
import subprocess
import tempfile
import unittest

import tide

BUILD = os.path.join(tide.SOURCE, "examples", "kinds", "build.sh")
KINDS = {"pie": [], "no_pie": [], "with_library": [], "host": ["libwork.so"]}


class Kinds(tide.Case):
    def build(self, compiler):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler} here")
        folder = tempfile.mkdtemp(prefix="tide-kinds-")
        env = dict(os.environ, CC=compiler,
                   CPPFLAGS=f"-Werror -I{tide.SOURCE}/include")
        done = subprocess.run([BUILD, folder], env=env, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return folder

    def check(self, compiler):
        folder = self.build(compiler)
        for kind, arguments in KINDS.items():
            argv = [os.path.join(folder, word) for word in [kind, *arguments]]
            subprocess.run(argv, timeout=60, check=True)
            recorded = tide.Recorded(argv)
            self.assertEqual(recorded.status, 0, kind)
            rows = recorded.report("--total", "--regions", "--label", "grid")["rows"]
            self.assertEqual([(row["region"], row["calls"], row["bytes"]) for row in rows],
                             [("work", 1, 1600)], kind)
            sizes = recorded.report("--total", "--labels")["label_sizes"]
            self.assertEqual([(row["element_bytes"], row["extents"]) for row in sizes],
                             [(8, [10, 20])], kind)
        for kind in "static", "static_pie":
            program = os.path.join(folder, kind)
            subprocess.run([program], timeout=60, check=True)
            refused = tide.Recorded([program])
            self.assertEqual(refused.status, 1, kind)
            self.assertIn("statically linked", refused.done.stderr)

    def test_gcc(self):
        self.check("gcc")

    def test_clang(self):
        self.check("clang")


if __name__ == "__main__":
    unittest.main()
