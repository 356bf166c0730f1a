"""tests/e2e/test_in_turn.py - what comes after the end of a child or of a thread is not before it."""
import json
import os
import subprocess
import unittest

import tide
import truth

LARGE, KEPT, SMALL, BEHIND = 1_000_000, 5000, 500, 70_000  # as tests/programs/in_turn.c has them


def query(trace, text):
    done = subprocess.run([tide.TIDEMARK, "query", "--json", trace, text],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["rows"]


APART = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]


def can_be_apart():
    return subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0


class InTurn(truth.Case):
    def summary(self, how, count=12):
        run = self.both([tide.program("in_turn"), how, str(count)])
        self.assertEqual(run.status, 0)
        result = run.report()
        self.whole(result)
        self.trace = run.trace
        return result["summary"]

    def test_children_never_hold_together_what_they_held_in_turn(self):
        for how in ("exit", "_exit", "_Exit", "killed"):
            for _ in range(5):
                with self.subTest(how):
                    summary = self.summary(how)
                    self.assertEqual(summary["peak_bytes"], LARGE + KEPT)
                    self.assertEqual(summary["peak_uncertainty_bytes"], 0)

    def test_each_process_has_a_peak_of_its_own(self):
        count = 12
        run = tide.Recorded([tide.program("in_turn"), "exit", str(count)])
        peaks = run.report("--processes")["process_peaks"]
        found = sorted((row["peak_bytes"], row["last_bytes"]) for row in peaks)
        self.assertEqual(found, [(KEPT + SMALL, 0)] + [(LARGE, LARGE)] * count)
        self.assertEqual(len({row["pid"] for row in peaks}), count + 1)
        times = [row["peak_time_s"] for row in peaks[:count]]
        self.assertEqual(times, sorted(times))
        self.assertEqual(run.report("--processes", "-n", "3")["process_peaks"], peaks[:3])
        done = subprocess.run([tide.TIDEMARK, "report", "--processes", "--bytes", "--peak",
                               "--total", run.trace], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.count("Each process by itself"), 1)
        self.assertEqual(done.stdout.split("by itself")[1].count(f" {LARGE:,} B "), 2 * count)

    def test_the_thread_that_goes_on_in_a_child_is_known(self):
        run = tide.Recorded([tide.program("in_turn"), "exit", "3"])
        pids = {row["pid"] for row in run.report("--processes")["process_peaks"]}
        rows = run.report("--threads", "--total")["rows"]
        self.assertEqual({(row["thread"], row["tid"]) for row in rows},
                         {("in_turn", pid) for pid in pids})

    def test_what_ended_before_stands_in_no_snapshot(self):
        alters = tide.program("alters")
        run = tide.Recorded(["sh", "-c", f"{alters} a10x10000; {alters} a5x9000 s1 p9x8000"])
        summary, then = run.report()["summary"], tide.report(f"{run.trace}@m1", "--leaks")
        found = {row[0]: tuple(row[1:]) for row in
                 query(run.trace, "SELECT snapshot,count(),sum(size) FROM snapshots "
                                  "WHERE space=heap GROUP BY snapshot")}
        self.assertEqual(found, {
            "m1": (then["total_calls"], then["total_bytes"]),
            "peak": (summary["peak_blocks"], summary["peak_bytes"]),
            "end of run": (summary["live_blocks"], summary["live_bytes"])})
        [[peak]] = query(run.trace, "SELECT max(mem.peak) FROM timeline")
        self.assertEqual(peak, summary["peak_bytes"])

    def test_who_takes_his_time_to_end_holds_what_he_held(self):
        peak = self.summary("lingers")["peak_bytes"]
        self.assertGreaterEqual(peak, 2 * LARGE + KEPT)
        self.assertLess(peak, 2 * LARGE + KEPT + 1000)

    @unittest.skipUnless(can_be_apart(), "needs user and pid namespaces")
    def test_equal_pids_of_two_namespaces(self):
        apart = " ".join([*APART, tide.program("in_turn")])
        run = tide.Recorded(["sh", "-c", f"{apart} twice 1 & sleep 0.4; {apart} once 1; wait"])
        self.assertEqual(run.status, 0)
        ends = {}
        for row in tide.info(run.trace)["processes"]:
            if row["argv"][0] == tide.program("in_turn"):
                self.assertEqual(row["pid"], 1)
                ends[row["argv"][1]] = row["end_s"]
        self.assertGreater(ends["twice"], ends["once"])
        result = run.report()
        self.whole(result)
        self.assertGreaterEqual(result["summary"]["allocated_bytes"], 3 * LARGE)

    def test_who_stands_behind_the_hooks_hears_the_same_calls(self):
        env = dict(os.environ, LD_PRELOAD=tide.program("lib_hears_ends.so"))
        for how in ("_exit", "_Exit"):
            argv = [tide.program("in_turn"), how, "5"]
            alone = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
            self.assertEqual(sorted(set(alone.stdout.split())),
                             sorted([how, "wait", "wait3", "waitpid"]))
            lines = tide.Recorded(argv, env=env).stdout.split()
            self.assertEqual(sorted(lines), sorted(alone.stdout.split()))

    def test_a_library_may_use_the_words_wait_and_system_for_something_else(self):
        argv = [tide.program("other_words")]
        alone = subprocess.run(argv, capture_output=True, text=True, check=True)
        run = tide.Recorded(argv)
        self.assertEqual((run.status, run.stdout), (0, alone.stdout))

    def test_commands(self):
        for _ in range(3):
            self.assertLess(self.summary("commands")["peak_bytes"], LARGE + 100_000)

    def test_what_was_freed_before_a_command(self):
        for how in ("command", "popen", "spawn", "spawnp"):
            for _ in range(3):
                with self.subTest(how):
                    summary = self.summary(how)
                    self.assertLess(summary["peak_bytes"], LARGE + 20_000)
                    self.assertLess(summary["peak_uncertainty_bytes"], 20_000)

    def test_a_program_has_left_what_it_was_before_exec(self):
        for _ in range(5):
            self.assertEqual(self.summary("exec")["peak_bytes"], LARGE)

    def test_what_a_joined_thread_did_is_in_no_region_behind(self):
        count = 20
        for _ in range(5):
            self.assertLess(self.summary("threads", count)["peak_bytes"],
                            LARGE + KEPT + 10_000)
            visits = query(self.trace, "SELECT mem.active,alloc.region.highwatermark,allocs,"
                                       "allocated,growth FROM regions")
            self.assertEqual(len(visits), count)
            for begin, high, calls, bytes_, growth in visits:
                self.assertLess(begin, KEPT + 10_000)
                self.assertEqual(high, begin + BEHIND)
                self.assertEqual((calls, bytes_, growth), (1, BEHIND, 0))


if __name__ == "__main__":
    tide.main()
