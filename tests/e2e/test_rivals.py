"""tests/e2e/test_rivals.py - our counts against valgrind's and heaptrack's."""
import os
import re
import subprocess
import tempfile

import tide

SMALL = (
    [tide.program("ground_truth")],
    [tide.program("deep"), "5", "1000"],
    ["/usr/bin/wc", os.path.join(tide.SOURCE, "LICENSE")],
    ["/bin/ls", "-la", "/usr/include"],
    ["/usr/bin/sort", os.path.join(tide.SOURCE, "LICENSE")],
    ["/bin/sed", "-n", "s/a/b/p", os.path.join(tide.SOURCE, "LICENSE")],
)


def valgrind(argv):
    """(allocs, frees, bytes) as valgrind counts them, without freeing libc's own at the
    end, which no program does by itself."""
    done = subprocess.run(
        ["valgrind", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--quiet",
         "--verbose", "--leak-check=no", *argv],
        capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees, ([\d,]+) bytes",
                      done.stderr)
    if not found:
        raise AssertionError(done.stderr)
    return tuple(int(word.replace(",", "")) for word in found.groups())


class Valgrind(tide.Case):
    def test_calls_and_bytes_are_equal_on_small_programs(self):
        for argv in SMALL:
            with self.subTest(argv=argv):
                run = tide.Recorded(argv)
                summary = run.report()["summary"]
                self.assertEqual((summary["alloc_calls"], summary["free_calls"],
                                  summary["allocated_bytes"]), valgrind(argv))


def heaptrack_counts(argv, env):
    """Calls as heaptrack counts them."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "h")
        subprocess.run(["heaptrack", "-o", out, *argv], env=env, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        [name] = [n for n in os.listdir(folder) if n.startswith("h.")]
        done = subprocess.run(["heaptrack_print", os.path.join(folder, name)],
                              capture_output=True, text=True, check=True)
    return int(re.search(r"calls to allocation functions: (\d+)", done.stdout).group(1))


class Heaptrack(tide.Case):
    def test_calls_are_equal_on_python(self):
        argv = ["/usr/bin/python3", "-c", "import json"]
        env = dict(os.environ, PYTHONHASHSEED="0", PYTHONMALLOC="malloc")
        env.pop("LD_PRELOAD", None)
        run = tide.Recorded(argv, env=env)
        summary = run.report()["summary"]
        theirs = heaptrack_counts(argv, env)
        # Each tool puts its own variables into the environment, which Python copies into
        # a dictionary: of some 44 000 calls a handful differ, also from run to run.
        self.assertAlmostEqual(summary["alloc_calls"], theirs, delta=20)
        self.assertGreater(theirs, 10000)


if __name__ == "__main__":
    tide.main()
