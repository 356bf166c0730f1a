"""tests/e2e/test_traps.py - programs that end, hide, fork and jump: nothing harmed, nothing lost."""
import os
import struct
import subprocess
import tempfile

import tide

ENDINGS = ("return", "exit", "_exit", "quick_exit", "abort", "segv", "term", "kill", "fpe",
           "bus", "pipe", "exit_group", "null", "exec", "handler", "atexit", "thread",
           "pthread_exit")
HOMES = ("nothing", "close", "cover", "chroot", "setuid", "seccomp", "nofile", "fsize")


class Endings(tide.TidyCase):
    def counts(self, folder):
        with open(os.path.join(folder, "counts"), "rb") as file:
            return struct.unpack("<2Q", file.read(16))

    def test_every_ending_keeps_every_event_and_the_status(self):
        for how in ENDINGS:
            with self.subTest(how=how), tempfile.TemporaryDirectory() as folder:
                env = dict(os.environ, COUNTS=os.path.join(folder, "counts"))
                argv = [tide.program("endings"), how]
                plain = subprocess.run(argv, env=env, check=False, timeout=30)
                os.unlink(env["COUNTS"])
                run = tide.Recorded(argv, env=env, folder=folder, timeout=30)
                self.assertEqual(run.status, plain.returncode)
                made, freed = self.counts(folder)
                result = run.report("--total", "--flat")
                self.whole(result)
                rows = {row["function"]: row for row in result["rows"]}
                self.assertEqual(rows["make"]["calls"], made)
                self.assertGreaterEqual(made, 1000)
                self.assertGreaterEqual(result["summary"]["free_calls"], freed)


class Homes(tide.TidyCase):
    def test_no_surroundings_harm_program_or_trace(self):
        for how in HOMES:
            with self.subTest(how=how):
                argv = [tide.program("hostile_home"), how]
                plain = subprocess.run(argv, capture_output=True, check=False, timeout=60)
                run = tide.Recorded(argv, timeout=60)
                self.assertEqual((run.status, run.stdout),
                                 (plain.returncode, plain.stdout.decode()))
                self.assertEqual(plain.returncode, 7)
                result = run.report("--total", "--flat")
                self.whole(result)
                rows = {row["function"]: row for row in result["rows"]}
                self.assertEqual(rows["make"]["calls"], 5 * 20100)


class Stacks(tide.TidyCase):
    def test_odd_stacks_are_walked_or_ended_cleanly(self):
        for engine in ("cfi", "fp"):
            with self.subTest(engine=engine):
                run = tide.Recorded([tide.program("odd_stacks")], ["--unwind", engine])
                self.assertEqual((run.status, run.stdout), (0, "done\n"))
                self.whole(run.report("--flat"))
                sites = run.sites("--total")
                for name in ("make_in_coroutine", "make_on_alternate_stack",
                             "make_after_longjmp", "make_in_small_thread",
                             "make_in_destructor"):
                    self.assertEqual(sites[name]["calls"], 200, name)

    def test_a_handler_on_an_alternate_stack_shows_whom_it_interrupted(self):
        run = tide.Recorded([tide.program("odd_stacks")])
        rows = run.report("--total", "--stacks")["rows"]
        [names] = [[f["function"] for f in row["stack"]] for row in rows
                   if row["stack"][0]["function"] == "make_on_alternate_stack"]
        self.assertIn("handler", names)
        self.assertIn("main", names)

    def with_stack(self, limit, *argv):
        """ARGV with a main stack of so many KiB at most."""
        if subprocess.run(["sh", "-c", f"ulimit -s {limit}"], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0:
            self.skipTest(f"no stack of {limit} KiB is allowed here")
        return ["sh", "-c", f'ulimit -s {limit} && exec "$@"', "sh", *argv]

    def ends_early(self, run, *options):
        """Where stacks end that should not, and how many do, as the report has it."""
        honesty = run.report(*options)["honesty"]
        found = {os.path.basename(end["module"] or ""): end["calls"]
                 for end in honesty["unfinished_in"]}
        self.assertEqual(honesty["unfinished_stacks"], sum(found.values()))
        return found

    def test_stacks_that_end_in_code_without_tables_are_counted(self):
        run = tide.Recorded([tide.program("no_tables")])
        self.assertEqual((run.status, run.stdout), (0, "done\n"))
        self.assertEqual(self.ends_early(run), {"no_tables": 200, "": 350})
        self.assertEqual(self.ends_early(run, "--size", "101..", "--leaks"),
                         {"no_tables": 200, "": 350})
        at = ["--time", "events", "--live-at"]
        events = run.report()["honesty"]["events"]
        for before, expected in ((50, {"no_tables": 200, "": 300}), (350, {"no_tables": 200}),
                                 (351, {"no_tables": 199}), (550, {})):
            self.assertEqual(self.ends_early(run, *at, str(events - before)), expected)
        text = subprocess.run([tide.TIDEMARK, "report", "-v", run.trace], capture_output=True,
                              check=True, text=True, env=dict(os.environ, COLUMNS="400"))
        self.assertIn("  550 stacks that end in [unknown], ", text.stdout)
        self.assertIn("Here: code made at run time, no_tables. If that code", text.stdout)

    def test_frame_pointers_lead_on_where_there_are_no_tables(self):
        run = tide.Recorded([tide.program("no_tables")], ["--unwind", "fp"])
        self.assertEqual(self.ends_early(run), {})
        rows = [[frame["function"] for frame in row["stack"]]
                for row in run.report("--total", "--stacks")["rows"] if row["calls"] == 200]
        self.assertEqual(rows, [["make", "assembled", "repeat", "main"]])

    def test_stacks_of_constructors_end_in_the_loader_by_right(self):
        run = tide.Recorded([tide.program("early")])
        rows = run.report("--total", "--stacks")["rows"]
        self.assertTrue([row for row in rows if row["calls"] > 1000 and
                         row["stack"][-1]["function"] == "[unknown]"], rows)
        self.assertEqual(self.ends_early(run), {})

    def hundreds(self, argv):
        run = tide.Recorded(argv)
        self.assertEqual((run.status, run.stdout), (0, "done\n"))
        rows = run.report("--total", "--stacks")["rows"]
        return sorted([frame["function"] for frame in row["stack"]] for row in rows
                      if row["calls"] == 100)

    def test_frames_of_hundreds_of_megabytes_are_gone_over(self):
        huge = tide.program("huge_frames")
        ways = [["make", "go_plainly", "go"], ["make", "go_saving", "go"]]
        self.assertEqual(self.hundreds([huge]), ways)
        for limit in "400000", "unlimited":
            with self.subTest(limit=limit):
                self.assertEqual(self.hundreds(self.with_stack(limit, huge, "main")),
                                 [way + ["main"] for way in ways])
                self.assertEqual(self.hundreds(self.with_stack(limit, huge)), ways)

    def test_what_is_larger_than_a_row_can_tell_ends_a_stack(self):
        self.assertEqual(
            self.hundreds(self.with_stack("unlimited", tide.program("huge_frames"), "most")),
            [["make", "go_most", "[unknown]"]])

    def test_a_child_that_was_forked_in_a_thread_is_on_its_stack(self):
        for engine in "cfi", "fp":
            with self.subTest(engine=engine):
                run = tide.Recorded([tide.program("fork_in_thread")], ["--unwind", engine])
                self.assertEqual((run.status, run.stdout), (0, "done\n"))
                rows = run.report("--total", "--stacks")["rows"]
                found = [[frame["function"] for frame in row["stack"]] for row in rows]
                self.assertEqual([names for names in found if names[0] == "make"],
                                 [["make", "fork_here", "work"]])

    def test_coroutines_below_the_small_stack_of_a_thread(self):
        for name in "small_coroutines", "early_coroutines":
            with self.subTest(name=name):
                run = tide.Recorded([tide.program(name)])
                self.assertEqual((run.status, run.stdout), (0, "same place\n"))
                self.assertEqual(run.sites("--total")["make"]["calls"], 21)

    def test_coroutines_near_the_main_stack(self):
        near = tide.program("near_coroutines")
        for limit, below in ("8192", "32"), ("unlimited", "2000"):
            with self.subTest(limit=limit):
                run = tide.Recorded(self.with_stack(limit, near, below))
                self.assertEqual((run.status, run.stdout), (0, "same place\n"))
                self.assertEqual(run.sites("--total")["make"]["calls"], 21)

    def test_a_coroutine_may_have_large_frames(self):
        self.assertEqual([way[:3] for way in self.hundreds([tide.program("far_coroutine")])],
                         [["make", "make_far_in", "coroutine"]])

    def test_no_table_leads_beyond_a_stack_that_the_program_made(self):
        run = tide.Recorded([tide.program("borrowed_stack")])
        self.assertEqual((run.status, run.stdout), (0, "done\n"))
        way = ["make"] + ["deeper"] * 21 + ["work", "call_on"]
        rows = [row for row in run.report("--total", "--stacks")["rows"]
                if row["stack"][0]["function"] == "make"]
        self.assertEqual(sum(row["calls"] for row in rows), 300)
        for row in rows:
            names = [frame["function"] for frame in row["stack"]]
            self.assertEqual(names[:len(way)], way)

    def test_nor_in_a_sandbox_where_nobody_can_be_asked(self):
        run = tide.Recorded([tide.program("borrowed_stack"), "sandbox"])
        self.assertEqual((run.status, run.stdout), (0, "done\n"))
        self.assertEqual(run.sites("--total")["make"]["calls"], 300)

    def test_what_lies_beyond_such_a_stack_may_go(self):
        for how in ("thread", "free", "realloc", "libm.so.6"):
            with self.subTest(how=how):
                run = tide.Recorded([tide.program("going_neighbours"), how])
                self.assertEqual((run.status, run.stdout), (0, "done\n"))
                self.assertEqual(run.sites("--total")["make"]["calls"], 200)

    def test_a_handler_may_allocate_where_the_stack_pointer_is_broken(self):
        for engine in ("cfi", "fp", "libunwind"):
            with self.subTest(engine=engine):
                run = tide.Recorded([tide.program("broken_pointer")], ["--unwind", engine])
                self.assertEqual((run.status, run.stdout), (7, "handled\n"))
                self.assertEqual(run.sites("--total")["handle"]["calls"], 1)


class ThreadStart(tide.TidyCase):
    def test_a_first_allocation_inside_pthread_does_not_hang(self):
        run = tide.Recorded([tide.program("asks_for_its_stack")], timeout=20)
        self.assertEqual((run.status, run.stdout), (0, "done\n"))
        self.whole(run.report("--flat"))


class Children(tide.TidyCase):
    def test_children_of_every_kind(self):
        run = tide.Recorded([tide.program("many_children"), "30"], ["--wait"], timeout=120)
        self.assertEqual((run.status, run.stdout), (0, "0 bad\n"))
        result = run.report("--total", "--flat")
        self.whole(result)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual(rows["child_makes"]["calls"], 90)


if __name__ == "__main__":
    tide.main()
