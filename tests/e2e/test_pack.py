"""tests/e2e/test_pack.py - traces that bring their names, read where the program is not."""
import os
import shutil
import stat
import subprocess
import tempfile
import unittest

import tide

FACTS = ("function", "module", "file", "line", "bytes")


def names(trace):
    """Every frame of every stack, with all that is known of it."""
    rows = tide.report(trace, "--total", "--stacks", "--no-fold")["rows"]
    return [[row["bytes"], row["calls"],
             [{key: call.get(key) for key in FACTS} for call in row["stack"]]]
            for row in rows]


def pack(*words):
    return subprocess.run([tide.TIDEMARK, "pack", *words], capture_output=True, text=True,
                          timeout=120, check=False)


class Elsewhere(tide.Case):
    """A program and a library, recorded in a folder that is gone afterwards."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tide-pack-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.bin = os.path.join(self.folder, "bin")
        os.mkdir(self.bin)
        self.trace = os.path.join(self.folder, "t.tide")
        for name in ("plugins", "lib_plugin_one.so", "lib_plugin_two.so", "event_loop"):
            shutil.copy(tide.program(name), self.bin)

    def record(self, *options, program="plugins", arguments=None):
        """Without names, unless OPTIONS say otherwise."""
        options = options or ("--no-names",)
        arguments = [self.bin] if arguments is None else arguments
        return subprocess.run(
            [tide.TIDEMARK, "run", "-q", "-o", self.trace, *options, "--",
             os.path.join(self.bin, program), *arguments], capture_output=True, text=True,
            timeout=120, check=False)

    def take_away(self):
        shutil.rmtree(self.bin)

    def own_functions(self, found):
        return {call["function"] for _, _, stack in found for call in stack
                if call["module"].startswith(self.bin)}

    def test_whose_names_are_missing_is_said_and_why(self):
        self.assertEqual(self.record().returncode, 0)
        path = os.path.join(self.bin, "plugins")

        def said():
            done = subprocess.run([tide.TIDEMARK, "report", self.trace], timeout=120,
                                  capture_output=True, text=True, check=True)
            found = {each["module"]: each["why"] for each in
                     tide.report(self.trace)["honesty"]["unnamed_modules"]}
            return found.get(path), " ".join(done.stdout.split())
        self.assertEqual(said()[0], None)
        subprocess.run(["strip", path], check=True, timeout=60)
        why, words = said()
        self.assertEqual(why, "stripped")
        self.assertIn("--debuginfod", words)
        shutil.copy(tide.program("event_loop"), path)
        why, words = said()
        self.assertEqual(why, "other_build")
        self.assertIn("Names are missing from plugins: it is another build than the one "
                      "that ran.", words)
        os.unlink(path)
        why, words = said()
        self.assertEqual(why, "gone")
        self.assertIn("Names are missing from plugins: the file is gone. Once back in "
                      "place: tidemark pack TRACE.", words)
        self.take_away()
        self.assertRegex(said()[1], "Names are missing from [^:]*lib_plugin_.*: the files are "
                                    "gone[.]")

    def test_names_and_lines_are_those_of_before(self):
        self.assertEqual(self.record().returncode, 0)
        before = names(self.trace)
        self.assertLessEqual({"main", "visit", "plugin_make"}, self.own_functions(before))
        done = pack(self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" have names", done.stderr)
        self.take_away()
        self.assertEqual(names(self.trace), before)
        self.whole(tide.report(self.trace))
        self.assertGreaterEqual(tide.info(self.trace)["embedded_frames"], 5)

    def test_inlined_functions_are_there(self):
        self.record(program="event_loop", arguments=[])
        before = names(self.trace)
        pack(self.trace)
        self.take_away()
        after = names(self.trace)
        self.assertEqual(after, before)
        lines = {(call["function"].split("::")[-1], call["line"])
                 for _, _, stack in after for call in stack if call["line"]}
        self.assertGreater(len(lines), 8)

    def test_without_it_they_are_gone(self):
        self.record()
        self.take_away()
        self.assertFalse({"main", "visit", "plugin_make"} &
                         self.own_functions(names(self.trace)))

    def test_while_it_is_recorded(self):
        for program, arguments, status in (("plugins", None, 0), ("plugins", [], 2)):
            done = self.record("--embed-symbols", program=program, arguments=arguments)
            self.assertEqual(done.returncode, status)
            if status == 0:
                self.assertEqual(done.stderr, "")
                before = names(self.trace)
            else:
                self.assertRegex(done.stderr, r"\A.* exists .*: this trace is .*\n\Z")
        self.take_away()
        self.assertEqual(names(self.trace), before)
        self.assertLessEqual({"main", "visit", "plugin_make"}, self.own_functions(before))

    def test_all_verbs_use_them(self):
        self.record()
        pack(self.trace)
        self.take_away()
        for words in (["diff", f"{self.trace}@0s", self.trace], ["export", "--to", "folded",
                      self.trace], ["report", "--gprof", self.trace]):
            text = subprocess.run([tide.TIDEMARK, *words], capture_output=True, text=True,
                                  timeout=120, check=True).stdout
            self.assertIn("plugin_make", text, words)

    def test_into_another_file_and_once_more(self):
        self.record()
        with open(self.trace, "rb") as file:
            original = file.read()
        other = os.path.join(self.folder, "other.tide")
        self.assertEqual(pack("-q", self.trace, "-o", other).stderr, "")
        with open(self.trace, "rb") as file:
            self.assertEqual(file.read(), original)
        self.assertEqual(stat.S_IMODE(os.stat(other).st_mode),
                         stat.S_IMODE(os.stat(self.trace).st_mode))
        before = names(other)
        size = os.path.getsize(other)
        self.take_away()
        self.assertEqual(pack(other).returncode, 0)
        self.assertEqual((names(other), os.path.getsize(other)), (before, size))
        self.assertEqual(os.listdir(self.folder).count("other.tide"), 1)
        self.assertEqual(len(os.listdir(self.folder)), 2)

    def test_a_trace_that_ends_early(self):
        self.record()
        with open(self.trace, "r+b") as file:
            file.truncate(os.path.getsize(self.trace) - 5)
        before = tide.report(self.trace, "--total")
        self.assertFalse(before["honesty"]["complete"])
        self.assertEqual(pack(self.trace).returncode, 0)
        self.take_away()
        after = tide.report(self.trace, "--total")
        self.assertFalse(after["honesty"]["complete"])
        self.assertEqual(after["rows"], before["rows"])

    def test_a_damaged_trace_is_left_alone(self):
        self.record()
        with open(self.trace, "r+b") as file:
            file.seek(64 + 64 + 5)
            byte = file.read(1)
            file.seek(64 + 64 + 5)
            file.write(bytes([byte[0] ^ 255]))
        with open(self.trace, "rb") as file:
            damaged = file.read()
        done = pack(self.trace)
        self.assertEqual(done.returncode, 1)
        self.assertIn("damaged", done.stderr)
        with open(self.trace, "rb") as file:
            self.assertEqual(file.read(), damaged)
        self.assertEqual(sorted(os.listdir(self.folder)), ["bin", "t.tide"])

    def test_one_that_is_being_recorded_is_left_alone(self):
        with subprocess.Popen([tide.TIDEMARK, "run", "-q", "-o", self.trace, "--",
                               "/bin/cat"], stdin=subprocess.PIPE) as running:
            while not os.path.exists(self.trace) or os.path.getsize(self.trace) < 500:
                self.assertIsNone(running.poll())
            done = pack(self.trace)
            self.assertEqual(done.returncode, 1)
            self.assertIn("still being recorded", done.stderr)
            running.stdin.close()
            self.assertEqual(running.wait(60), 0)
        self.whole(tide.report(self.trace))

    def test_places_that_cannot_be_written(self):
        self.record()
        for where, why in (("/dev/null", "plain file"), ("-", "plain file"),
                           (os.path.join(self.folder, "no", "t.tide"), "No such file")):
            done = pack(self.trace, "-o", where)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
