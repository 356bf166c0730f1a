"""tests/e2e/test_widths.py - no line of any verb, in any shape, is wider than the terminal.

Columns are those that a terminal shows: wide characters take two, combining ones none.  Where
neither COLUMNS nor a terminal says how wide, text keeps to 80 columns, tables that scripts read
keep their own width, and a message is one line.
"""
import os
import re
import subprocess
import tempfile
import unicodedata
import unittest

import tide

VIEWS = ("--peak", "--leaks", "--total", "--churn")
SHAPES = ("--tree", "--flat", "--stacks", "--bottom-up", "--gprof", "--threads",
          "--processes", "--regions", "--labels", "--modules", "--lines")
ALONE = ("--sizes", "--lifetimes", "--flow", "--windows", "--pools", "--timemory", "--ranks")
QUERIES = (
    ("SELECT * LIMIT 3",),
    ("AGGREGATE count(), sum(alloc.total_size) GROUP BY leaf, file, line FORMAT tree",),
    ("SELECT stack, count(), sum(alloc.total_size), max(mem.active), min(usable), leaf "
     "GROUP BY stack, leaf FORMAT tree",),
    ("SELECT stack, count() GROUP BY stack FORMAT table",),
    ("SELECT leaf, module, file, line, count() GROUP BY leaf, module, file, line",),
    ("--attributes",),
    ("--sql", "SELECT * FROM blocks LIMIT 5"),
    ("--sql", "SELECT * FROM frames LIMIT 5"),
)
ESCAPE = re.compile(r"\033\[[0-9;]*m")


def columns(line):
    """How many columns LINE takes."""
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in ESCAPE.sub("", line))


def output(width, *words):
    env = dict(os.environ, LC_ALL="C.UTF-8")
    env.pop("COLUMNS", None)
    if width:
        env["COLUMNS"] = str(width)
    done = subprocess.run([tide.TIDEMARK, *words], env=env, capture_output=True, timeout=300,
                          check=False)
    text = done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")
    for word in words:      # a mistake names a file as it was given
        text = text.replace(f"tidemark: {word}: ", "tidemark: FILE: ")
    return text


def commands(trace, other):
    """Every verb that prints for people, in every shape."""
    yield ("report", trace)
    yield ("report", "-v", trace)
    yield ("report", "-n", "0", trace)
    for view in VIEWS:
        yield ("report", view, trace)
        for shape in SHAPES:
            yield ("report", view, shape, trace)
        yield ("report", view, "--callers", "a", trace)
        yield ("report", view, "--sandwich", "main", trace)
        yield ("report", view, "--flat", "--sort", "inclusive", trace)
        yield ("report", view, "--bytes", "--flat", trace)
    for shape in ALONE:
        yield ("report", shape, trace)
    yield ("report", "--counter", "MEM_MAX", trace)
    yield ("report", "--space", "mmap", trace)
    for shape in ("--flat", "--tree", "--stacks"):
        yield ("diff", "--total", shape, trace, other)
    for query in QUERIES:
        yield ("query", trace, *query)
    yield ("query", "--explain", trace, *QUERIES[0])
    yield ("info", trace)
    yield ("info", "-v", trace)
    yield ("check", trace, "--baseline", other, "--max-growth", "1", "--max-new-leaks", "0")
    yield ("resolve", trace, "0x1000")


def alone():
    """What needs no trace."""
    yield ("--help",)
    yield ("doctor",)
    yield ("doctor", tide.program("event_loop"))
    for verb in ("run", "report", "query", "diff", "export", "info", "check", "resolve", "pack",
                 "doctor"):
        yield (verb, "--help")
        yield (verb, "--help-all")
        yield (verb, "--no-such-option")


def static_program(folder):
    path = os.path.join(folder, "static")
    subprocess.run(["gcc", "-static", "-x", "c", "-o", path, "-"], text=True, check=True,
                   input="int main(void) { return 0; }")
    return path


def messages(folder, trace):
    """What says something on standard error, and the words to look for."""
    new = os.path.join(folder, "new.tide")
    yield ("run", "-o", new, static_program(folder)), "--force"
    yield ("run", "-o", new, "env", "-i", tide.program("alters")), "LD_PRELOAD"
    yield ("run", "-o", new, "true"), "exists and is not overwritten"
    yield ("run", "-o", f"{folder}/no/such/folder/x", "true"), "name another place with -o"
    yield ("pack", "-o", new, trace), "have names"
    yield ("report", f"{folder}/a folder with blanks in its name/x.tide"), "no such file"
    yield ("report", "--churn", "--sort", "nothing", trace), "nothing"
    yield ("query", trace, "SELECT function, count() GROUP BY function"), "GROUP BY leaf"
    yield ("query", trace, "SELECT count() WHERE function = a_name_that_is_long some_other_name_of_a_function"), "AND or OR is missing"
    yield ("diff", trace), "usage: tidemark diff"


class Widths(tide.Case):
    @classmethod
    def setUpClass(cls):
        ranks = "\n".join(f"env PMI_RANK={rank} {tide.program('alters')} a1x{rank}000 &"
                          for rank in range(3)) + "\nwait"
        cls.traces = {
            "told_loop": tide.Recorded([tide.program("told_loop")]).trace,
            "pools": tide.Recorded([tide.program("pools")]).trace,
            "event_loop": tide.Recorded([tide.program("event_loop")]).trace,
            "hostile_names": tide.Recorded([tide.program("hostile_names")]).trace,
            "ranks": tide.Recorded(["/bin/sh", "-c", ranks], options=["--wait"]).trace,
            "containers": tide.Recorded([tide.program("clean_containers")]).trace,
            "golden": os.path.join(os.environ["TIDEMARK_SOURCE"], "tests/golden/v1/phases.tide"),
            "python": tide.Recorded(["/usr/bin/python3", "-c", "import json, re"]).trace,
        }

    def check(self, width, words, write=output):
        with self.subTest(width=width, words=" ".join(words), how=write.__name__):
            text = write(width, *words)
            self.assertNotEqual(text, "")
            wide = [line for line in text.splitlines() if columns(line) > width]
            self.assertEqual(wide, [])

    def test_every_verb_and_shape_fits_80_columns(self):
        other = self.traces["event_loop"]
        for trace in self.traces.values():
            for words in commands(trace, other):
                self.check(80, words)

    def test_what_needs_no_trace(self):
        for words in alone():
            self.check(80, words)

    def test_a_terminal_says_how_wide_it_is(self):
        trace = self.traces["containers"]
        for width in (80, 132):
            for words in (("report", trace), ("report", "--total", "--gprof", trace),
                          ("report", "--timemory", trace), ("query", trace, *QUERIES[0]),
                          ("report", "--peak", "--flat", trace), ("info", trace)):
                self.check(width, words, tide.on_terminal)

    def test_messages_are_wrapped_on_a_terminal_and_whole_lines_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            for words, said in messages(folder, self.traces["containers"]):
                with self.subTest(words=" ".join(words)):
                    piped = subprocess.run([tide.TIDEMARK, *words], text=True, timeout=60,
                                           capture_output=True, check=False).stderr
                    shown = tide.on_terminal(80, *words, errors=True)
                    self.assertIn(said, piped)
                    message = next(line for line in piped.splitlines() if said in line)
                    self.assertTrue(message.startswith(("tidemark: ", "usage: ")), message)
                    self.assertIn("".join(said.split()), "".join(shown.split()))
                    for line in shown.splitlines():
                        longest = max(columns(word) for word in line.split() or [""])
                        self.assertLessEqual(columns(line), max(80, longest + 10), line)

    def test_piped_text_keeps_to_80_columns(self):
        trace = self.traces["containers"]
        for words in (("report", trace), ("report", "--peak", trace), ("info", "-v", trace),
                      ("diff", "--total", trace, self.traces["pools"])):
            text = output(None, *words)
            self.assertEqual([line for line in text.splitlines() if columns(line) > 80], [])

    def test_one_trace_at_other_widths(self):
        for width in (60, 100, 200):
            for words in commands(self.traces["told_loop"], self.traces["event_loop"]):
                self.check(width, words)


if __name__ == "__main__":
    tide.main()
