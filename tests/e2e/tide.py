"""tests/e2e/tide.py - record programs and read reports: what the tests share."""
import atexit
import ctypes
import json
import os
import pty
import select
import shutil
import subprocess
import tempfile
import termios
import time
import unittest

# Tests run the same for every caller: these change how programs buffer, load and allocate.
for variable in list(os.environ):
    if variable.startswith(("PYTHON", "LD_", "MALLOC_", "GLIBC_TUNABLES", "OMP_")):
        del os.environ[variable]

TIDEMARK = os.environ["TIDEMARK"]
PROGRAMS = os.environ["TIDEMARK_PROGRAMS"]
SOURCE = os.environ["TIDEMARK_SOURCE"]


def others_reach(path):
    """Can users without rights get at PATH?  A clone in /root is closed to them."""
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def own_folder():
    """Whatever a test makes lies in one folder, which goes when the test does."""
    folder, owner = tempfile.mkdtemp(prefix="tide-e2e-"), os.getpid()
    os.chmod(folder, 0o755)     # some targets are other users

    def remove():
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)
    atexit.register(remove)
    return folder


FOLDER = tempfile.tempdir = own_folder()


def program(name):
    return os.path.join(PROGRAMS, name)


def record_once(name, *arguments, program_name="alters"):
    """The trace NAME of a program, recorded when it is first asked for."""
    trace = os.path.join(FOLDER, f"{name}.tide")
    if not os.path.exists(trace):
        subprocess.run([TIDEMARK, "run", "-q", "-o", trace, "--", program(program_name),
                        *arguments], check=True, timeout=120)
    return trace


def on_terminal(width, *words, errors=False):
    """What tidemark WORDS prints on a terminal that is WIDTH wide; no COLUMNS.

    With ERRORS the terminal shows standard error as well.
    """
    env = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm")
    env.pop("COLUMNS", None)
    main, child = pty.openpty()
    termios.tcsetwinsize(child, (50, width))
    with subprocess.Popen([TIDEMARK, *words], env=env, stdout=child,
                          stderr=child if errors else subprocess.DEVNULL) as process:
        os.close(child)
        text = b""
        while select.select([main], [], [], 60)[0]:
            try:
                text += os.read(main, 65536)
            except OSError:
                break
        process.wait(60)
    os.close(main)
    return text.decode("utf-8", "replace").replace("\r", "")


class Recorded:
    """A finished `tidemark run`: what it printed, how it ended, where the trace is."""

    def __init__(self, argv, options=(), env=None, timeout=120, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix="tide-e2e-")
        self.trace = os.path.join(self.folder, "t.tide")
        self.done = subprocess.run(
            [TIDEMARK, "run", "-q", "-o", self.trace, *options, "--", *argv],
            capture_output=True, text=True, env=env, timeout=timeout, check=False)
        self.stdout = self.done.stdout
        self.status = self.done.returncode

    def own_count(self):
        """What the program itself says it did."""
        return json.loads(self.stdout)

    def report(self, *options):
        return report(self.trace, *options)

    def sites(self, view):
        """function -> row, of a flat view of every function that called."""
        rows = self.report(view, "--flat", "--no-fold")["rows"]
        return {row["function"]: row for row in rows}


def report(trace, *options):
    done = subprocess.run([TIDEMARK, "report", trace, "--json", "-n", "100000", *options],
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"report failed: {done.stderr}")
    return json.loads(done.stdout)


def info(trace):
    done = subprocess.run([TIDEMARK, "info", trace, "--json"], capture_output=True,
                          text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"info failed: {done.stderr}")
    return json.loads(done.stdout)


class Case(unittest.TestCase):
    maxDiff = None

    def whole(self, result, **allowed):
        """The honesty section of a trace that lost nothing."""
        honesty = result["honesty"]
        expected = {"dropped": 0, "unmatched_frees": 0, "complete": True}
        expected.update(allowed)
        self.assertEqual({key: honesty[key] for key in expected}, expected, honesty)


PR_SET_CHILD_SUBREAPER = 36


def read_of(pid, name):
    """The bytes of a file of process PID; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def state_and_parent(pid):
    """The kernel's letter for the state of PID and its parent; None when it is gone."""
    fields = read_of(pid, "stat").rpartition(b")")[2].split()
    return (fields[0].decode(), int(fields[1])) if fields else None


def processes():
    """pid -> (state, parent) of all processes."""
    found = {int(name): state_and_parent(name) for name in os.listdir("/proc")
             if name.isdigit()}
    return {pid: facts for pid, facts in found.items() if facts}


def descendants(root):
    """The pids below ROOT, zombies included."""
    children = {}
    for pid, (_, parent) in processes().items():
        children.setdefault(parent, []).append(pid)
    found, todo = [], [root]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


class TidyCase(Case):
    """A case after each of whose tests nothing may be left: see nothing_left().

    Sessions get a folder of their own, and who loses his parent becomes our child, so
    that what is left can be told from what others are doing on this machine.
    """

    def setUp(self):
        self.runtime = tempfile.mkdtemp(prefix="tide-rt-")
        self.addCleanup(shutil.rmtree, self.runtime, ignore_errors=True)
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = self.runtime
        self.addCleanup(self.restore_runtime, before)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    @staticmethod
    def restore_runtime(before):
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before

    def tearDown(self):
        self.nothing_left()

    def nothing_left(self, seconds=60.0, folders=True):
        """No process of any run of this test, no memory shared with one and, with
        FOLDERS, no session folder (a killed collector cannot remove its own)."""
        end = time.monotonic() + seconds
        clean = 0
        while clean < 2:  # who forks while we look may be missed once
            left = self.who_is_left()
            if folders:
                left += [os.path.join(self.runtime, name)
                         for name in os.listdir(self.runtime)]
            clean = 0 if left else clean + 1
            if left and time.monotonic() > end:
                self.fail("left behind: " + "; ".join(left))
            time.sleep(0.01)

    def who_is_left(self):
        """In words: our children and theirs, and who carries our sessions' name."""
        ours = set(descendants(os.getpid()))
        mark = b"=" + os.fsencode(self.runtime)
        left = []
        for pid, (state, parent) in processes().items():
            if state in "ZX":
                if parent == os.getpid():
                    self.reap(pid)
            elif pid != os.getpid() and (
                    pid in ours or mark in read_of(pid, "environ")):
                left.append(self.in_words(pid))
        return left

    @staticmethod
    def reap(pid):
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            pass

    @staticmethod
    def in_words(pid):
        words = os.fsdecode(read_of(pid, "cmdline").replace(b"\0", b" ").strip())
        held = b"memfd:tidemark" in read_of(pid, "maps")
        return f"{pid} ({words}{', with shared memory' if held else ''})"


def main():
    unittest.main(verbosity=1)
