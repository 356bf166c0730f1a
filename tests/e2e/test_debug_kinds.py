"""tests/e2e/test_debug_kinds.py - names of programs whose debug information lies elsewhere."""
import os
import shutil
import subprocess
import tempfile
import unittest

import tide

SOURCE = """#include <stdlib.h>
static void *kept[8];
static void *load(int n)
{
    return malloc((size_t)n + 1);
}
int exported(void)
{
    kept[7] = malloc(77);
    return kept[7] != NULL;
}
int main(void)
{
    for (int i = 0; i < 7; i++)
        kept[i] = load(i);
    return !exported();
}
"""


def do(*words, folder):
    subprocess.run(words, check=True, timeout=60, cwd=folder)


def symbols(*options, folder):
    done = subprocess.run(["nm", "--format=posix", "--defined-only", *options, "prog"],
                          capture_output=True, text=True, timeout=60, cwd=folder, check=True)
    return {line.split()[0] for line in done.stdout.splitlines()
            if line.split()[1] in "TtWw"}


class DebugKinds(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tide-kinds-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "prog.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)

    def build(self, *flags):
        do("gcc", "-g", "-O0", *flags, "-o", "prog", "prog.c", folder=self.folder)

    def functions(self, *options):
        """function -> line, of the program's own frames."""
        found = tide.Recorded([os.path.join(self.folder, "prog")], options,
                              folder=tempfile.mkdtemp(dir=self.folder))
        rows = list(tide.report(found.trace, "--total", "--stacks", "--no-fold")["rows"])
        return {call["function"]: call["line"] for row in rows for call in row["stack"]
                if call["module"].endswith("/prog") and call["function"]}

    def make_mini(self, damage=False, level="-6"):
        """As find-debuginfo of rpm does it."""
        wanted = symbols(folder=self.folder) - symbols("-D", folder=self.folder)
        with open(os.path.join(self.folder, "keep"), "w", encoding="utf-8") as file:
            file.write("\n".join(sorted(wanted)))
        do("objcopy", "--only-keep-debug", "prog", "debug", folder=self.folder)
        do("objcopy", "-S", "--remove-section", ".comment", "--keep-symbols=keep", "debug",
           "mini", folder=self.folder)
        do("xz", level, "mini", folder=self.folder)
        if damage:
            with open(os.path.join(self.folder, "mini.xz"), "r+b") as file:
                file.seek(40)
                file.write(b"\0" * 16)
        do("strip", "--strip-all", "prog", folder=self.folder)
        do("objcopy", "--add-section", ".gnu_debugdata=mini.xz", "prog", folder=self.folder)

    def test_symbols_that_a_stripped_program_brings_along(self):
        self.build("-rdynamic")
        self.make_mini()
        for options in ((), ("--no-names",)):
            self.assertLessEqual({"load", "exported", "main"}, set(self.functions(*options)))

    def test_the_run_names_what_separate_debug_files_tell(self):
        """By .gnu_debuglink, and gone before the report: the trace has them."""
        self.build()
        do("objcopy", "--only-keep-debug", "prog", "prog.debug", folder=self.folder)
        do("strip", "--strip-all", "prog", folder=self.folder)
        do("objcopy", "--add-gnu-debuglink=prog.debug", "prog", folder=self.folder)
        trace = tide.Recorded([os.path.join(self.folder, "prog")],
                              folder=tempfile.mkdtemp(dir=self.folder)).trace
        os.unlink(os.path.join(self.folder, "prog.debug"))
        rows = tide.report(trace, "--total", "--flat")["rows"]
        found = {row["function"]: row["line"] for row in rows}
        self.assertEqual(found.get("load"), 5)

    def test_without_them_only_what_is_exported_has_a_name(self):
        self.build("-rdynamic")
        do("strip", "--strip-all", "prog", folder=self.folder)
        named = set(self.functions())
        self.assertIn("exported", named)
        self.assertNotIn("load", named)

    def test_damaged_ones_cost_names_only(self):
        self.build("-rdynamic")
        self.make_mini(damage=True)
        named = set(self.functions())
        self.assertIn("exported", named)
        self.assertNotIn("load", named)

    SPLIT = """#include <stdlib.h>
static void *kept[8];
static inline __attribute__((always_inline)) void *inner(int n)
{
    return malloc((size_t)n + 1);
}
__attribute__((noinline)) static void *outer(int n)
{
    void *block = inner(n); /* called here */
    return block;
}
int main(void)
{
    for (int i = 0; i < 8; i++)
        kept[i] = outer(i);
    return 0;
}
"""

    def build_split(self, *flags, compiler="gcc"):
        with open(os.path.join(self.folder, "prog.c"), "w", encoding="utf-8") as file:
            file.write(self.SPLIT)
        do(compiler, "-g", "-O1", "-gsplit-dwarf", *flags, "-c", "prog.c", folder=self.folder)
        do(compiler, "-o", "prog", "prog.o", folder=self.folder)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "prog.dwo")))

    def test_debug_information_beside_the_object(self):
        call = next(number for number, text in enumerate(self.SPLIT.splitlines(), 1)
                    if "called here" in text)
        for version in ("5", "4"):
            self.build_split(f"-gdwarf-{version}")
            for options in ((), ("--no-names",)):
                found = self.functions(*options)
                self.assertEqual(found.get("inner"), call - 4, f"DWARF {version}: {found}")
                self.assertEqual(found.get("outer"), call, f"DWARF {version}: {found}")

    def test_without_it_the_symbol_table_names_and_the_line_is_known(self):
        self.build_split()
        os.unlink(os.path.join(self.folder, "prog.dwo"))
        found = self.functions()
        self.assertNotIn("inner", found)
        self.assertIn("outer", found)

    def test_that_of_another_build_is_not_taken(self):
        self.build_split()
        os.rename(os.path.join(self.folder, "prog"), os.path.join(self.folder, "kept"))
        self.SPLIT = self.SPLIT.replace("inner", "later").replace("outer", "other")
        self.build_split()
        os.rename(os.path.join(self.folder, "kept"), os.path.join(self.folder, "prog"))
        self.assertFalse({"inner", "later", "other"} & set(self.functions()))

    def packages(self):
        """Each way to pack split units: compiler, version of DWARF and packer."""
        for compiler in ("gcc", "clang"):
            for packer in ("dwp", "llvm-dwp"):
                for version in ("4", "5"):
                    if packer == "dwp" and version == "5":
                        continue    # that of binutils 2.40 crashes
                    if shutil.which(compiler) and shutil.which(packer):
                        yield compiler, version, packer

    def pack(self, compiler, version, packer, *flags):
        self.build_split(f"-gdwarf-{version}", *flags, compiler=compiler)
        do(packer, "-e", "prog", "-o", "prog.dwp", folder=self.folder)
        os.unlink(os.path.join(self.folder, "prog.dwo"))

    def test_units_packed_into_one_file(self):
        call = next(number for number, text in enumerate(self.SPLIT.splitlines(), 1)
                    if "called here" in text)
        count = 0
        for count, way in enumerate(self.packages(), 1):
            for flags in ((), ("-ffunction-sections",)):
                with self.subTest(way=way, flags=flags):
                    self.pack(*way, *flags)
                    found = self.functions("--no-names")
                    self.assertEqual(found.get("inner"), call - 4, found)
                    self.assertEqual(found.get("outer"), call, found)
        if not count:
            self.skipTest("neither dwp nor llvm-dwp is here")

    def test_a_package_of_another_build_is_not_taken(self):
        for way in list(self.packages())[:1]:
            self.pack(*way)
            package = os.path.join(self.folder, "prog.dwp")
            os.rename(package, os.path.join(self.folder, "kept"))
            self.SPLIT = self.SPLIT.replace("inner", "later").replace("outer", "other")
            self.pack(*way)
            os.rename(os.path.join(self.folder, "kept"), package)
            found = self.functions("--no-names")
            self.assertFalse({"inner", "outer", "later"} & set(found), found)
            self.assertIn("other", found)

    def test_a_damaged_package_costs_names_only(self):
        for way in list(self.packages())[:1]:
            self.pack(*way)
            package = os.path.join(self.folder, "prog.dwp")
            with open(package, "rb") as file:
                whole = file.read()
            for size in (0, 100, len(whole) // 2, len(whole) - 40):
                with open(package, "wb") as file:
                    file.write(whole[:size])
                self.assertIn("outer", self.functions("--no-names"), size)
            os.unlink(package)
            os.mkfifo(package)
            self.assertIn("outer", self.functions("--no-names"))

    def test_what_is_no_file_is_not_opened(self):
        self.build_split()
        dwo = os.path.join(self.folder, "prog.dwo")
        os.unlink(dwo)
        os.mkfifo(dwo)
        self.assertIn("outer", self.functions())


if __name__ == "__main__":
    unittest.main()
