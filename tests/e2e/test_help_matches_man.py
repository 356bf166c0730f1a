"""tests/e2e/test_help_matches_man.py - help texts and manual pages tell the same story."""
import os
import pathlib
import re
import subprocess
import unittest

TIDEMARK = os.environ["TIDEMARK"]
MAN = pathlib.Path(os.environ["TIDEMARK_SOURCE"]) / "docs" / "man"
COMMON = {"--help", "-h", "--help-all"}
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")


def output(*words):
    return subprocess.run([TIDEMARK, *words], check=True, capture_output=True,
                          text=True).stdout


def help_verbs():
    """verb -> summary, from the list that `tidemark` prints."""
    listed = output().split("one of\n", 1)[1].split("'tidemark VERB", 1)[0]
    return dict(re.findall(r"^  (\w+) +(\S.*)$", listed, re.M))


def help_options(verb, how="--help-all"):
    """The options that start a line of the help, with their aliases."""
    found = set()
    for line in output(verb, how).splitlines():
        if line.startswith("  -"):
            found |= set(OPTION.findall(line.strip().split("  ")[0]))
    return found - COMMON


def man_terms(page):
    """The terms of a page's lists (.TP), without formatting."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for before, line in zip(lines, lines[1:]):
        if before == ".TP":
            line = re.sub(r"^\.[A-Z]+ ", "", line)
            yield re.sub(r"\\f.", "", line.replace(r"\-", "-")).replace('"', "")


def man_options(page):
    found = set()
    for term in man_terms(page):
        if term.startswith("-"):
            found |= set(OPTION.findall(term))
    return found - COMMON


def offered(words):
    """What bash offers for the last of WORDS; blanks and = divide them, as it does."""
    script = ("source <(\"$TIDEMARK\" completion bash); COMP_WORDS=(\"$@\"); "
              "COMP_CWORD=$(($# - 1)); _tidemark 2>/dev/null; printf '%s\\n' "
              "\"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script, "bash", *words], check=True,
                          capture_output=True, text=True, env=os.environ)
    return set(done.stdout.split())


class HelpMatchesMan(unittest.TestCase):
    def test_there_are_verbs(self):
        self.assertLessEqual({"run", "report", "info"}, set(help_verbs()))

    def test_every_verb_has_a_page_with_its_options(self):
        for verb in help_verbs():
            with self.subTest(verb=verb):
                page = MAN / f"tidemark-{verb}.1"
                self.assertTrue(page.exists(), f"{page} is missing")
                self.assertEqual(help_options(verb), man_options(page))

    def test_every_page_says_what_the_help_says_the_verb_does(self):
        for verb, summary in help_verbs().items():
            with self.subTest(verb=verb):
                text = (MAN / f"tidemark-{verb}.1").read_text(encoding="utf-8")
                self.assertIn(f"tidemark-{verb} - {summary}\n", text.replace(r"\-", "-"))

    def test_the_main_page_lists_the_verbs(self):
        terms = {term for term in man_terms(MAN / "tidemark.1")
                 if not term.startswith("-")}
        self.assertEqual(terms, set(help_verbs()))

    def test_every_help_has_an_example(self):
        for verb in help_verbs():
            with self.subTest(verb=verb):
                self.assertRegex(output(verb, "--help").lower(), r"\bexamples?\b")

    def test_a_help_fits_one_screen(self):
        for verb in help_verbs():
            with self.subTest(verb=verb):
                self.assertLessEqual(len(output(verb, "--help").splitlines()), 50)
                for line in output(verb, "--help-all").splitlines():
                    self.assertLessEqual(len(line), 80, line)

    def test_a_short_help_says_how_many_options_it_leaves_out(self):
        for verb in help_verbs():
            with self.subTest(verb=verb):
                left_out = [option for option in help_options(verb)
                            - help_options(verb, "--help") if option.startswith("--")]
                said = re.search(r"--help-all' lists (\d+) more", output(verb, "--help"))
                self.assertEqual(len(left_out), int(said[1]) if said else 0)

    def test_bash_completes_the_options_of_every_verb(self):
        self.assertEqual(offered(["tidemark", ""]) & set(help_verbs()), set(help_verbs()))
        for verb in help_verbs():
            with self.subTest(verb=verb):
                self.assertEqual(offered(["tidemark", verb, "-"]) - COMMON,
                                 help_options(verb))

    def test_bash_completes_values(self):
        for words, expected in (
                (["run", "--unwind", ""], {"none", "fp", "libunwind", "cfi"}),
                (["run", "--unwind", "="], {"none", "fp", "libunwind", "cfi"}),
                (["run", "--unwind", "=", "c"], {"cfi"}),
                (["--unwind", "l"], {"libunwind"}),
                (["report", "--space", ""], {"heap", "mmap"}),
                (["report", "--rows", ""], set()),
                (["completion", ""], {"bash", "zsh", "fish"})):
            with self.subTest(words=words):
                self.assertEqual(offered(["tidemark", *words]), expected)

    def test_bash_leaves_the_words_of_a_program_alone(self):
        self.assertNotIn("--output", offered(["tidemark", "run", "-o", "x", "true", "--o"]))
        self.assertIn("--output", offered(["tidemark", "run", "-q", "--o"]))

    def test_every_shell_has_the_options_of_every_verb(self):
        zsh, fish = (output("completion", shell) for shell in ("zsh", "fish"))
        for verb in help_verbs():
            body = zsh.split(f"\n    {verb})\n", 1)[1].split(";;", 1)[0]
            lines = [line for line in fish.splitlines() if f"_from {verb}'" in line]
            for option in help_options(verb):
                with self.subTest(verb=verb, option=option):
                    self.assertRegex(body, rf"'(\([^)]*\)|\*)?{option}[=+]?\[")
                    letter = not option.startswith("--")
                    named = f" -s {option[1:]} " if letter else f" -l {option[2:]} "
                    self.assertEqual(sum(named in line for line in lines), 1)

    def test_pages_name_the_version(self):
        version = output("--version").strip()
        for page in MAN.glob("*.1"):
            with self.subTest(page=page.name):
                self.assertIn(f'"{version}"', page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
