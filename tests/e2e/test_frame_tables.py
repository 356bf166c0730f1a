"""tests/e2e/test_frame_tables.py - rows of stacks from large tables: right, and without their pages."""
import os
import shutil
import struct
import tempfile

import tide
import truth

FUNCTIONS = 32768
TABLES_KIB = 5 * 1024
KEPT_KIB = 2048 + 128  # docs/performance.md, Memory; a row may touch two more
WAY = ["inside", "many_frames", "call_many_frames", "main"]


def move_notes(library, to, address):
    """Copy LIBRARY, with notes (PT_NOTE) that claim to be at ADDRESS."""
    with open(library, "rb") as file:
        data = bytearray(file.read())
    first, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    for at in range(first, first + 56 * count, 56):
        if struct.unpack_from("<I", data, at)[0] == 4:
            struct.pack_into("<Q", data, at + 16, address)
    with open(to, "wb") as file:
        file.write(data)


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
            self.assertEqual(stack[:4], WAY)

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

    def test_nor_is_one_that_it_was_started_in(self):
        run = self.both([tide.program("many_frames"), "4", "started"], same_output=False)
        self.all_known(run, 4)
        self.assertLess(self.added(run), KEPT_KIB)

    def test_what_is_locked_does_not_stay_either(self):
        env = truth.preloaded("lib_locks.so")
        run = self.both([tide.program("many_frames"), "1"], same_output=False, env=env)
        self.all_known(run, 1)
        self.assertLess(self.added(run), KEPT_KIB)

    def test_a_library_in_the_place_of_a_closed_one_has_its_own_tables(self):
        env = dict(os.environ, EARLY=tide.program("lib_many_frames.so"))
        run = tide.Recorded([tide.program("other_frames"),
                             tide.program("lib_other_frames.so"), "8"], env=env)
        self.assertEqual(run.status, 0, run.done.stderr)
        if run.stdout != "same place\n":
            self.skipTest("the kernel has put it elsewhere")
        self.all_known(run, 8)

    def test_notes_that_are_not_loaded_are_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            move_notes(tide.program("lib_many_frames.so"),
                       os.path.join(folder, "lib_many_frames.so"), 0x7ff00000)
            run = tide.Recorded([tide.program("many_frames"), "64"],
                                env=dict(os.environ, LD_LIBRARY_PATH=folder))
        self.assertEqual(run.status, 0, run.done.stderr)

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
                    self.assertEqual(stack[2:4], WAY[2:])


if __name__ == "__main__":
    tide.main()
