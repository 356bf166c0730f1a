"""Functions that only hand on what they are asked for count as their callers."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import tide

SOURCE = pathlib.Path(tide.SOURCE) / "tests" / "programs" / "hands_on.c"
WRAPPERS = {"xgrab", "grab_clean"}
ROUNDS = 50


def text_of(*arguments):
    return subprocess.run([tide.TIDEMARK, *arguments], capture_output=True, text=True,
                          check=True, timeout=120).stdout


def names_in(rows):
    """All functions of the rows of a tree."""
    names = set()
    for row in rows:
        names |= {row["function"]} | names_in(row.get("children", []))
    return names


class Wrappers(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tide-wrappers-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.ran = tide.Recorded([tide.program("hands_on")], folder=cls.folder.name)
        lines = SOURCE.read_text(encoding="utf-8").splitlines()
        cls.line = {number: text for number, text in enumerate(lines, 1)}

    def test_rows_have_the_line_of_the_caller(self):
        for view in ("--peak", "--leaks", "--total"):
            rows = {row["function"]: row for row in self.ran.report(view, "--flat")["rows"]}
            self.assertFalse(WRAPPERS & set(rows), view)
            self.assertIn("make_node", rows)    # nodes are of one size
            self.assertEqual(rows["read_body"]["bytes"], ROUNDS * 4096)
            self.assertIn("xgrab(4096)", self.line[rows["read_body"]["line"]])
            self.assertIn("grab_clean(700)", self.line[rows["clear_columns"]["line"]])
            self.assertIn("malloc(sizeof", self.line[rows["make_node"]["line"]])

    def test_no_table_has_them(self):
        for options in ([], ["--peak"], ["--leaks"], ["--churn"], ["--bottom-up"],
                        ["--flat"], ["--total", "--stacks"], ["--callers", "make_node"],
                        ["--gprof"]):
            text = text_of("report", self.ran.trace, *options)
            for name in WRAPPERS:
                self.assertNotIn(name, text, options)
            if options not in ([], ["--churn"]):
                self.assertIn("make_node", text, options)
        tree = names_in(self.ran.report("--total", "--tree")["rows"])
        self.assertFalse(WRAPPERS & tree)
        self.assertIn("make_node", tree)

    def test_no_fold_shows_them(self):
        rows = {row["function"]: row for row in
                self.ran.report("--total", "--flat")["rows"]}
        shown = self.ran.sites("--total")
        self.assertTrue(set(shown) >= WRAPPERS)
        self.assertEqual(shown["read_body"]["bytes"], 0)
        self.assertEqual(shown["read_body"]["inclusive_bytes"],
                         rows["read_body"]["inclusive_bytes"])
        self.assertEqual(shown["make_node"]["bytes"], rows["make_node"]["bytes"])
        self.assertIn("xgrab", text_of("report", self.ran.trace, "--total", "--bottom-up",
                                       "--no-fold"))

    def test_which_they_are_is_said(self):
        wrappers = self.ran.report()["wrappers"]
        self.assertEqual({each["function"] for each in wrappers}, WRAPPERS)
        self.assertEqual({each["module"] for each in wrappers},
                         {tide.program("hands_on")})
        text = " ".join(text_of("report", self.ran.trace, "-v").split())
        self.assertIn("which count as their callers: grab_clean, xgrab (--no-fold shows "
                      "them).", text)

    def test_a_query_passes_over_those_with_a_telling_name(self):
        ran = tide.Recorded([tide.program("clean_layer")])
        text = text_of("query", ran.trace,
                       "AGGREGATE sum(size) GROUP BY leaf FORMAT csv")
        self.assertIn("note_names", text)
        self.assertNotIn("xmalloc", text)

    def test_a_diff_has_none(self):
        other = tide.Recorded([tide.program("hands_on")])
        for options in (["--total"], ["--total", "--flat"]):
            text = text_of("diff", self.ran.trace, other.trace, "-n", "0", *options)
            for name in WRAPPERS:
                self.assertNotIn(name, text)

    def test_in_a_stripped_program_they_are_known_by_their_shape(self):
        stripped = os.path.join(self.folder.name, "stripped")
        subprocess.run(["strip", "-o", stripped, tide.program("hands_on")], check=True)
        ran = tide.Recorded([stripped])
        whole = ran.report("--total", "--flat", "--no-fold")["rows"]
        inner = {row["function"] for row in whole if row["bytes"]}
        self.assertEqual(len(inner), 2, whole)   # xgrab, make_node
        rows = {row["function"]: row for row in ran.report("--total", "--flat")["rows"]
                if row["bytes"]}
        self.assertEqual(len(rows), 11)          # ten callers of either, and make_node
        self.assertEqual(len(inner & set(rows)), 1)
        node = rows[(inner & set(rows)).pop()]
        self.assertEqual(node["bytes"], ROUNDS * 6 * 40)
        # A function of no name is called by where it begins, however many calls it makes.
        symbols = subprocess.run(["nm", tide.program("hands_on")], capture_output=True,
                                 text=True, check=True).stdout.splitlines()
        starts = {line.split()[2]: int(line.split()[0], 16) for line in symbols
                  if len(line.split()) == 3}
        self.assertEqual(node["function"], f"stripped+{starts['make_node']:#x}")
        self.assertIn(f"stripped+{starts['read_body']:#x}", rows)
        main = [row for row in whole if row["inclusive_bytes"] == ran.report()["summary"]
                ["allocated_bytes"]]
        self.assertEqual([row["function"] for row in main],
                         [f"stripped+{starts['main']:#x}"])

    def test_functions_without_names_are_one_step(self):
        """main calls a function that calls make_node: two of no name above the third."""
        stripped = os.path.join(self.folder.name, "nameless")
        subprocess.run(["strip", "-o", stripped, tide.program("hands_on")], check=True)
        ran = tide.Recorded([stripped])
        text = text_of("report", ran.trace, "--total", "--stacks", "--no-fold")
        self.assertRegex(text, r"nameless\+0x[0-9a-f]+\n +(<-|←) nameless \(2 unnamed\)\n")
        self.assertNotIn("unnamed)", text_of("report", ran.trace, "--total", "--stacks",
                                             "-n", "0"))
        self.assertNotIn("(1 unnamed)", text_of("report", ran.trace, "--total", "--tree"))


if __name__ == "__main__":
    unittest.main()
