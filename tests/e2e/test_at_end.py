"""tests/e2e/test_at_end.py - what is left at the end is one number, wherever it is said.

python3 keeps blocks of its own, and the C library some that are suppressed.
"""
import json
import re
import subprocess

import tide


def words(*argv, status=0):
    done = subprocess.run([tide.TIDEMARK, *argv], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


class AtEnd(tide.Case):
    @classmethod
    def setUpClass(cls):
        lines = "\n".join(f"PMI_RANK={rank} /usr/bin/python3 -c 'import json; import re' &"
                          for rank in range(3)) + "\nwait"
        runs = [tide.Recorded(["/usr/bin/python3", "-c", "import json"]),
                tide.Recorded([tide.program("children_keep")], ["--wait"]),
                tide.Recorded(["/bin/sh", "-c", lines], ["--wait"])]
        cls.traces = [run.trace for run in runs]

    def check(self, trace, *options):
        summary = json.loads(words("report", "--json", "--leaks", *options, trace))["summary"]
        left = summary["left_bytes"], summary["left_blocks"]
        headline = words("report", "--bytes", *options, trace)
        found = re.search(r"(?m)^  at the end +(?:.*heap )?([\d,]+) B +in ([\d,]+) blocks?",
                          headline)
        self.assertEqual(tuple(int(n.replace(",", "")) for n in found.groups()), left)
        for text in (headline, words("report", "--leaks", "--bytes", *options, trace)):
            found = re.search(r"(?m)^Live at the end +([\d,]+) B in ([\d,]+) blocks?(?!.*mmap)", text)
            self.assertEqual(tuple(int(n.replace(",", "")) for n in found.groups()), left)
        rows = json.loads(words("report", "--json", "--leaks", "--flat", *options, trace))["rows"]
        self.assertEqual(sum(row["bytes"] for row in rows), left[0])
        return summary, left

    def test_every_view_says_the_same(self):
        for trace in self.traces:
            with self.subTest(trace=trace):
                summary, left = self.check(trace)
                everything, all_left = self.check(trace, "--no-suppressions")
                self.assertEqual(all_left, (everything["live_bytes"], everything["live_blocks"]))
                self.assertEqual(summary["live_bytes"], everything["live_bytes"])
                self.assertLessEqual(left[0], all_left[0])

    def test_processes_and_ranks_add_up_to_it(self):
        trace = self.traces[2]
        for options in ([], ["--no-suppressions"]):
            _, left = self.check(trace, *options)
            ranks = json.loads(words("report", "--json", "--ranks", *options, trace))["ranks"]
            self.assertEqual(sum(row["live_bytes"] for row in ranks), left[0])
            self.assertEqual(sum(row["live_blocks"] for row in ranks), left[1])
            peaks = json.loads(words("report", "--json", "--processes", *options,
                                     trace))["process_peaks"]
            self.assertEqual(sum(row["last_bytes"] for row in peaks), left[0])

    def test_a_diff_compares_it(self):
        text = words("diff", "--bytes", self.traces[0], self.traces[1])
        _, left = self.check(self.traces[0])
        _, left_new = self.check(self.traces[1])
        for label, values in (("live", (left[0], left_new[0])),
                              ("blocks", (left[1], left_new[1]))):
            found = re.search(rf"(?m)^  {label} +([\d,]+)(?: B)? +([\d,]+)", text)
            self.assertEqual(tuple(int(n.replace(",", "")) for n in found.groups()), values)

    def test_check_measures_it(self):
        for trace in self.traces:
            _, left = self.check(trace)
            words("check", "--max-leak", str(left[0]), trace)
            if left[0]:
                words("check", "--max-leak", str(left[0] - 1), trace, status=1)


if __name__ == "__main__":
    tide.main()
