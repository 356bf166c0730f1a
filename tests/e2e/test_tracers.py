"""tests/e2e/test_tracers.py - with LD_PRELOAD alone, debuggers and tracers keep the program.

The recorder starts its collector from inside the program: a tracer must not take the
collector for a thread of the program, nor for the program itself.
"""
import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import tide

LIBRARY = os.environ["TIDEMARK_LIBRARY"]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW = (6, 0, 0, 0x7fff0000) # BPF: return SECCOMP_RET_ALLOW


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("if_true", ctypes.c_ubyte),
                ("if_false", ctypes.c_ubyte), ("value", ctypes.c_uint)]


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("first", ctypes.POINTER(Instruction))]


def put_filter():
    """Begin as in a container that filters system calls, and forbid none."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = (Instruction * 1)(Instruction(*ALLOW))
    program = Filter(1, code)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0):
        raise OSError(ctypes.get_errno(), "no filter")


def needs(name):
    return unittest.skipUnless(shutil.which(name), f"{name} is not installed")


class Tracers(tide.Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.program = [tide.program("deep"), "3", "100"]

    def trace(self, *argv, **more):
        kept = {name: value for name, value in os.environ.items()
                if name not in ("TIDEMARK_SESSION", "XDG_RUNTIME_DIR")}
        return subprocess.run(argv, cwd=self.folder, env=dict(kept, TMPDIR=self.folder),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=30, **more)

    def recorded(self):
        """The trace of the program is whole; the collector finishes it a little later."""
        def traces():
            return [name for name in os.listdir(self.folder) if name.startswith("deep.")]
        for _ in range(100):
            if traces() and not [n for n in os.listdir(self.folder)
                                 if n.startswith("tidemark-")]:
                break
            time.sleep(0.05)
        [trace] = traces()
        result = tide.report(os.path.join(self.folder, trace))
        self.whole(result)
        self.assertEqual(result["summary"]["alloc_calls"], 100)

    def debug(self, *commands, **more):
        words = ["set debuginfod enabled off", f"set exec-wrapper env LD_PRELOAD={LIBRARY}",
                 *commands]
        options = [option for word in words for option in ("-ex", word)]
        done = self.trace("gdb", "-nx", "-batch", *options, "--args", *self.program, **more)
        said = done.stdout + done.stderr
        self.assertNotIn("executing new program", said)
        self.assertNotIn("New Thread", said)
        self.assertIn("[Inferior 1 (process", said)
        self.assertIn("exited normally]", said)
        self.recorded()
        return said

    @needs("gdb")
    def test_gdb_keeps_the_program(self):
        said = self.debug("break descend", "run", "delete", "continue")
        self.assertIn("Breakpoint 1, descend (depth=3", said)

    @needs("gdb")
    def test_gdb_keeps_it_also_when_told_to_follow_children(self):
        self.debug("set follow-fork-mode child", "run")

    @needs("gdb")
    def test_gdb_keeps_it_when_told_to_hold_children(self):
        self.debug("set detach-on-fork off", "run")

    @needs("gdb")
    def test_gdb_keeps_it_below_a_filter_of_system_calls(self):
        self.debug("set follow-fork-mode child", "run", preexec_fn=put_filter)

    @needs("strace")
    def test_strace_sees_the_program_and_nothing_else(self):
        done = self.trace("strace", "-f", "-e", "trace=process", "-o", "out", "env",
                          f"LD_PRELOAD={LIBRARY}", *self.program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.folder, "out"), encoding="utf-8") as file:
            lines = file.read()
        self.assertEqual(len(set(re.findall(r"^\d+", lines, re.M))), 1, lines)
        self.recorded()

    @needs("strace")
    def test_strace_with_a_filter_of_its_own_sees_children_as_of_vfork(self):
        # Its filter fails the calls of whom it does not trace.
        done = self.trace("strace", "-f", "--seccomp-bpf", "-e", "trace=process,read", "-o",
                          "out", "env", f"LD_PRELOAD={LIBRARY}", *self.program)
        if "seccomp" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.folder, "out"), encoding="utf-8") as file:
            started, collects, _ = file.read().partition('"collect"')
        self.assertTrue(collects)   # which has children of its own then
        clones = re.findall(r" clone\((.*flags=\S+)", started)
        self.assertEqual(len(clones), 2)
        for clone in clones:
            self.assertIn("CLONE_VM|CLONE_VFORK", clone)
        self.recorded()

    @needs("ltrace")
    def test_ltrace_follows_the_program(self):
        done = self.trace("ltrace", "-f", "-e", "malloc", "-o", "out", "env",
                          f"LD_PRELOAD={LIBRARY}", *self.program)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "out"), encoding="utf-8") as file:
            calls = re.findall(r"->malloc\(10\)", file.read())
        self.assertEqual(len(calls), 100)
        self.recorded()


if __name__ == "__main__":
    tide.main()
