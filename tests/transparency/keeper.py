"""tests/transparency/keeper.py - what a run costs, and which processes it leaves behind.

The runner adopts orphans, so whatever a case started is its child sooner or later and its
time is counted; and each case carries a mark in the environment, by which processes that
it left are found even so.
"""
import ctypes
import os
import resource
import signal
import time

MARK = "TRANSPARENCY_CASE"
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class StopWatch:
    """Wall time since it was made, CPU time of all children reaped since then."""

    def __init__(self):
        self.started = time.monotonic()
        self.spent = self.children()

    @staticmethod
    def children():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def wall(self):
        return time.monotonic() - self.started

    def cpu(self):
        return self.children() - self.spent


def reap():
    """Take leave of adopted children that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def marked(mark):
    """pid -> command line of the processes that carry MARK, or are our children."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                environ = file.read().split(b"\0")
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if wanted in environ or parent == os.getpid():
            found[int(pid)] = command.strip() or "[ended]"
    return found


def leftovers(mark, patience):
    """What is left of a run after PATIENCE seconds; it is ended."""
    deadline = time.monotonic() + patience
    while True:
        reap()
        left = marked(mark)
        if not left:
            return {}
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    for pid in left:
        end(pid)
    time.sleep(0.1)
    reap()
    return left


def end(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_all(mark, process):
    """End a run that hangs, with all that it started."""
    for pid in marked(mark):
        end(pid)
    process.kill()
    process.wait()
    reap()
