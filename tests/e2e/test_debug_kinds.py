"""tests/e2e/test_debug_kinds.py - names of programs whose debug information lies elsewhere."""
import os
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


if __name__ == "__main__":
    unittest.main()
