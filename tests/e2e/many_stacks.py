"""tests/e2e/many_stacks.py - reports of 2^N different stacks: exact, and in memory that
follows the stacks.  What test_many_stacks.py and long_many_stacks.py share."""
import os
import subprocess

import tide


class ManyStacks(tide.Case):
    steps = 0      # 2 to the power of it is the number of stacks
    most_kib = 0   # that a report may take

    @classmethod
    def setUpClass(cls):
        cls.run_of = tide.Recorded([tide.program("many_stacks"), str(cls.steps), "keep"])
        cls.own = cls.run_of.own_count()

    def report(self, *options, output=subprocess.DEVNULL):
        """Report with OPTIONS; it must end well and take little memory."""
        with subprocess.Popen([tide.TIDEMARK, "report", self.run_of.trace, *options],
                              stdout=output) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0, options)
        self.assertLess(usage.ru_maxrss, self.most_kib, options)

    def written(self, *options):
        path = os.path.join(self.run_of.folder, "rows")
        with open(path, "wb") as file:
            self.report(*options, output=file)
        return path

    def test_every_view_and_shape(self):
        for options in ([], ["--leaks", "--stacks"], ["--peak", "--tree"],
                        ["--churn", "--bottom-up"], ["--total", "--gprof", "-n", "50"],
                        ["--leaks", "--lines"], ["--peak", "--callers", "left"]):
            self.report(*options)

    def test_totals(self):
        self.assertEqual(self.own["blocks"], 2 ** self.steps)
        found = tide.report(self.run_of.trace, "--leaks", "--flat")
        self.whole(found)
        rows = {row["function"]: row for row in found["rows"]}
        self.assertEqual(rows["main"]["inclusive_bytes"], self.own["bytes"])
        self.assertEqual(rows["main"]["inclusive_calls"], self.own["blocks"])
        self.assertEqual(rows["left"]["blocks"] + rows["right"]["blocks"] +
                         rows.get("make", {"blocks": 0})["blocks"], self.own["blocks"])

    def test_all_stacks_as_rows(self):
        count = size = 0
        with open(self.written("--leaks", "--stacks", "--csv"), encoding="utf-8") as file:
            next(file)
            for line in file:
                if ",main" in line or ";main" in line:
                    count += 1
                    size += int(line.split(",", 1)[0])
        self.assertEqual((count, size), (self.own["blocks"], self.own["bytes"]))
