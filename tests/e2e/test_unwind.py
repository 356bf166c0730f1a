"""tests/e2e/test_unwind.py - our walk along the frame tables against libunwind's.

The same program, recorded once with each engine, must show the same stacks, frame by
frame, with the same calls and bytes.
"""
import collections
import os

import tide

ENV = dict(os.environ, PYTHONHASHSEED="0", LC_ALL="C", PYTHONDONTWRITEBYTECODE="1")


def stacks(argv, engine):
    run = tide.Recorded(argv, ["--unwind", engine, "--depth", "1000"], env=ENV)
    counts = collections.Counter()
    for row in run.report("--total", "--stacks")["rows"]:
        frames = tuple((f["function"], os.path.basename(f["module"])) for f in row["stack"])
        counts[frames] += row["calls"]
    return counts


class Unwind(tide.Case):
    def compare(self, *argv):
        ours, theirs = stacks(argv, "cfi"), stacks(argv, "libunwind")
        self.assertGreater(sum(ours.values()), 0)
        missing, extra = theirs - ours, ours - theirs
        self.assertEqual(list(missing.items())[:2], [])
        self.assertEqual(list(extra.items())[:2], [])

    def test_c(self):
        self.compare(tide.program("ground_truth"))

    def test_cpp(self):
        self.compare(tide.program("new_delete"))

    def test_deep_recursion(self):
        self.compare(tide.program("deep"), "300", "10")

    def test_optimised_code_without_frame_pointers(self):
        self.compare("/bin/ls", "-la", "/usr/include")

    def test_a_large_interpreter(self):
        self.compare("/usr/bin/python3", "-c", "import json; json.dumps({'a': [1, 2, {}]})")


if __name__ == "__main__":
    tide.main()
