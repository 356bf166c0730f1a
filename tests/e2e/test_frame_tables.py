"""tests/e2e/test_frame_tables.py - rows of stacks from large tables: right, and without their pages."""
import os
import shutil
import tempfile

import tide
import truth

FUNCTIONS = 32768
TABLES_KIB = 5 * 1024
KEPT_KIB = 2048 + 128  # docs/performance.md, Memory; a row may touch two more
WAY = ["inside", "many_frames", "main"]


class FrameTables(truth.Case):
    def added(self, run):
        """KiB of the library that are in memory because of the recorder."""
        return int(run.stdout) - int(run.plain.stdout)

    def stacks(self, run, step):
        """The names in the stacks below the functions, each of which must be there."""
        rows = run.report("--total", "--stacks")["rows"]
        names = [[frame["function"] for frame in row["stack"]] for row in rows]
        found = [stack for stack in names if stack[0] == "inside"]
        self.assertEqual(len(found), FUNCTIONS // step)
        return found

    def all_known(self, run, step):
        for stack in self.stacks(run, step):
            self.assertEqual(stack[:3], WAY)

    def test_pages_of_large_tables_do_not_stay(self):
        run = self.both([tide.program("many_frames"), "1"], same_output=False)
        self.all_known(run, 1)
        self.assertLess(self.added(run), KEPT_KIB)

    def test_they_are_read_where_they_are_when_address_space_is_short(self):
        argv = ["prlimit", f"--as={1 << 32}", "--", tide.program("many_frames"), "4"]
        if not shutil.which(argv[0]):
            self.skipTest("no prlimit")
        run = self.both(argv, same_output=False)
        self.all_known(run, 4)
        self.assertGreater(self.added(run), TABLES_KIB // 2)

    def test_a_sandbox_is_not_asked_for_anything(self):
        run = self.both([tide.program("many_frames"), "4", "closed"], same_output=False)
        self.all_known(run, 4)
        self.assertGreater(self.added(run), KEPT_KIB)

    def replaced(self, folder, replacement):
        """The environment in which REPLACEMENT takes the library's place at start."""
        library = os.path.join(folder, "lib_many_frames.so")
        shutil.copy(tide.program("lib_many_frames.so"), library)
        other = shutil.copy(replacement, os.path.join(folder, "other.so"))
        return dict(truth.preloaded("lib_replaces.so"), LD_LIBRARY_PATH=folder,
                    REPLACED=library, REPLACEMENT=other)

    def test_a_file_that_has_taken_the_place_is_not_believed(self):
        for name in "lib_other_frames.so", "lib_replaces.so":
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                env = self.replaced(folder, tide.program(name))
                run = tide.Recorded([tide.program("many_frames"), "4"], env=env)
                self.assertEqual(run.status, 0, run.done.stderr)
                self.assertFalse(os.path.exists(env["REPLACEMENT"]))
                # Names are another matter: they are looked for in the file that is there.
                for stack in self.stacks(run, 4):
                    self.assertEqual(stack[2], "main")


if __name__ == "__main__":
    tide.main()
