"""tests/e2e/test_calls.py - every allocating call counts once, whatever the allocator."""
import glob
import os
import subprocess

import tide
from test_query import rows

# The C++ library takes this for exceptions before main.
EMERGENCY_POOL = 72704


def allocators():
    for pattern in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2*"):
        yield from sorted(glob.glob("/usr/lib/x86_64-linux-gnu/" + pattern))[:1]


class Calls(tide.Case):
    def test_every_call_of_c(self):
        run = tide.Recorded([tide.program("all_calls")])
        truth, result = run.own_count(), run.report()
        self.whole(result)
        summary = result["summary"]
        # asprintf prints into a larger block first, then copies and frees it.
        self.assertEqual(summary["alloc_calls"], truth["alloc_calls"] + 1)
        self.assertEqual(summary["free_calls"], truth["free_calls"] + 1)
        self.assertEqual(summary["realloc_calls"], truth["realloc_calls"])
        self.assertEqual(summary["allocated_bytes"], truth["allocated_bytes"] + 100)
        self.assertEqual(summary["failed_calls"], truth["failed_calls"])
        self.assertEqual(truth["failed_calls"], 6)

    def test_a_delete_amid_another(self):
        """As in a handler that interrupts operator delete before it frees."""
        for options in ((), ("--live-table",), ("--free-stacks",)):
            run = tide.Recorded([tide.program("deletes_amid")], options)
            self.assertEqual(run.status, 0)
            result = run.report("--total")
            self.whole(result)
            self.assertEqual(result["summary"]["free_calls"], 3, options)

    def check_new_delete(self, *words, env=None):
        run = tide.Recorded([tide.program("new_delete"), *words], env=env)
        truth, result = run.own_count(), run.report()
        self.whole(result)
        return truth, result["summary"]

    def test_every_form_of_new_and_delete(self):
        truth, summary = self.check_new_delete()
        self.assertEqual((truth["caught"], truth["second"], truth["reserve"]), (1, 0, 0))
        # Besides the pool: two exception objects, since new(nothrow) catches one itself.
        self.assertEqual(summary["alloc_calls"], truth["alloc_calls"] + 3)
        self.assertEqual(summary["free_calls"], truth["free_calls"] + 2)
        extra = summary["allocated_bytes"] - truth["allocated_bytes"] - EMERGENCY_POOL
        self.assertTrue(0 < extra < 500, extra)
        self.assertEqual(summary["live_bytes"], EMERGENCY_POOL)

    def test_an_aligned_new_counts_what_was_asked_for(self):
        """Not what it is rounded up to inside, nor is an aligned_alloc taken for it."""
        sizes = [100, 4, 1001, 5000, 0, 40000001, 40000064, 128, 8192, 48 << 20]
        for options in ((), ("--live-table",), ("--free-stacks",)):
            with self.subTest(options=options):
                run = tide.Recorded([tide.program("aligned_new")], options)
                self.assertEqual(run.own_count(), [len(sizes) - 1, sum(sizes[:-1]), 1])
                blocks = [row for row in rows(run.trace, "SELECT size, kind FROM blocks")
                          if row[1] != "malloc"] # the C++ library's, for exceptions
                self.assertEqual([size for size, _ in blocks], sizes)
                self.assertEqual([kind for _, kind in blocks[:5]],
                                 ["new", "new[]", "new", "new[]", "new"])

    def test_a_block_counts_once_with_other_allocators(self):
        found = list(allocators())
        self.assertEqual(len(found), 3, found)
        for library in found:
            with self.subTest(library=library):
                env = dict(os.environ, LD_PRELOAD=library)
                truth, summary = self.check_new_delete("no-failures", env=env)
                # tcmalloc's constructor makes an object of 16 bytes with new.
                own = 1 if "tcmalloc" in library else 0
                self.assertEqual(summary["alloc_calls"], truth["alloc_calls"] + 1 + own)
                self.assertEqual(summary["free_calls"], truth["free_calls"])
                self.assertEqual(summary["allocated_bytes"], truth["allocated_bytes"] +
                                 EMERGENCY_POOL + 16 * own)
                self.assertEqual(summary["live_bytes"], EMERGENCY_POOL + 16 * own)

    def test_the_other_allocator_is_really_used(self):
        library = next(allocators())
        env = dict(os.environ, LD_PRELOAD=library, MALLOC_CONF="stats_print:true")
        run = tide.Recorded([tide.program("deep"), "1", "10"], env=env)
        self.assertIn("jemalloc", run.done.stderr)

    def test_output_and_status_are_the_programs_own(self):
        plain = subprocess.run([tide.program("family")], capture_output=True, check=False)
        run = tide.Recorded([tide.program("family")])
        self.assertEqual(run.status, plain.returncode)
        self.assertEqual(run.stdout, plain.stdout.decode())


class Maps(tide.Case):
    def test_maps_count_as_their_own_space(self):
        run = tide.Recorded([tide.program("maps")], ["--spaces", "heap,mmap"])
        truth, result = run.own_count(), run.report("--space", "mmap")
        space = {s["space"]: s for s in result["spaces"]}["mmap"]
        self.assertEqual(space["peak_bytes"], truth["peak"])
        self.assertEqual(space["live_bytes"], truth["live"])
        self.assertEqual(space["shared_peak_bytes"], truth["shared_peak"])
        self.assertEqual(space["reserved_peak_bytes"], truth["reserved_peak"])

    def test_they_can_be_left_out(self):
        run = tide.Recorded([tide.program("maps")], ["--spaces", "heap"])
        spaces = {s["space"]: s for s in run.report()["spaces"]}
        self.assertEqual(spaces.get("mmap", {"alloc_calls": 0})["alloc_calls"], 0)

    def test_so_can_the_heap(self):
        run = tide.Recorded([tide.program("all_calls")], ["--spaces", "mmap"])
        self.assertEqual(run.status, 0)
        summary = run.report()["summary"]
        self.assertEqual((summary["alloc_calls"], summary["free_calls"]), (0, 0))


class Processes(tide.Case):
    def test_fork_and_exec_are_followed_into_one_trace(self):
        run = tide.Recorded([tide.program("family")], ["--wait"])
        self.assertEqual(run.status, 7)
        result = run.report()
        self.whole(result, inherited_frees=4)
        sites = run.sites("--total")
        for name, calls, size in (("parent_makes", 10, 1000), ("child_makes", 5, 200),
                                  ("second_image_makes", 3, 30)):
            self.assertEqual((sites[name]["calls"], sites[name]["bytes"]),
                             (calls, calls * size), name)
        self.assertEqual(result["summary"]["processes"], 3)


    def test_the_status_is_known_after_exec(self):
        run = tide.Recorded(["/bin/sh", "-c", "exec /bin/sh -c 'exit 5'"])
        self.assertEqual(run.status, 5)
        last = tide.info(run.trace)["processes"][-1]
        self.assertEqual((last["main"], last["ending"]), (True, "exited with status 5"))


class Modules(tide.Case):
    def test_libraries_that_used_the_same_addresses_are_told_apart(self):
        self.check_plugins()

    def test_after_as_many_unloads_as_generations_are_told_apart(self):
        """65536 of them: the closing of a plugin makes two."""
        self.check_plugins("65534")

    def check_plugins(self, *arguments):
        run = tide.Recorded([tide.program("plugins"), tide.PROGRAMS, *arguments])
        self.assertEqual(run.own_count()["same_place"], 1)
        stacks = run.report("--leaks", "--stacks", "--function", "plugin_make")["rows"]
        self.assertEqual({"main" in [frame["function"] for frame in row["stack"]]
                          for row in stacks}, {True})
        sites = run.sites("--leaks")
        self.assertEqual((sites["first_plugin_site"]["blocks"],
                          sites["first_plugin_site"]["bytes"]), (10, 3 * 1000 + 7 * 100))
        self.assertEqual((sites["second_plugin_site"]["blocks"],
                          sites["second_plugin_site"]["bytes"]), (5, 5 * 500))


class Marks(tide.Case):
    def test_regions_labels_events_and_snapshots_are_recorded(self):
        run = tide.Recorded([tide.program("marks")])
        self.assertEqual(run.status, 0)
        seen = tide.info(run.trace)["kinds"]
        self.assertEqual(seen["region"], 6)
        self.assertEqual(seen["label"], 1)
        self.assertEqual(seen["event"], 5)
        self.assertEqual(seen["snapshot"], 1)

    def test_without_the_recorder_they_do_nothing(self):
        done = subprocess.run([tide.program("marks")], check=False)
        self.assertEqual(done.returncode, 0)


class Depth(tide.Case):
    def test_deep_stacks_are_cut_at_the_limit_and_counted(self):
        run = tide.Recorded([tide.program("deep"), "1000", "20"], ["--depth", "256"])
        self.assertEqual(run.report("--flat")["honesty"]["truncated_stacks"], 20)
        run = tide.Recorded([tide.program("deep"), "1000", "20"], ["--depth", "1500"])
        self.assertEqual(run.report("--flat")["honesty"]["truncated_stacks"], 0)
        stack = run.report("--total", "--stacks")["rows"][0]["stack"]
        names = [frame["function"] for frame in stack]
        self.assertEqual(names.count("descend"), 1001)

    def test_no_higher_limit_is_advised_than_there_is(self):
        for depth, words in (("2046", "cut at the depth limit (run --depth)"),
                             ("2047", "cut at the depth limit, the highest there is")):
            run = tide.Recorded([tide.program("deep"), "3000", "2"], ["--depth", depth])
            done = subprocess.run([tide.TIDEMARK, "report", run.trace], check=True,
                                  capture_output=True, text=True, timeout=60)
            self.assertIn(f"2 stacks {words}", " ".join(done.stdout.split()))


class Signals(tide.Case):
    def storm(self, *words):
        library = os.path.join(tide.PROGRAMS, "lib_toy_malloc.so")
        env = dict(os.environ, LD_PRELOAD=library)
        run = tide.Recorded([tide.program("signal_storm"), *words], env=env)
        return run.own_count(), run

    def test_allocation_in_handlers_that_interrupt_the_recorder(self):
        truth, run = self.storm("400000")
        result = run.report()
        self.whole(result)
        sites = run.sites("--total")
        self.assertGreater(truth["handler_calls"], 100)
        self.assertEqual(sites["make_in_main"]["calls"], truth["main_calls"])
        self.assertEqual(sites["make_in_handler"]["calls"], truth["handler_calls"])
        self.assertEqual(result["honesty"].get("replaced_blocks", 0), 0)

    def test_handlers_that_leave_by_longjmp(self):
        truth, run = self.storm("200000", "jump")
        result = run.report()
        self.assertGreater(truth["jumps"], 10)
        self.assertLessEqual(result["honesty"]["unmatched_frees"], truth["jumps"])
        sites = run.sites("--total")
        # A jump may leave the one event it interrupted unrecorded or uncounted.
        self.assertAlmostEqual(sites["make_in_main"]["calls"], truth["main_calls"],
                               delta=truth["jumps"])
        self.assertAlmostEqual(sites["make_in_handler"]["calls"], truth["handler_calls"],
                               delta=truth["jumps"])


if __name__ == "__main__":
    tide.main()
