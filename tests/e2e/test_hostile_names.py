"""No name of a traced program reaches a terminal raw, whatever verb and format prints it.

A program with hostile names wherever it can put one is recorded once.  Verbs, options and
formats are taken from the help texts, so a new one is tried without a line here, or fails
with the request to say how it is called.
"""
import concurrent.futures
import ctypes
import json
import os
import re
import shutil
import sqlite3
import subprocess
import unicodedata
import unittest
import zlib

import tide

# As in tests/programs/hostile_names.c, but for what has no place in a file's name.
HOSTILE = ("\033]0;owned\007\033[2J\u009bH\177\r\nINJECTED\t\u202e\u2066\u200f\u200b\u2028"
           "\ufeff").encode() + b"\377\340\200\200"
PLACEHOLDER = b"FUNCTION_OF_THE_PROGRAM_0123456789"
INK = re.compile(r"\033\[[0-9;]*m")
FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
CLONE_NEWUTS = 0x04000000

# Where names stand, as the beginnings of what is shown: each must have been seen.
PLACES = ["region", "loop", "label", "shape", "piece", "other piece", "pool", "holder",
          "int", "double", "string", "address", "value", "window", "snapshot", "never ends",
          "T", "function", "/nowhere/file", "lib", "prog", "argument"]

# Values of options, by what the help calls them.
VALUES = {
    "T": ["0.0001"], "T1 T2": ["0", "1"], "AXIS": ["bytes"], "F": ["*function*"],
    "C": ["MEM_LIVE"], "PID": ["1"], "P": ["*"], "N": ["1"], "RANGE": ["0.."], "SPACE": ["mmap"],
    "FILE": None, "SIZE": ["1"], "WHEN": ["always"], "SOURCE": None, "FORMAT": None,
    "PERCENT": None, "F=N": ["*function*=1"], "TRACE": None, "OUT": None, "DIR": ["/"],
    "NAME": ["a\033]0;owned\007b"], "ENGINE": ["none"], "LIST": ["heap"], "WHOM": ["all"],
    "QUERY": ["SELECT *"], "COLUMN": ["calls"],
    "HOW": ["exact"],
}


def hostile_path(folder, name):
    return os.path.join(os.fsencode(folder), name.encode() + HOSTILE)


def take_a_hostile_host():
    """Only root may; others record under their own host's name."""
    libc = ctypes.CDLL(None)
    if os.geteuid() == 0 and libc.unshare(CLONE_NEWUTS) == 0:
        libc.sethostname(HOSTILE[:60], 60)


class World:
    """The recorded program."""

    def __init__(self):
        self.folder = os.path.join(tide.FOLDER, "hostile")
        os.mkdir(self.folder)
        self.cwd = hostile_path(self.folder, "folder")
        os.mkdir(self.cwd)
        with open(tide.program("hostile_names"), "rb") as file:
            image = file.read()
        name = (b"function" + HOSTILE).ljust(len(PLACEHOLDER), b"_")[:len(PLACEHOLDER)]
        self.program = hostile_path(self.folder, "prog")
        with open(self.program, "wb") as file:
            file.write(image.replace(PLACEHOLDER, name))
        os.chmod(self.program, 0o755)
        library = hostile_path(self.folder, "lib")
        shutil.copy(tide.program("lib_plugin_one.so"), library)
        self.trace = hostile_path(self.folder, "trace") + b".tide"
        done = subprocess.run(
            [tide.TIDEMARK, "run", "-o", self.trace, "--free-stacks", "--monitor",
             "simple,loop,histogram,regions,threshold:single=1100", "--", self.program,
             library, b"argument " + HOSTILE], cwd=self.cwd, capture_output=True,
            timeout=60, check=False, preexec_fn=take_a_hostile_host)
        if done.returncode:
            raise AssertionError(done.stderr)
        self.outputs = [done.stdout, done.stderr]
        self.address = re.search(rb"0x[0-9a-f]+", done.stdout)[0]


def help_of(*verb, which="--help"):
    done = subprocess.run([tide.TIDEMARK, *verb, which], capture_output=True, text=True,
                          timeout=20, check=True)
    return done.stdout


def verbs():
    return re.findall(r"^  (\w+) +\S", help_of().split("\n\n")[1].partition("one of")[2] +
                      help_of().split("\n\n")[2], re.M)


def options(verb):
    """(option, words of its value) of every option that the help lists."""
    for line in help_of(verb, which="--help-all").splitlines():
        found = re.match(r"  (?:-\w, )?(--[a-z-]+)((?: [A-Z][A-Z0-9=]*)*)(?:  |$)", line)
        if found:
            yield found[1], found[2].strip()


def section(text, title):
    return text.partition(f"\n{title}")[2].partition("\n\n")[0]


def export_formats():
    text = section(help_of("export"), "formats\n")
    return [word for line in re.findall(r"^  ((?:\w[\w-]*,? ?)+?)(?:  |[A-Z])", text, re.M)
            for word in re.findall(r"[\w-]+", line)]


def query_formats():
    text = re.search(r"FORMAT ((?:.*\|\s*)+.*)", help_of("query"))[1]
    return re.findall(r"([a-z-]+)(?:\(.*?\))?\s*(?:\||$)", text)


class HostileNamesTest(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.shown = cls.world.outputs.copy()

    # --- What may be called, and how -----------------------------------------------------

    def base(self, verb):
        """The words that call VERB on the trace; its options go before the last of them."""
        trace, out = self.world.trace, self.world.folder.encode()
        return {
            "run": [["-q", "-o", os.path.join(out, b"again.tide"), "--",
                     self.world.program]],
            "report": [[trace]],
            "query": [[trace, "SELECT *"]],
            "diff": [[trace, trace], [trace, trace + b"@peak"]],
            "check": [["--max-peak", "1", "--max-leak", "1", "--max-calls-in",
                       "*function*=1", trace]],
            "resolve": [[trace, self.world.address], [trace, self.world.address + b"@0.1s"]],
            "info": [[trace]],
            "export": [["--to", "folded", trace]],
            "pack": [["-o", os.path.join(out, b"packed.tide"), trace]],
            "doctor": [[self.world.program]],
            "completion": [["bash"]],
        }[verb]

    def calls_of(self, verb):
        self.assertIn(verb, "run report query diff check resolve info export pack doctor "
                            "completion",
                      "say in base() how this verb is called")
        bases = self.base(verb)
        calls = [[verb, *words] for words in bases]
        for option, value in options(verb):
            self.assertIn(value, list(VALUES) + [""], f"{verb} {option}: say what it may be")
            words = [option, *VALUES[value]] if value and VALUES[value] else [option]
            if value and not VALUES[value]:
                continue    # files and formats: below
            calls.append([verb, *words, *bases[0]])
        return calls

    def all_calls(self):
        trace, folder = self.world.trace, os.fsencode(self.world.folder)
        calls = [call for verb in verbs() for call in self.calls_of(verb)]
        for shape in ("--tree", "--stacks", "--flat", "--bottom-up", "--regions", "--labels",
                      "--modules", "--lines", "--threads", "--processes", "--pools",
                      "--windows", "--flow", "--gprof"):
            for more in ("--json", "--csv", "--color=always"):
                calls.append(["report", "--total", shape, more, trace])
        for source in ("events", "blocks", "snapshots", "regions", "timeline"):
            calls.append(["query", "--from", source, "--attributes", trace])
            for format_ in query_formats():
                words = {"format": 'format("%region% %T%", "a\033[2J")'}.get(format_, format_)
                path = " GROUP BY stack" if format_ in ("tree", "json-split") else ""
                calls.append(["query", trace,
                              f"SELECT * FROM {source} FORMAT {words}{path}"])
            calls.append(["query", "--json", trace, f"SELECT * FROM {source}"])
        calls += [["query", trace, f"SELECT count() GROUP BY region,label FORMAT {format_}"]
                  for format_ in query_formats() if format_ != "format"]
        for format_ in export_formats():
            for more in ((), ("--all",)):
                calls.append(["export", "--to", format_, *more, "-o",
                              os.path.join(folder, format_.encode()), trace])
                calls.append(["export", "--to", format_, *more, trace])
        for option in ("--json", "--junit=-", "--markdown=-"):
            calls.append(["check", option, *self.base("check")[0]])
        return calls + self.mistakes()

    def mistakes(self):
        """What is wrong is said with the name of it."""
        damaged = hostile_path(self.world.folder, "damaged")
        with open(self.world.trace, "rb") as file:
            trace = file.read()
        with open(damaged, "wb") as file:
            file.write(trace[:len(trace) // 2])
        junk = hostile_path(self.world.folder, "junk")
        with open(junk, "wb") as file:
            file.write(b"junk" * 100)
        missing = hostile_path(self.world.folder, "missing")
        bad = b"a" + HOSTILE
        calls = [[bad], [b"--" + bad], ["help", bad], ["doctor", missing], ["run", missing],
                 ["diff", damaged, missing], ["query", damaged, b"SELECT " + bad],
                 ["query", damaged, b"SELECT '" + bad + b"' FORMAT " + bad],
                 ["query", "-q", missing, damaged], ["query", "--explain", damaged,
                  b"SELECT count() AS '" + bad + b"' WHERE region = '" + bad + b"'"],
                 ["query", self.world.trace, b"SELECT count() AS '" + bad + b"'"],
                 ["query", "--sql", self.world.trace, b"SELECT '" + bad + b"' AS '" + bad +
                  b"'"], ["query", "--sql", self.world.trace, bad],
                 ["report", self.world.trace + b"@" + bad],
                 ["check", "--config", junk, damaged],
                 ["report", "--suppressions", junk, damaged],
                 ["report", "--callers", bad, self.world.trace],
                 ["resolve", self.world.trace, bad],
                 ["export", "--to", bad, damaged],
                 ["export", "--to", "folded", "-o", os.path.join(missing, b"no"), damaged]]
        for path in (damaged, junk, missing):
            calls += [[verb, path] for verb in ("report", "info")]
            calls += [["check", "--max-peak", "1", path],
                      ["pack", "-o", os.path.join(os.fsencode(self.world.folder), b"p"),
                       path]]
        return calls

    # --- What is printed -----------------------------------------------------------------

    def run_one(self, call):
        return subprocess.run([tide.TIDEMARK, *call], capture_output=True, timeout=60,
                              check=False, cwd=self.world.cwd, env={
                                  **os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "400"})

    def look_at(self, what, printed):
        """Nothing in PRINTED is obeyed by a terminal, but for the colours of our own."""
        try:
            text = printed.decode()
        except UnicodeDecodeError as error:
            self.fail(f"{what}: not UTF-8: {printed[error.start - 60:error.end + 20]}")
        text = INK.sub("", text)
        for i, character in enumerate(text):
            if character not in "\n\t" and unicodedata.category(character) in FORBIDDEN:
                self.fail(f"{what}: {character!r} in {text[max(i - 60, 0):i + 20]!r}")
        self.assertIsNone(re.search(r"^INJECTED", text, re.M), f"{what}: a line of a name")

    def plain(self, call, printed):
        """PRINTED, without the containers that are not for terminals."""
        if printed.startswith(b"\x1f\x8b"):
            inner = zlib.decompress(printed, 31)
            for place in PLACES:
                self.assertIsNone(re.search(place.encode() + rb" ?\033", inner), call)
            return b""
        return printed

    def test_no_verb_prints_a_raw_name(self):
        calls = self.all_calls()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for call, done in zip(calls, pool.map(self.run_one, calls)):
                with self.subTest(call=call):
                    self.assertIn(done.returncode, (0, 1, 2, 126, 127), done.stderr)
                    for printed in (done.stdout, done.stderr):
                        self.look_at(call, self.plain(call, printed))
                    self.shown.append(done.stdout)
        for output in self.world.outputs:
            self.look_at("run", output)
        self.files_hold_none()
        self.every_place_was_seen()

    def files_hold_none(self):
        for format_ in export_formats():
            path = os.path.join(self.world.folder, format_)
            with self.subTest(file=format_), open(path, "rb") as file:
                content = file.read()
                if content.startswith(b"SQLite"):
                    with sqlite3.connect(path) as base:
                        content = "\n".join(base.iterdump()).encode()
                self.look_at(format_, self.plain(format_, content))

    def every_place_was_seen(self):
        """Else a name was not printed at all, and nothing was shown of how."""
        everything = b"".join(self.shown)
        for place in PLACES:
            escape = rb" ?(?:\\x1b|\\\\x1b|\\u001b)"
            with self.subTest(place=place):
                self.assertRegex(everything, re.escape(place.encode()) + escape)

    def test_json_gives_the_names_as_they_are(self):
        """But for what is no UTF-8, which JSON cannot say."""
        expected = "region " + HOSTILE[:-4].decode() + "\\xff\\xe0\\x80\\x80"
        done = self.run_one(["report", "--regions", "--json", self.world.trace])
        self.assertIn(json.dumps(expected)[1:-1], json.dumps(json.loads(done.stdout)))


if __name__ == "__main__":
    unittest.main(verbosity=1)
