"""tests/e2e/test_layers_check.py - tools/check-layers.py finds what it should find.

A small tree is made, with one fault at a time.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(os.environ["TIDEMARK_SOURCE"]) / "tools" / "check-layers.py"

GOOD = {
    "src/base/text.h": '/* base/text.h - text. */\n#include <stddef.h>\n',
    "src/base/raw/varint.h": '/* base/raw/varint.h - numbers. */\n',
    "src/trace/format.h": '/* trace/format.h - bytes. */\n',
    "src/trace/trace.h": '/* trace/trace.h - a trace. */\n#include "base/text.h"\n',
    "src/model/model.h": '/* model/model.h - a model. */\n#include "trace/trace.h"\n',
    "src/capture/record.h":
        '/* capture/record.h - hot. */\n#include "trace/format.h"\n'
        '#include "base/raw/varint.h"\n#include <tidemark/status.h>\n',
    "src/cli/command.h": '/* cli/command.h - verbs. */\n#include "model/model.h"\n',
    "include/tidemark/status.h": '/* tidemark/status.h - codes. */\n',
    "include/tidemark/compat/old.h":
        '/* compat/old.h - old names. */\n#include "../status.h"\n',
}


class LayersCheck(unittest.TestCase):
    def check(self, changes):
        """What the script says about the good tree with CHANGES."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "tools").mkdir()
            shutil.copy(SCRIPT, root / "tools")
            for name, text in {**GOOD, **changes}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            done = subprocess.run([root / "tools" / SCRIPT.name], capture_output=True,
                                  text=True, check=False)
            return done.returncode, done.stdout

    def refuse(self, changes, words):
        status, said = self.check(changes)
        self.assertEqual(status, 1)
        self.assertIn(words, said)
        self.assertEqual(len(said.splitlines()), 1, said)

    def test_passes_a_good_tree(self):
        self.assertEqual(self.check({}), (0, ""))

    def test_refuses_memory_that_is_mapped_past_the_one_file(self):
        top, call = "/* capture/{} - x. */\n", "int f(void) {{ return {}(0); }}\n"
        for name in ("mmap", "mremap", "syscall(SYS_mmap, 0) + g"):
            self.refuse({"src/capture/x.c": top.format("x.c") + call.format(name)},
                        "maps memory")
            self.assertEqual(self.check({"src/capture/reserve.c":
                                         top.format("reserve.c") + call.format(name)}),
                             (0, ""))
        self.assertEqual(self.check({"src/capture/x.c": top.format("x.c") +
                                     "/* not mmap(), nor SYS_mmap */\n"}), (0, ""))

    def test_refuses_what_points_the_wrong_way(self):
        for name, header in (("base/x.c", "trace/trace.h"),
                             ("base/raw/x.c", "base/text.h"),
                             ("trace/x.c", "model/model.h"),
                             ("symbol/x.c", "trace/trace.h"),
                             ("collect/x.c", "model/model.h"),
                             ("view/x.c", "cli/command.h"),
                             ("capture/x.c", "base/text.h"),
                             ("capture/arch/x86_64/x.c", "trace/trace.h"),
                             ("cli/x.c", "capture/record.h"),
                             ("newroom/x.c", "base/text.h")):
            with self.subTest(name=name):
                self.refuse({f"src/{name}": f'/* {name} - x. */\n#include "{header}"\n'},
                            f'must not see "{header}"')

    def test_refuses_paths_that_are_not_below_src(self):
        self.refuse({"src/base/x.c": '/* base/x.c - x. */\n#include "text.h"\n'},
                    '"text.h" is not a path below src')
        for header in ("base/text.h", "../../src/base/text.h", "nowhere.h"):
            self.refuse({"include/tidemark/x.h":
                         f'/* tidemark/x.h - x. */\n#include "{header}"\n'},
                        "a public header includes")

    def test_refuses_two_files_of_one_name(self):
        self.refuse({"src/model/text.h": "/* model/text.h - x. */\n"},
                    "src/base/text.h has the same name")

    def test_allows_equal_names_in_folders_of_architectures(self):
        self.assertEqual(self.check({
            f"src/capture/arch/{arch}/clock.h": f"/* capture/arch/{arch}/clock.h - x. */\n"
            for arch in ("x86_64", "aarch64")}), (0, ""))

    def test_refuses_a_file_that_does_not_say_what_it_is(self):
        self.refuse({"src/base/x.c": "int x;\n"}, "does not open with")
        self.refuse({"src/base/x.c": "/* base/y.c - x. */\n"}, "calls itself base/y.c")

    def test_refuses_long_functions_and_files(self):
        def source(lines):
            return "/* base/x.c - x. */\nint f(void)\n{\n" + "    /* } */\n" * lines + "}\n"
        self.assertEqual(self.check({"src/base/x.c": source(60)}), (0, ""))
        self.refuse({"src/base/x.c": source(61)}, "a function of 61 lines")
        self.refuse({"src/base/x.c": "/* base/x.c - x. */\n" + "\n" * 600},
                    "601 lines: at most 600")


if __name__ == "__main__":
    unittest.main()
