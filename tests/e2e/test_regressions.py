"""tests/e2e/test_regressions.py - what once went wrong, each with the program that showed it."""
import collections
import os
import subprocess

import tide

TOY = tide.program("lib_toy_malloc.so")


class Pooled(tide.TidyCase):
    def test_the_size_of_a_block_from_a_pool_is_not_asked_of_malloc(self):
        env = dict(os.environ, LD_PRELOAD=tide.program("lib_pooled_new.so"))
        run = tide.Recorded([tide.program("pooled_new")], env=env)
        self.assertEqual(run.status, 0)
        truth, result = run.own_count(), run.report("--total", "--flat")
        self.whole(result)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual((rows["main"]["calls"], rows["main"]["bytes"]),
                         (truth["calls"], truth["bytes"]))
        summary = result["summary"]
        self.assertEqual(summary["free_calls"], truth["frees"])
        # The C++ library's own pool, from malloc, is 8 bytes larger than was asked for.
        self.assertEqual(summary["peak_usable_bytes"] - summary["peak_bytes"], 8)


class Forks(tide.TidyCase):
    def test_children_of_a_parent_whose_handler_allocates(self):
        run = tide.Recorded([tide.program("fork_storm"), "300"],
                            env=dict(os.environ, LD_PRELOAD=TOY), timeout=120)
        truth, result = run.own_count(), run.report("--total", "--flat")
        self.assertEqual((run.status, truth["bad"]), (0, 0))
        self.whole(result)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual(rows["child_makes"]["calls"], 300 * 20)
        self.assertEqual(rows["make_in_handler"]["calls"], truth["handler_calls"])

    def test_children_forked_by_a_handler_go_on_in_the_interrupted_hook(self):
        run = tide.Recorded([tide.program("fork_goes_on"), "800"], timeout=240)
        self.assertEqual(run.status, 0)
        truth, result = run.own_count(), run.report("--total", "--flat")
        self.assertEqual((truth["forked"], truth["bad"]), (800, 0))
        self.whole(result)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual(rows["child_makes"]["calls"], 800 * 50)
        # Each child finishes at most one call that its parent began.
        self.assertGreaterEqual(rows["main_makes"]["calls"], truth["calls"])
        self.assertLessEqual(rows["main_makes"]["calls"], truth["calls"] + 800)

    def test_forks_after_the_collector_was_killed_do_not_wait_for_it(self):
        command = [tide.TIDEMARK, "run", "-q", "-o", os.path.join(self.runtime, "t.tide"),
                   "--", tide.program("fork_on_demand"), "100"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as run:
            self.assertEqual(run.stdout.readline(), "ready\n")
            run.kill()
            run.wait()
            # 2 s of patience per fork, as once, would be 200 s.
            words, _ = run.communicate("\n", timeout=100)
        self.assertEqual(words, "100 good\n")

    def tearDown(self):
        self.nothing_left(folders="killed" not in self.id())


class Plugins(tide.TidyCase):
    def test_stacks_stay_right_when_libraries_come_and_go(self):
        run = tide.Recorded([tide.program("many_plugins"), tide.PROGRAMS, "5000"])
        self.assertEqual(run.status, 0)
        result = run.report("--total", "--stacks")
        self.whole(result)
        stacks = collections.Counter()
        for row in result["rows"]:
            names = tuple(frame["function"] for frame in row["stack"][:4])
            if names[0].endswith("_plugin_site"):
                stacks[names] += row["calls"]
        self.assertEqual(stacks, {
            ("first_plugin_site", "plugin_make", "visit", "main"): 2500,
            ("second_plugin_site", "plugin_make", "visit", "main"): 2500})


if __name__ == "__main__":
    tide.main()
