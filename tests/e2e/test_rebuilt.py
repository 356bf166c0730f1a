"""tests/e2e/test_rebuilt.py - traces of a program that is built anew in its place."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import tide

# Lines are shifted by a comment; functions are the same.
SOURCE = """{shift}#include <stdlib.h>
#include <string.h>
static void *kept[64];
static void *load(int n)
{{
    char *block = malloc(4096);
    memset(block, n, 4096);
    return block;
}}
static void churn(void)
{{
    for (int i = 0; i < 100; i++)
        free(malloc(300));
}}
{more}
int main(void)
{{
    for (int i = 0; i < 64; i++)
        kept[i] = load(i);
    churn();
    {call}
    for (int i = 0; i < 64; i++)
        free(kept[i]);
    return 0;
}}
"""
LEAK = """static void forget(void)
{
    for (int i = 0; i < 32; i++)
        *(char *)malloc(65536) = 1; /* planted */
}"""


def run(*words, status=0):
    done = subprocess.run([tide.TIDEMARK, *words], capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != status:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Rebuilt(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tide-rebuilt-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = os.path.join(self.folder, "prog")
        self.source = os.path.join(self.folder, "prog.c")

    def build(self, lines=0, leak=False, flags=()):
        text = SOURCE.format(shift="/* moved */\n" * lines, more=LEAK if leak else "",
                             call="forget();" if leak else "")
        with open(self.source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["gcc", "-g", "-O0", *flags, "-o", self.program, self.source],
                       check=True, timeout=60)
        return text

    def record(self, name, *options):
        trace = os.path.join(self.folder, f"{name}.tide")
        run("run", "-q", "-o", trace, *options, "--", self.program)
        return trace

    def functions(self, trace):
        rows = tide.report(trace, "--total", "--flat")["rows"]
        return {row["function"]: row["line"] for row in rows
                if row["module"] == self.program and row["bytes"]}

    def line_of(self, text, what):
        return next(number for number, line in enumerate(text.splitlines(), 1)
                    if what in line)

    def test_names_are_those_of_the_build_that_ran(self):
        old = self.build()
        trace = self.record("old")
        before = self.functions(trace)
        self.assertEqual(before, {"load": self.line_of(old, "malloc(4096)"),
                                  "churn": self.line_of(old, "malloc(300)")})
        self.assertGreaterEqual(tide.info(trace)["embedded_frames"], 4)
        self.build(lines=40)
        self.assertEqual(self.functions(trace), before)
        os.unlink(self.program)
        self.assertEqual(self.functions(trace), before)
        self.whole(tide.report(trace))

    def test_no_names_leaves_them_out_and_takes_none_of_another_build(self):
        self.build()
        trace = self.record("old", "--no-names")
        self.assertEqual(tide.info(trace)["embedded_frames"], 0)
        self.assertIn("no-names", tide.info(trace)["options"])
        self.assertEqual(set(self.functions(trace)), {"load", "churn"})
        self.build(lines=3, leak=True)
        rows = tide.report(trace, "--total", "--flat")["rows"]
        named = {row["function"] for row in rows if row["module"] == self.program}
        self.assertTrue(named)
        for name in named:
            self.assertRegex(name or "prog+0x0", r"^prog\+0x[0-9a-f]+$")

    OTHER = "Names are missing from prog: it is another build than the one that ran."

    def said(self, *words):
        done = subprocess.run([tide.TIDEMARK, *words], capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return " ".join((done.stdout + done.stderr).split())

    def all_verbs(self, trace):
        """What each verb that reads traces says of TRACE."""
        other = os.path.join(self.folder, "copy.tide")
        shutil.copy(trace, other)
        return {words[0]: self.said(*words) for words in (
            ("report", trace), ("info", trace), ("diff", trace, trace),
            ("check", "--max-new-leaks", "0", "--baseline", other, trace),
            ("export", "--to", "folded", trace), ("resolve", trace, "0x1000"),
            ("query", trace, "SELECT leaf, count() GROUP BY leaf"))}

    def test_every_verb_says_the_same_of_another_build(self):
        self.build()
        bare, named = self.record("bare", "--no-names"), self.record("named")
        for verb, said in self.all_verbs(bare).items():
            self.assertNotIn("Names are missing", said, verb)
        self.build(lines=3, leak=True)
        for verb, said in self.all_verbs(bare).items():
            # diff and check read two traces: once for each.
            times = 2 if verb in ("diff", "check") else 1
            self.assertEqual(said.count(self.OTHER), times, f"{verb}: {said}")
        for verb, said in self.all_verbs(named).items():
            self.assertNotIn("Names are missing", said, verb)

    def test_a_file_without_build_id_is_known_by_size_and_time(self):
        flags = ("-Wl,--build-id=none",)
        self.build(flags=flags)
        bare = self.record("bare", "--no-names")
        self.assertEqual(set(self.functions(bare)), {"load", "churn"})
        then = os.stat(self.program)
        self.build(lines=3, leak=True, flags=flags)
        for verb, said in self.all_verbs(bare).items():
            self.assertIn(self.OTHER, said, verb)
        self.assertFalse({"load", "churn", "main", "forget"} & set(self.functions(bare)))
        self.build(flags=flags)     # the same bytes again, and the same time
        os.utime(self.program, ns=(then.st_atime_ns, then.st_mtime_ns))
        self.assertEqual(set(self.functions(bare)), {"load", "churn"})
        os.utime(self.program)      # only touched: nobody knows what it is
        self.assertNotIn("load", set(self.functions(bare)))

    def test_a_rebuild_in_place_is_no_difference(self):
        self.build()
        old = self.record("old")
        self.build(lines=40)
        new = self.record("new")
        rows = json.loads(run("diff", "--json", old, new))["rows"]
        self.assertEqual([row for row in rows if row["bytes"] or row["calls"]], [])
        run("check", new, "--baseline", old, "--max-growth", "1%", "--max-new-leaks", "0")

    def test_a_leak_planted_then_is_named_with_its_line(self):
        self.build()
        old = self.record("old")
        new_text = self.build(lines=40, leak=True)
        new = self.record("new")
        line = self.line_of(new_text, "planted")
        text = run("diff", "--leaks", old, new)
        self.assertRegex(text, rf"forget\b.*prog\.c:{line}\b")
        for name in ("load", "churn"):
            self.assertNotRegex(text, rf"(gone|new).*\b{name}\b")
        self.assertIn("1 stack, at most 0", run("check", new, "--baseline", old,
                                                "--max-new-leaks", "0", status=1))


if __name__ == "__main__":
    unittest.main()
