"""tests/e2e/test_sorting.py - every table of a report is sorted by the column that is asked for.

tests/programs/event_loop.cpp has the numbers: see test_gprof.py.
"""
import csv
import io
import subprocess

import tide

VIEWS = ("--peak", "--leaks", "--total", "--churn")
PATHS = ("--tree", "--bottom-up", "--stacks")
GROUPS = ("--threads", "--processes", "--labels")
NESTED = ("--regions", "--modules", "--lines")


def short(name):
    return name.split("::")[-1].split("(")[0]


def counts(view):
    return "blocks" if view in ("--peak", "--leaks") else "calls"


class Sorting(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.run_of = tide.Recorded([tide.program("event_loop")])

    def rows(self, *options):
        return self.run_of.report(*options)["rows"]

    def names(self, *options):
        return [short(row["function"]) for row in self.rows(*options)]

    def text(self, *options, status=0):
        done = subprocess.run([tide.TIDEMARK, "report", self.run_of.trace, *options],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def falls(self, numbers):
        self.assertEqual(numbers, sorted(numbers, reverse=True))

    def test_functions_open_with_those_that_allocate(self):
        self.assertEqual(self.names("--total", "--flat")[:2], ["churn", "makeHit"])
        for view in VIEWS:
            self.falls([row["bytes"] for row in self.rows(view, "--flat")])
        lines = [line.split() for line in self.text("--total", "--flat").splitlines()
                 if line.startswith("  ")]
        self.assertEqual(lines[0][:5], ["self", "share", "inclusive", "calls", "function"])
        self.assertIn("churn", " ".join(lines[1]))

    def test_the_line_is_that_of_the_call_that_allocates(self):
        """churn() begins at another line than where it allocates, and main() allocates at
        another one than where it calls what allocates most."""
        lines = {row["function"]: (row["file"], row["line"])
                 for row in self.rows("--total", "--stacks")
                 for row in row["stack"][:1]}
        for row in self.rows("--total", "--flat"):
            if row["bytes"] and row["function"] in lines:
                sites = [stack["stack"][0] for stack in self.rows("--total", "--stacks")
                         if stack["stack"][0]["function"] == row["function"]]
                self.assertEqual((row["file"], row["line"]),
                                 (sites[0]["file"], sites[0]["line"]), row["function"])

    def test_functions(self):
        self.falls([row["inclusive_bytes"]
                    for row in self.rows("--total", "--flat", "--sort", "inclusive")])
        self.assertEqual(self.names("--total", "--flat", "--sort", "inclusive")[0], "main")
        self.falls([row["calls"] for row in self.rows("--total", "--flat", "--sort", "calls")])
        names = [row["function"] for row in self.rows("--total", "--flat", "--sort", "name")]
        self.assertEqual(names, sorted(names))
        modules = [row["module"].rsplit("/", 1)[-1]
                   for row in self.rows("--total", "--flat", "--sort", "module")]
        self.assertEqual(modules, sorted(modules))

    def test_stacks(self):
        for view in VIEWS:
            self.falls([row["bytes"] for row in self.rows(view, "--stacks")])
            for word in ("calls", "blocks"):
                self.falls([row[counts(view)]
                            for row in self.rows(view, "--stacks", "--sort", word)])
            names = [row["stack"][0]["function"]
                     for row in self.rows(view, "--stacks", "--sort", "name")]
            self.assertEqual(names, sorted(names))

    def siblings(self, rows, key):
        """The rows of every level, as lists of KEY."""
        yield [row[key] for row in rows]
        for row in rows:
            yield from self.siblings(row["children"], key)

    def test_trees(self):
        for shape in ("--tree", "--bottom-up"):
            for numbers in self.siblings(self.rows("--total", shape, "--sort", "calls"),
                                         "calls"):
                self.falls(numbers)
            for names in self.siblings(self.rows("--total", shape, "--sort", "name"),
                                       "function"):
                self.assertEqual(names, sorted(names))

    def test_a_tree_by_calls_keeps_what_has_many(self):
        """churn() and makeHit() have half of the calls each, leakOne() 0.1 %."""
        text = self.text("--total", "--tree", "--sort", "calls", "-n", "3")
        self.assertIn("makeHit", text)
        self.assertIn("churn", text)
        self.assertNotIn("leakOne", text)

    def test_groups(self):
        for shape in GROUPS + NESTED:
            for view in ("--total", "--leaks"):
                rows = self.rows(view, shape, "--sort", "calls")
                key = "inclusive_calls" if shape in NESTED else counts(view)
                self.falls([row.get(key, row.get("inclusive_blocks")) for row in rows])
        self.falls([row["bytes"] for row in self.rows("--total", "--lines", "--sort", "self")])

    def test_text_and_csv_have_the_same_order(self):
        names = [row["function"] for row in self.rows("--total", "--flat", "--sort", "calls")]
        table = list(csv.DictReader(io.StringIO(
            self.text("--total", "--flat", "--sort", "calls", "--csv"))))
        self.assertEqual([row["function"] for row in table], names)
        text = self.text("--total", "--flat", "--sort", "calls", "-n", "2")
        self.assertLess(text.index(short(names[0])), text.index(short(names[1])))

    def test_the_default_report(self):
        churn = self.text("--sort", "calls").split("\nChurn")[1].split("\n\n")[0]
        calls = [int(line.split()[4].replace(",", "")) for line in churn.splitlines()[2:]]
        self.falls(calls)

    def test_igprofs_lists(self):
        text = self.text("--total", "--gprof")
        self.assertLess(text.index("(self >= "), text.index("(cumulative >= "))
        text = self.text("--total", "--gprof", "--sort", "inclusive")
        self.assertLess(text.index("(cumulative >= "), text.index("(self >= "))

    def test_unknown_columns_are_refused_with_those_there_are(self):
        for words, columns in ((["--sort", "weight"], "bytes, share, calls (or blocks), name"),
                               (["--flat", "--sort", "weight"], "self (or bytes), share, incl"),
                               (["--lines", "--sort", "module"], "inclusive (or bytes), share"),
                               (["--gprof", "--sort", "name"], "self, inclusive"),
                               (["--sizes", "--sort", "calls"], "an order of its own"),
                               (["--json", "--sort", ""], "bytes, share")):
            self.assertIn(columns, self.text(*words, status=2))


class Churn(tide.Case):
    """What churns is ranked by bytes and by calls: one program has the bytes, one the calls."""
    def test_many_small_blocks_come_before_a_few_with_more_bytes(self):
        run = tide.Recorded(["/bin/sh", "-c", f"{tide.program('alters')} t3x20000; "
                             f"{tide.program('rebuilt')} t3000x13"])
        usual = run.report("--churn", "--stacks")["rows"]
        by_bytes = run.report("--churn", "--stacks", "--sort", "bytes")["rows"]
        self.assertEqual(usual[0]["calls"], 3000)
        self.assertEqual(by_bytes[0]["bytes"], 60000)
        text = subprocess.run([tide.TIDEMARK, "report", "--churn", run.trace],
                              capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertLess(text.index(" 3,000 "), text.index(" 58.6 KiB "))


if __name__ == "__main__":
    tide.main()
