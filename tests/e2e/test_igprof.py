"""tests/e2e/test_igprof.py - igprof_dump_now(): profiles that a program asks for."""
import gzip
import os
import re
import subprocess
import tempfile

import igprof_reader
import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return igprof_reader.Profile(file.read())


class Dumps(tide.TidyCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def dump(self, *names, env=None, options=()):
        """Of so many rounds; what the program says."""
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            run = tide.Recorded([tide.program("igprof_dumps"), *names], options, env=env)
        finally:
            os.chdir(before)
        self.assertEqual(run.status, 0, run.done.stderr)
        self.trace = run.trace
        said = run.own_count()
        self.assertEqual((said["found"], said["children"]), (1, 0))
        self.assertIn(LIBRARY, said["preload"])
        return run

    def check(self, profile, rounds):
        """It holds what was done up to then, and no more."""
        self.assertEqual(profile.program, "igprof_dumps")
        self.assertEqual(profile.of("keeps", "MEM_TOTAL"), (10 * rounds, 10000 * rounds))
        self.assertEqual(profile.of("keeps", "MEM_LIVE"), (10 * rounds, 10000 * rounds))
        self.assertEqual(profile.of("churns", "MEM_TOTAL"), (100 * rounds, 5000 * rounds))
        self.assertEqual(profile.of("churns", "MEM_LIVE"), (0, 0))
        self.assertEqual(profile.of("keeps", "MEM_LIVE_PEAK"), (10 * rounds, 10000 * rounds))
        blocks = [block for node in profile.nodes if "keeps" in node.path
                  for block in node.blocks]
        self.assertEqual((len({address for address, _ in blocks}), {size for _, size in blocks}),
                         (10 * rounds, {1000}))

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_names_commands_and_none(self):
        run = self.dump("EV.1", "deep/er/EV.2", "|gzip -9c>EV.3.gz", "|cat >EV.4", "", "EV.6.gz")
        self.assertEqual(run.done.stderr, "")
        for rounds, name in ((1, "EV.1"), (2, "deep/er/EV.2"), (3, "EV.3.gz"), (4, "EV.4"),
                             (6, "EV.6.gz")):
            self.check(read(self.path(name)), rounds)
        [usual] = [name for name in os.listdir(self.folder) if name.startswith("igprof.")]
        self.assertRegex(usual, r"^igprof\.igprof_dumps\.\d+\.\d+\.\d{6}\.gz$")
        profile = read(self.path(usual))
        self.check(profile, 5)
        self.assertEqual(profile.pid, int(usual.split(".")[2]))

    def test_the_trace_has_the_moments(self):
        """They are snapshots of it as well, and it is whole."""
        self.dump("one", "")
        for name, rounds in (("one", 1), ("igprof_dump_now", 2)):
            rows = tide.report(f"{self.trace}@{name}", "--flat")["rows"]
            [keeps] = [row for row in rows if row["function"] == "keeps"]
            self.assertEqual((keeps["blocks"], keeps["bytes"]),
                             (10 * rounds, 10000 * rounds))
        self.whole(tide.report(self.trace))

    def test_of_one_process_and_with_the_preload_alone(self):
        script = f"{tide.program('count_to')} 100; exec {tide.program('igprof_dumps')} alone"
        env = dict(os.environ, LD_PRELOAD=LIBRARY)
        env.pop("TIDEMARK_SESSION", None)
        done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True,
                              env=env, cwd=self.folder, timeout=60, check=True)
        self.assertEqual(done.stderr, "")
        profile = read(self.path("alone"))
        self.check(profile, 1)
        self.assertEqual(profile.of("main", "MEM_TOTAL"), (110, 15000))

    def test_what_cannot_be_written_is_said_once(self):
        run = self.dump("/proc/nowhere/one", "/proc/nowhere/two", "|exit 3", "three")
        self.assertEqual(run.done.stderr,
                         "tidemark: igprof_dump_now: /proc/nowhere/one: could not be written\n")
        self.check(read(self.path("three")), 4)
        run = self.dump("|exit 3")
        self.assertIn("igprof_dump_now: |exit 3: could not be written", run.done.stderr)

    def test_who_waits_for_a_command_can_end_it(self):
        self.dump("|cat >/dev/null; cat /proc/$$/status >status")
        with open(self.path("status"), encoding="ascii") as file:
            self.assertIn("SigBlk:\t0000000000000000\n", file.read())

    def test_who_may_not_clone_lives(self):
        run = self.dump("one", "-", "two")
        self.assertEqual(run.done.stderr,
                         "tidemark: igprof_dump_now: two: could not be written\n")
        self.check(read(self.path("one")), 1)

    def test_without_a_recording_one_line_says_so(self):
        env = dict(os.environ, LD_PRELOAD=LIBRARY, TIDEMARK_MONITOR="own")
        done = subprocess.run([tide.program("igprof_dumps"), "a", "b"], capture_output=True,
                              text=True, env=env, cwd=self.folder, check=True, timeout=60)
        self.assertEqual(done.stderr, "tidemark: igprof_dump_now: a: not written: this process "
                                      "is not being recorded\n")
        self.assertEqual(os.listdir(self.folder), [])
        plain = subprocess.run([tide.program("igprof_dumps"), "a"], capture_output=True,
                               text=True, cwd=self.folder, check=True, timeout=60)
        self.assertEqual(re.sub(r'"preload.*\n', "", plain.stdout), '{"found": 0, "children": 0, ')


if __name__ == "__main__":
    tide.main()
