"""tidemark/counting.py - count what is allocated between two points.

    window = tidemark.start()
    ...
    tidemark.stop(window)["alloc_calls"]

    with tidemark.window("solve") as counted:
        ...
    counted.stats["requested_bytes"]

The keys are those of struct tide_stats in tidemark.h.  Without the recorder they are 0.
"""
import ctypes

from . import recorder

_PROCESS, _THREAD = 0, 1
DONE = 0


class Stats(ctypes.Structure):
    """struct tide_stats."""
    _fields_ = (
        [(name, ctypes.c_uint64) for name in (
            "requested_bytes", "used_bytes", "freed_bytes", "alloc_calls", "free_calls",
            "failed_calls")] +
        [(name, ctypes.c_int64) for name in ("live_bytes", "peak_bytes")] +
        [(name, ctypes.c_uint64) for name in ("smallest_bytes", "largest_bytes")] +
        [(name, ctypes.c_double) for name in ("mean_bytes", "stddev_bytes", "seconds")] +
        [("_reserved", ctypes.c_uint64 * 3)])

    def as_dict(self):
        """Without what is reserved."""
        return {name: getattr(self, name) for name, _ in self._fields_
                if not name.startswith("_")}


_start = recorder.entry("window_start", recorder.text, ctypes.c_int,
                        result=ctypes.c_uint64)
_stop = recorder.entry("stop", ctypes.c_uint64, ctypes.POINTER(Stats),
                       result=ctypes.c_int)
_peek = recorder.entry("peek", ctypes.c_uint64, ctypes.POINTER(Stats),
                       result=ctypes.c_int)


def start(name=None, thread=False):
    """Count from here to stop(): the whole process, or with thread=True this thread.  The
    handle of the window; 0 when the recorder is not there.  NAME is for reports."""
    if not _start:
        return 0
    return _start(name.encode() if name else None, _THREAD if thread else _PROCESS)


def _ask(call, handle):
    stats = Stats()
    if call and call(handle, stats) != DONE:
        stats = Stats()
    return stats.as_dict()


def stop(handle):
    """End a window; what was counted, as a dict.  Zeros when it has ended already."""
    return _ask(_stop, handle)


def peek(handle):
    """What a window has counted so far."""
    return _ask(_peek, handle)


class window:  # pylint: disable=invalid-name
    """A window around a `with`; afterwards .stats is what was counted."""

    def __init__(self, name=None, thread=False):
        self._how = name, thread
        self._handle = 0
        self.stats = None

    def __enter__(self):
        self._handle = start(*self._how)
        return self

    def __exit__(self, *_):
        self.stats = stop(self._handle)
