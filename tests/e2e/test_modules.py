"""tests/e2e/test_modules.py - libraries that come and go, with TLS, bound deeply, chosen early."""
import os
import shutil
import tempfile

import tide
import truth

MOST_LIBRARIES = 60


class ComeAndGo(truth.Case):
    def argv(self, *words):
        return [tide.program("opens_libraries"), tide.PROGRAMS, *words]

    def test_two_libraries_in_turn_at_the_same_place(self):
        run = self.both(self.argv("alternate", "200"))
        self.agrees(run)
        self.assertEqual(run.stdout.splitlines()[0], "same place 200")

    def test_while_other_threads_allocate(self):
        for _ in range(20):
            run = self.both(self.argv("threads", "40"), same_output=False)
            self.agrees(run)

    def test_where_one_has_gone_before_dlclose_returns(self):
        run = self.both(self.argv("meanwhile", "50"), env=truth.preloaded("lib_slow_close.so"))
        self.agrees(run)
        self.assertEqual(run.stdout.splitlines()[0], "same place 50")

    def test_with_thread_local_data(self):
        self.agrees(self.both(self.argv("tls", "20")))

    def test_a_constructor_that_waits_for_a_thread(self):
        run = self.both([tide.program("opens"), "1", tide.program("lib_starts_thread.so")])
        self.assertEqual((run.status, run.stdout), (0, "opened 0\n"))

    def test_libgomp_goes_with_the_library_that_brought_it(self):
        run = self.both([tide.program("opens"), "3", tide.program("lib_section.so")])
        self.assertEqual((run.status, run.stdout), (0, "opened 1\n" * 3))

    def test_a_library_bound_deeply_is_not_harmed_and_said(self):
        run = self.both(self.argv("deepbind"))
        self.assertEqual((run.status, run.stdout), (0, "right 1000\n"))
        [trouble] = run.report()["honesty"]["troubles"]
        self.assertIn("lib_deepbind.so was loaded so that its calls go to libc", trouble)

    def test_the_callers_search_path_is_used(self):
        run = self.both(self.argv("name"))
        self.assertEqual((run.status, run.stdout), (0, "found\n"))

    def test_as_many_libraries_fit_into_the_static_tls_block(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for number in range(MOST_LIBRARIES):
                paths.append(os.path.join(folder, f"wide{number}.so"))
                shutil.copy(os.path.join(tide.PROGRAMS, "lib_wide_tls.so"), paths[-1])
            run = self.both(self.argv("wide", *paths))
        fit = int(run.stdout.split()[0])
        self.assertTrue(1 < fit < MOST_LIBRARIES, run.stdout)


class Early(truth.Case):
    def test_a_library_that_allocates_while_it_is_relocated(self):
        library = os.path.join(tide.PROGRAMS, "lib_ifunc.so")
        for argv, env in (([tide.program("calls_ifunc"), library], None),
                          ([tide.program("calls_ifunc")], truth.preloaded("lib_ifunc.so"))):
            with self.subTest(env=env and "preloaded"):
                run = self.both(argv, env=env)
                self.assertEqual((run.status, run.stdout), (0, "chosen 1, made 3\n"))
                self.whole(run.report("--total"))

    def test_a_block_of_before_is_deleted(self):
        run = self.both([tide.program("deletes_early")])
        self.assertEqual((run.status, run.stdout), (0, "deleted\n"))
        result = run.report("--total", "--flat")
        self.whole(result)
        rows = {row["function"]: row for row in result["rows"]}
        self.assertEqual((rows["choose_early"]["calls"], rows["choose_early"]["bytes"]),
                         (1, 100))
        self.assertEqual(result["summary"]["free_calls"], 1)
        without_heap = tide.Recorded([tide.program("deletes_early")], ["--spaces", "mmap"])
        result = without_heap.report()
        self.whole(result)
        self.assertEqual(result["summary"]["free_calls"], 0)


class Deep(truth.Case):
    def test_a_million_frames_are_cut_and_it_is_said(self):
        argv = ["/bin/sh", "-c", 'ulimit -s 262144 && exec "$@"', "sh",
                tide.program("deep"), "1000000", "20"]
        run = self.both(argv, ["--depth", "100"], timeout=200)
        honesty = run.report("--flat")["honesty"]
        self.assertEqual(honesty["truncated_stacks"], 20)

    def test_hundreds_of_frames_that_realign_their_stack(self):
        """Such a frame takes the most words to tell: all of them have to fit."""
        for depth in (300, 400, 500):
            with self.subTest(depth):
                run = tide.Recorded([tide.program("realigned"), str(depth)],
                                    ["--depth", "1000"])
                rows = run.report("--total", "--stacks")["rows"]
                names = [[frame["function"] for frame in row["stack"]] for row in rows]
                found = [stack[:stack.index("main")] for stack in names
                         if "main" in stack and stack[0] == "go_down"]
                self.assertEqual(found, [["go_down"] * (depth + 1)])


if __name__ == "__main__":
    tide.main()
