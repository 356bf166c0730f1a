"""tests/e2e/test_oddities.py - arguments, sizes and frees that nobody expects.

What the program sees is what it sees without us, to the byte; what it did is counted.
"""
import json
import os
import subprocess
import tempfile

import tide

COUNTED = ("alloc_calls", "allocated_bytes", "free_calls", "realloc_calls", "failed_calls")


class Oddities(tide.TidyCase):
    def both(self, name, *words, options=(), env=None):
        """The recorded run, after a look that the plain one says the same."""
        argv = [tide.program(name), *words]
        plain = subprocess.run(argv, capture_output=True, text=True, env=env, timeout=60,
                               check=False)
        run = tide.Recorded(argv, options, env=env)
        self.assertEqual((run.status, run.stdout, run.done.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))
        return run

    def counts(self, result, names=COUNTED):
        return {name: result["summary"][name] for name in names}

    def tallied(self, name):
        """What another preloaded library counts."""
        library = os.path.join(tide.PROGRAMS, "lib_tally.so")
        with tempfile.NamedTemporaryFile("r") as file:
            env = dict(os.environ, LD_PRELOAD=library, TALLY_FILE=file.name)
            subprocess.run([tide.program(name)], env=env, stdout=subprocess.DEVNULL,
                           timeout=60, check=True)
            return json.load(file)

    # --- The heap

    def test_bad_arguments(self):
        run = self.both("odd_arguments")
        truth = json.loads(run.stdout.splitlines()[-1])
        self.assertNotIn("CHANGED", run.stdout)
        result = run.report()
        self.whole(result)
        self.assertEqual(self.counts(result), truth)
        self.assertGreater(truth["failed_calls"], 100)
        self.assertEqual(result["summary"]["live_blocks"], 0)

    def test_what_the_allocator_says_of_itself(self):
        for environment in ({}, {"MALLOC_PERTURB_": "77"}, {"MALLOC_ARENA_MAX": "1"},
                            {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}):
            with self.subTest(environment=environment):
                run = self.both("odd_numbers", env=dict(os.environ, **environment))
                self.assertIn("uordblks", run.stdout)
                self.whole(run.report())

    def test_blocks_above_4_gib(self):
        run = self.both("odd_huge")
        result = run.report()
        self.whole(result)
        self.assertEqual(self.counts(result), json.loads(run.stdout))
        self.assertGreater(result["summary"]["allocated_bytes"], 23 << 30)
        space = {s["space"]: s for s in result["spaces"]}["mmap"]
        self.assertEqual((space["live_bytes"], space["reserved_peak_bytes"]),
                         (6 << 30, 8 << 30))

    def test_frees_that_abort(self):
        for how, frees, unmatched in (("twice", 2, 1), ("large", 2, 1), ("stack", 1, 1),
                                      ("static", 1, 1), ("inside", 1, 1),
                                      ("realloc", 0, 0)):
            with self.subTest(how=how):
                run = self.both("odd_frees", how)
                self.assertEqual(run.status, -6)
                result = run.report()
                self.whole(result, unmatched_frees=unmatched)
                self.assertEqual(self.counts(result, ("alloc_calls", "allocated_bytes",
                                                      "free_calls")),
                                 {"alloc_calls": 1001, "allocated_bytes": 503000,
                                  "free_calls": frees})

    def test_what_libc_makes_for_its_callers(self):
        truth = self.tallied("odd_inside")
        result = self.both("odd_inside").report()
        self.whole(result)
        self.assertEqual(self.counts(result, truth), truth)
        self.assertGreater(truth["alloc_calls"], 30)

    def test_new_and_free_mixed(self):
        truth = self.tallied("odd_mismatch")
        run = self.both("odd_mismatch")
        result = run.report()
        self.whole(result)
        self.assertEqual(self.counts(result, truth), truth)
        sites = run.sites("--total")
        self.assertEqual((sites["made_by_new"]["calls"], sites["made_in_c"]["calls"]),
                         (1500, 500))

    def test_a_free_by_its_old_name(self):
        summary = self.both("old_names").report()["summary"]
        self.assertEqual({key: summary[key] for key in
                          ("alloc_calls", "free_calls", "live_blocks", "peak_bytes")},
                         {"alloc_calls": 300, "free_calls": 300, "live_blocks": 0,
                          "peak_bytes": 100})

    def test_a_program_with_its_own_malloc_is_unharmed(self):
        run = self.both("own_malloc")
        self.assertEqual((run.status, run.stdout), (7, "mine 1002 1000 1\n"))
        result = run.report()
        self.assertEqual(result["summary"]["alloc_calls"], 0)
        self.assertIn("defines malloc itself", " ".join(result["honesty"]["troubles"]))

    # --- Maps

    def test_maps_against_the_kernels_list(self):
        run = self.both("odd_maps")
        truth = run.own_count()
        self.assertEqual(truth["seen"], 5)
        # The forked child unmapped its copy: the parent's counts all the same.
        result = run.report("--space", "mmap")
        space = {s["space"]: s for s in result["spaces"]}["mmap"]
        self.assertEqual(space["live_bytes"], truth["private"])
        self.assertEqual(space["shared_peak_bytes"], truth["shared"])
        self.assertEqual(space["reserved_peak_bytes"], truth["reserved"])
        self.assertEqual(result["honesty"]["dropped"], 0)


if __name__ == "__main__":
    tide.main()
