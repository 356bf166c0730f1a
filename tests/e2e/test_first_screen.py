"""tests/e2e/test_first_screen.py - the report without options fits on a screen and says what matters.

examples/tide_pool.c leaks in remember() and churns in describe(); tests/programs has the others.
"""
import os
import re
import subprocess

import tide

LINES = 50          # of the sections
SCREEN = 68         # with the headline and the lines on trust
SECTIONS = ("At the peak", "Churn", "Live at the end", "Findings", "Trust")
ESCAPE = re.compile(r"\033\[[0-9;?]*[A-Za-z]")


def piped(trace, *options, width=80):
    env = dict(os.environ, COLUMNS=str(width), LC_ALL="C.UTF-8")
    return subprocess.run([tide.TIDEMARK, "report", *options, trace], env=env, check=True,
                          capture_output=True, text=True, timeout=60).stdout


def on_terminal(trace, *options, width=80):
    return ESCAPE.sub("", tide.on_terminal(width, "report", *options, trace))


class Screen(tide.Case):
    @classmethod
    def setUpClass(cls):
        pool = os.path.join(os.environ["TIDEMARK_EXAMPLES"], "tide_pool")
        cls.pool = tide.Recorded([pool]).trace
        cls.traces = [cls.pool] + [
            tide.Recorded(words).trace for words in (
                [os.path.join(os.environ["TIDEMARK_EXAMPLES"], "hydro")],
                [tide.program("event_loop")],
                [tide.program("hides_memory"), "mapped"],
                ["/bin/sh", "-c", "ls -l /usr/bin | sort | head -50; echo | cat"],
                ["/usr/bin/python3", "-c", "import json, re, argparse, unittest"])]

    def test_it_fits_on_a_screen(self):
        for trace in self.traces:
            for width in (80, 200):
                for show in (piped, on_terminal):
                    with self.subTest(trace=trace, width=width, show=show.__name__):
                        text = show(trace, width=width)
                        rows = text.splitlines()
                        first = next(i for i, row in enumerate(rows) if row.startswith(SECTIONS))
                        trust = next(i for i, row in enumerate(rows) if row.startswith("Trust"))
                        self.assertLessEqual(trust - first, LINES, text)
                        self.assertLessEqual(len(rows), SCREEN, text)

    def test_the_sections_of_the_pool(self):
        for text in (piped(self.pool), on_terminal(self.pool)):
            found = re.findall(r"(?m)^(?:" + "|".join(SECTIONS) + r")\b", text)
            self.assertEqual(found, list(SECTIONS))

    def test_churn_says_who_allocates_most(self):
        churn = piped(self.pool).split("\nChurn")[1].split("\n\n")[0].splitlines()[2:]
        self.assertRegex(churn[0],
                         r" 80,000  9\d\.\d %\*  9\d\.\d %  describe  tide_pool\.c:111$")
        self.assertEqual(len(churn), 4)

    def test_churn_marks_by_what_a_row_stands_there(self):
        churn = piped(self.pool).split("\nChurn")[1].split("\n\n")[0].splitlines()
        self.assertIn("temp.: freed before the next allocation", churn[0])
        marked = [re.findall(r"([\d.]+) %\*", row) for row in churn[2:]]
        self.assertEqual([len(marks) for marks in marked], [1] * 4)
        shares = [float(marks[0]) for marks in marked]
        self.assertEqual(shares, sorted(shares, reverse=True))
        for row, share in zip(churn[2:], shares):
            pair = [float(part) for part in re.findall(r"([\d.]+) %", row)[:2]]
            self.assertEqual(share, max(pair), row)

    def test_what_is_left_is_one_number(self):
        text = piped(self.pool)
        overview = re.search(r"(?m)^  at the end +([\d.]+ \w+)  in ([\d,]+) blocks", text)
        section = re.search(r"(?m)^Live at the end  ([\d.]+ \w+) in ([\d,]+) blocks", text)
        self.assertEqual(overview.groups(), section.groups())
        self.assertEqual(text.count("uppressed"), 1)
        everything = piped(self.pool, "--no-suppressions")
        more = re.search(r"(?m)^  at the end +[\d.]+ \w+  in ([\d,]+) blocks", everything)
        self.assertEqual(int(more[1].replace(",", "")),
                         int(overview[2].replace(",", "")) + 1)
        self.assertNotIn("uppressed", everything)

    def test_a_caller_has_the_lines_that_it_calls_from(self):
        tree = piped(self.pool).split("\nAt the peak")[1]
        source = os.path.join(tide.SOURCE, "examples", "tide_pool.c")
        with open(source, encoding="utf-8") as file:
            lines = file.read().split("\nint main(")
        first = lines[0].count("\n") + 2
        calls = [first + at for at, line in enumerate(lines[1].split("\n"))
                 if re.search(r"\b(build_pool|spawn_larvae|write_logbook|high_tide)\(", line)]
        self.assertIn(f"  main  tide_pool.c:{calls[0]}…{calls[-1]}\n", tree)
        self.assertRegex(tree, r"  ├─ build_pool  tide_pool\.c:\d+\n")

    def test_rows_of_one_function_say_how_they_differ(self):
        left = piped(self.pool).split("\nLive at the end")[1].splitlines()
        rows = [line.split("  remember  ")[1] for line in left if "  remember  " in line]
        self.assertEqual(rows, ["tide_pool.c:122 ← write_logbook ← main",
                                "tide_pool.c:122 ← … ← high_tide ← main"])

    def test_trust_is_a_line_until_more_is_asked_for(self):
        text = piped(self.pool)
        self.assertRegex(text, r"\nTrust  165,\d{3} events, nothing dropped or unmatched; "
                               r"\d\d % of RSS explained\.\n$")
        text = piped(self.pool, "-v")
        self.assertIn("\nHow far to trust this\n", text)
        self.assertIn("none dropped, all frees matched a recorded allocation.",
                      " ".join(text.split()))
        self.assertRegex(piped(self.pool, "--peak", "--flat"), r"\nTrust  165,")

    def test_verbose_says_more(self):
        self.assertGreater(len(piped(self.pool, "-v").splitlines()),
                           len(piped(self.pool).splitlines()))
        self.assertIn("grows with the run, allocated from", piped(self.pool, "--verbose"))

    def test_rows_are_as_many_as_asked_for(self):
        churn = piped(self.pool, "-n", "2").split("\nChurn")[1].split("\n\n")[0]
        self.assertEqual(len(churn.splitlines()[2:]), 2)


class Growth(tide.Case):
    def test_memory_that_grows_is_said_and_drawn(self):
        grows = tide.Recorded(["/usr/bin/python3", "-c",
                               "import time\nkept = []\n"
                               "for i in range(120):\n"
                               "    kept.append(bytes(100000 + i)); time.sleep(0.01)"]).trace
        text = piped(grows)
        self.assertRegex(text, r"(?m)^  growth +[\d.]+ MiB  of the heap from [\d.]+ s to "
                               r"[\d.]+ s, steadily:\s+[\d.]+ MiB/s\s+[▁▂▃▄▅▆▇█]{24}$")
        line = [line for line in on_terminal(grows).splitlines()
                if line.startswith("  growth")][0]
        self.assertNotRegex(line, "[▁▂▃▄▅▆▇]")      # the large curve is there

    def test_memory_that_does_not_is_not(self):
        pool = os.path.join(os.environ["TIDEMARK_EXAMPLES"], "hydro")
        self.assertNotIn("growth", piped(tide.Recorded([pool]).trace))


if __name__ == "__main__":
    tide.main()
