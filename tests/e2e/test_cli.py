"""tests/e2e/test_cli.py - the program's manners: verbs, help, mistakes, exit statuses."""
import os
import subprocess
import tempfile
import unittest

TIDEMARK = os.environ["TIDEMARK"]


def tidemark(*words, **options):
    return subprocess.run([TIDEMARK, *words], capture_output=True, text=True,
                          check=False, **options)

VERBS = ("run", "report", "diff", "check", "export", "query", "resolve", "info", "pack",
         "doctor", "completion")


class Manners(unittest.TestCase):
    def expect(self, done, status, out="", err=""):
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(out, done.stdout)
        self.assertIn(err, done.stderr)
        if status != 0:
            self.assertTrue(done.stderr.startswith("tidemark: "), done.stderr)

    def test_alone_it_lists_the_verbs(self):
        for words in ((), ("--help",), ("-h",), ("help",)):
            done = tidemark(*words)
            self.expect(done, 0, "where did the memory go?")
            for verb in VERBS:
                self.assertRegex(done.stdout, rf"(?m)^  {verb} +\w")

    def test_it_fits_eighty_columns(self):
        for words in ((), *((verb, "--help") for verb in VERBS)):
            for line in tidemark(*words).stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_a_verb_explains_itself(self):
        for verb in VERBS:
            expected = tidemark(verb, "--help")
            self.expect(expected, 0, f"usage: tidemark {verb} ")
            self.assertEqual(tidemark("help", verb).stdout, expected.stdout)
            self.assertEqual(tidemark("--help", verb).stdout, expected.stdout)

    def test_it_tells_its_version(self):
        for word in ("--version", "-V"):
            done = tidemark(word)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, r"^tidemark \d+\.\d+\.\d+\n$")

    def test_mistakes_are_named_and_exit_with_2(self):
        self.expect(tidemark("--nonsense"), 2, err="unknown option --nonsense")
        for verb in VERBS:
            self.expect(tidemark(verb, "--nonsense"), 2,
                        err="unknown option --nonsense")
        self.expect(tidemark("report", "--jsno"), 2, err="did you mean --json?")

    def test_an_option_of_another_verb_is_told_as_such(self):
        for words in (("--churn",), ("--churn", "a.tide"), ("run", "--churn")):
            self.expect(tidemark(*words), 2, err="run has no option --churn, but report "
                        "has: tidemark report --churn\n")
        self.expect(tidemark("info", "--max-leak", "0"), 2, err="tidemark check --max-leak\n")

    def test_a_word_that_is_neither_verb_nor_program_fails_as_in_a_shell(self):
        self.expect(tidemark("rport"), 2, err="did you mean 'tidemark report'?")
        self.expect(tidemark("rep"), 127, err="did you mean 'tidemark report'?")
        self.expect(tidemark("help", "nothing"), 1, err="there is no verb 'nothing'")
        self.expect(tidemark("help", "reprot"), 1, err="did you mean 'report'?")
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "plain")
            with open(plain, "w", encoding="utf-8") as file:
                file.write("text\n")
            for name, status in (("no-such-program-anywhere", 127), ("./nothing", 127),
                                 (plain, 126), (folder, 126)):
                short, long = tidemark(name, cwd=folder), tidemark("run", name, cwd=folder)
                self.expect(short, status, err=f"tidemark: {name}: ")
                self.expect(long, status)
                self.assertEqual(short.stderr, long.stderr)
                self.assertEqual(os.listdir(folder), ["plain"])

    def test_a_mistake_names_the_way_on(self):
        """What a user types next to what works, and what the answer must lead to."""
        with tempfile.TemporaryDirectory() as folder:
            self.expect(tidemark("run", "-q", "-o", "pool", "true", cwd=folder), 0)
            for name, start in (("pool.tide.zst", b"\x28\xb5\x2f\xfd"),
                                ("pool.tide.gz", b"\x1f\x8b"),
                                ("heaptrack.ls.1.zst", b"\x28\xb5\x2f\xfd")):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(start + b"more")
            program = os.path.join(folder, "here-only")
            os.symlink("/bin/true", program)
            for words, status, said in (
                    (("report", "pol.tide"), 1, "no such file; did you mean pool.tide?"),
                    (("report", "./pool.tyde"), 1, "did you mean ./pool.tide?"),
                    (("report", "elsewhere.tide"), 1, "elsewhere.tide: no such file\n"),
                    (("report", "no/pool.tide"), 1, "no/pool.tide: no such file\n"),
                    (("report", "pool.tide.zst"), 1, "first: zstd -d pool.tide.zst\n"),
                    (("report", "pool.tide.gz"), 1, "first: gunzip pool.tide.gz\n"),
                    (("report", "heaptrack.ls.1.zst"), 1, "heaptrack_print reads it"),
                    (("report", "pool", "pool.tide"), 2,
                     "to compare two: tidemark diff pool pool.tide\n"),
                    (("report", "pool.tide@"), 1, "which moment? A time (@12.5s, @150ms)"),
                    (("report", "--to", "pprof"), 2, "tidemark export --to\n"),
                    (("--report",), 2, "verbs have no dashes: tidemark report\n"),
                    (("run", "here-only"), 127, "write ./ before its name"),
                    (("query", "pool"), 2, "for example: 'SELECT leaf, count() "),
                    (("query", "pool", "SELECT", "leaf", "LIMIT", "1"), 2,
                     "the query is one argument: put it in quotes"),
                    (("run", "--follow", "no", "true"), 2,
                     "'no' is not one of all, exec, none"),
                    (("resolve", "pool", "xyz"), 2, "(like 0x5581f02a4c10)")):
                with self.subTest(words=words):
                    self.expect(tidemark(*words, cwd=folder), status, err=said)

    def test_words_of_other_profilers_lead_to_ours(self):
        nowhere = {**os.environ, "PATH": "/nonexistent"}
        for word, ours in (("record", "run"), ("analyze", "report"), ("leaks",
                           "report --leaks"), ("compare", "diff"), ("version", "--version")):
            self.expect(tidemark(word, env=nowhere), 127,
                        err=f"did you mean 'tidemark {ours}'?\n")
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "record")
            os.symlink("/bin/true", program)
            self.expect(tidemark("record", cwd=folder, env={"PATH": folder}), 0)

    def test_a_trace_is_no_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.expect(tidemark("-o", "a b", "true", cwd=folder), 0)
            for name in ("a b.tide", "./a b.tide", os.path.join(folder, "a b.tide")):
                self.expect(tidemark(name, cwd=folder), 2,
                            err=f"is a trace; to read it: tidemark report '{name}'\n")
            self.expect(tidemark("b.tide", cwd=folder), 127, err="no such program")

    def test_a_verb_of_today_or_later_is_no_program(self):
        """`import` and `top` exist on many machines; here they do, and leave a mark."""
        later = ("snapshot", "top", "maps", "gpu", "plot", "html", "flame", "import",
                 "attach", "merge", "trim", "scrub")
        nearly = ("repotr", "imports", "snapshto", "plott", "expotr")
        with tempfile.TemporaryDirectory() as folder:
            path = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
            for name in (*later, *nearly, "report", "htop", "gpg"):
                program = os.path.join(folder, name)
                with open(program, "w", encoding="utf-8") as file:
                    file.write(f"#!/bin/sh\n: > {folder}/started.{name}\n")
                os.chmod(program, 0o755)
            for name in (*later, *nearly):
                for words in ((name,), (name, "file.png"), ("-o", "x", name)):
                    done = tidemark(*words, cwd=folder, env=path)
                    self.expect(done, 2, err=f"tidemark run {name}\n")
                    self.assertEqual(done.stderr.count("\n"), 1)
            self.expect(tidemark("-o", "x", "report", cwd=folder, env=path), 2,
                        err="tidemark run report")
            self.assertEqual([name for name in os.listdir(folder) if "." in name], [])
            for words in (("run", "import"), ("--", "top"), ("./plot",), ("htop",),
                          ("-q", "gpg")):
                self.expect(tidemark(*words, cwd=folder, env=path), 0)
                self.assertTrue(os.path.exists(
                    os.path.join(folder, f"started.{os.path.basename(words[-1])}")))
            self.expect(tidemark("snapshot", "1", cwd=folder), 2, err="in this version")

    def test_options_of_run_need_no_verb(self):
        with tempfile.TemporaryDirectory() as folder:
            self.expect(tidemark("-o", "short", "true", cwd=folder), 0)
            self.expect(tidemark("--output=long", "-q", "--", "true", cwd=folder), 0)
            self.assertEqual(sorted(os.listdir(folder)), ["long.tide", "short.tide"])
            self.expect(tidemark("-o", "", "true", cwd=folder), 2, err="needs a name")
            self.expect(tidemark("-o", "x", cwd=folder), 2, err="which program?")

    def test_a_name_for_the_trace_is_looked_at_first(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, words in (("", "needs a name"), ("%q", "unknown %q; there are %p"),
                                ("x%", "letter is missing"), ("x/", "folder")):
                self.expect(tidemark("run", "-o", name, "true", cwd=folder), 2, err=words)
            self.assertEqual(os.listdir(folder), [])

    def test_a_trace_is_found_under_the_name_that_run_was_given(self):
        with tempfile.TemporaryDirectory() as folder:
            self.expect(tidemark("run", "-o", "srt", "true", cwd=folder), 0)
            self.assertEqual(os.listdir(folder), ["srt.tide"])
            for verb in ("report", "info"):
                self.assertEqual(tidemark(verb, "srt", cwd=folder).stdout,
                                 tidemark(verb, "srt.tide", cwd=folder).stdout)
                self.expect(tidemark(verb, "sr", cwd=folder), 1, err="sr: no such file")

    def test_a_trace_may_come_from_standard_input(self):
        with tempfile.TemporaryDirectory() as folder:
            tidemark("run", "-q", "-o", "a", "true", cwd=folder)
            here = dict(cwd=folder, env={**os.environ, "TMPDIR": folder})
            query = "SELECT trace, count() GROUP BY trace"
            for words in (("report", "-"), ("report", "-@peak"), ("info", "--modules", "-"),
                          ("diff", "-", "a"), ("check", "--max-leak", "9G", "-"),
                          ("export", "--to", "folded", "-"), ("query", "-", query),
                          ("query", "--sql", "-", "SELECT count(*) FROM sites"),
                          ("resolve", "-", "0x1000"),
                          ("pack", "-q", "-o", "b", "-")):
                expected = tidemark(*("a" if word == "-" else word.replace("-@", "a@")
                                      for word in words), **here)
                self.expect(expected, 0)
                with open(os.path.join(folder, "a.tide"), "rb") as file:
                    for pipe in ("cat | ", ""):
                        done = subprocess.run(
                            ["bash", "-c", pipe + '"$TIDEMARK" "$@"', "bash", *words],
                            stdin=file, capture_output=True, text=True, check=False,
                            **here)
                        file.seek(0)
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        said = done.stdout.replace("/dev/fd/0", "a.tide")
                        said = said.replace("base  -\n", "base  a\n")
                        if words[0] == "query":
                            said = said.replace("-    ", "a    ")
                        if words[0] != "pack":
                            self.assertEqual(said, expected.stdout)
            self.assertEqual(sorted(os.listdir(folder)), ["a.tide", "b"])

    def test_what_comes_from_standard_input_may_be_no_trace(self):
        for words, err in ((("report", "-"), "standard input: this is text, not a trace"),
                           (("pack", "-"), "needs -o OUT")):
            self.expect(tidemark(*words, input="hello\n"), 1 if "t" in words[0] else 2,
                        err=err)
        self.expect(tidemark("report", "-", input=""), 1, err="this is empty")
        self.expect(tidemark("report", "-", input="hello\n",
                             env={**os.environ, "TMPDIR": "/nowhere"}), 1,
                    err="/nowhere: no room for the trace from standard input")

    def test_reading_where_no_trace_is_fails_with_1(self):
        with tempfile.TemporaryDirectory() as folder:
            for verb in ("report", "info"):
                self.expect(tidemark(verb, cwd=folder), 1)
                self.expect(tidemark(verb, "missing.tide", cwd=folder), 1,
                            err="missing.tide")

    def test_a_full_disk_is_no_success(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TIDEMARK, "--help"], stdout=full, text=True,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write", done.stderr)

    def test_control_bytes_of_names_do_not_reach_the_terminal(self):
        done = tidemark("report", "\x1b]0;title\x07.tide")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("\x1b", done.stderr)


if __name__ == "__main__":
    unittest.main()
