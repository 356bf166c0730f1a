"""tests/e2e/test_unwind.py - every stack of many programs is what libunwind says it is."""
import tempfile

import tide
import witness


class Unwind(witness.Case):
    def test_our_walk(self):
        with tempfile.TemporaryDirectory(prefix="tide-witness-") as folder:
            self.all_of(witness.small(folder))

    def test_the_engine_that_lets_libunwind_walk(self):
        for name, words, least in (("ground_truth", (), 50000), ("new_delete", (), 10),
                                   ("odd_frames", ("1000", "12"), 1000)):
            with self.subTest(name):
                program = witness.Program([tide.program(name), *words], least)
                self.same_stacks(program, ["--unwind", "libunwind"], alone=10)

    def test_code_that_was_unloaded_is_forgotten_by_either_engine(self):
        """Without the witness: both would flush the one libunwind of the process."""
        argv = [tide.program("many_plugins"), tide.PROGRAMS, "50"]
        for engine in ("cfi", "libunwind"):
            with self.subTest(engine):
                run = tide.Recorded(argv, ["--unwind", engine])
                rows = run.report("--total", "--stacks")["rows"]
                names = [([frame["function"] for frame in row["stack"]], row["calls"])
                         for row in rows]
                found = {stack[0]: (stack[1:4], calls) for stack, calls in names
                         if stack[0].endswith("_plugin_site")}
                way = ["plugin_make", "visit", "main"]
                self.assertEqual(found, {"first_plugin_site": (way, 25),
                                         "second_plugin_site": (way, 25)})

    def test_wrong_stacks_are_noticed(self):
        """Frame pointers lead astray in a program that has none."""
        program = witness.Program([tide.program("odd_frames"), "300", "12"], 300)
        found = witness.compare(program, ["--unwind", "fp"])
        self.assertEqual(found["unpaired"], 1)
        self.assertGreater(found["differing"], found["calls"] // 2)

    def test_missing_frames_are_noticed(self):
        program = witness.Program([tide.program("ground_truth")], 50000)
        found = witness.compare(program, ["--depth", "3"])
        self.assertEqual(found["differing"], found["calls"])


if __name__ == "__main__":
    tide.main()
