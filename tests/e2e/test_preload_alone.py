"""tests/e2e/test_preload_alone.py - LD_PRELOAD and nothing else: a collector comes by itself."""
import glob
import os
import subprocess
import tempfile
import time

import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]


def collectors():
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if len(words) > 1 and words[0].endswith(b"/tidemark") and words[1] == b"collect":
            found.append(path)
    return found


class PreloadAlone(tide.Case):
    def record(self, folder, *argv):
        env = dict(os.environ, LD_PRELOAD=LIBRARY, TMPDIR=folder)
        env.pop("TIDEMARK_SESSION", None)
        env.pop("XDG_RUNTIME_DIR", None)
        done = subprocess.run(argv, env=env, cwd=folder, capture_output=True, text=True,
                              check=False)
        for _ in range(100): # it finishes behind the program's back
            if not collectors():
                break
            time.sleep(0.05)
        self.assertEqual(collectors(), [])
        [trace] = glob.glob(os.path.join(folder, "*.tide"))
        self.assertEqual([n for n in os.listdir(folder) if not n.endswith(".tide")], [])
        return done, trace

    def test_a_program_is_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            done, trace = self.record(folder, tide.program("deep"), "3", "100")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            result = tide.report(trace)
            self.whole(result)
            self.assertEqual(result["summary"]["alloc_calls"], 100)

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


if __name__ == "__main__":
    tide.main()
