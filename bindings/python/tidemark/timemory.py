"""tidemark/timemory.py - timemory's names for what tidemark does.

    import tidemark.timemory as timemory

    timemory.settings.memory_units = "KB"
    idx = timemory.start_mallocp()
    with timemory.util.marker(["malloc_gotcha"], key="test"):
        ...
    timemory.stop_mallocp(idx)

A marker is a region, and what is between start and stop is a window of tidemark's, named
"mallocp": `tidemark report --regions` and `--windows` show what was allocated.  The
settings are kept and change nothing: units are chosen when a report is made.

TIMEMORY_ENABLE_MALLOCP or ENABLE_TIMEMORY_MALLOCP set to 0, OFF, NO or FALSE: starts give 0
and count nothing.
"""
import functools
import itertools
import os
import threading
import types

from . import counting, marks

_OFF = ("0", "off", "no", "false")
_SWITCHES = ("TIMEMORY_ENABLE_MALLOCP", "ENABLE_TIMEMORY_MALLOCP")

_lock = threading.Lock()
_open = {}  # number -> handle.  Guarded by _lock

settings = types.SimpleNamespace(memory_units="MB", precision=3, enabled=True)


def _enabled():
    return settings.enabled and not any(
        os.environ.get(name, "").lower() in _OFF for name in _SWITCHES)


def start_mallocp():
    """Begin to count the whole process.  The number of this beginning: 1, and 2, 3... for
    those within it; 0 when counting is switched off."""
    if not _enabled():
        return 0
    with _lock:
        number = next(n for n in itertools.count(1) if n not in _open)
        _open[number] = counting.start("mallocp")
    return number


def stop_mallocp(number):
    """End what began as NUMBER; how many there are still.  What has ended, or never began,
    ends nothing."""
    with _lock:
        handle = _open.pop(number, None)
        left = len(_open)
    if handle is not None:
        counting.stop(handle)
    return left


_MEMORY = ("malloc", "mallocp", "memory")


def start_function_wrappers(*names, **wanted):
    """timemory's general form: of what it wraps, memory is what we know."""
    chosen = set(names) | {name for name, on in wanted.items() if on}
    return [start_mallocp()] if chosen & set(_MEMORY) else []


def stop_function_wrappers(started):
    """End what start_function_wrappers() began."""
    for number in started:
        stop_mallocp(number)


class function_wrappers:  # pylint: disable=invalid-name
    """The same around a `with` or a function."""

    def __init__(self, *names, **wanted):
        self._what = names, wanted
        self._started = []

    def __enter__(self):
        names, wanted = self._what
        self._started.append(start_function_wrappers(*names, **wanted))
        return self

    def __exit__(self, *_):
        stop_function_wrappers(self._started.pop())

    def __call__(self, function):
        names, wanted = self._what

        @functools.wraps(function)
        def inside(*arguments, **keywords):
            with function_wrappers(*names, **wanted):
                return function(*arguments, **keywords)
        return inside


class marker:  # pylint: disable=invalid-name
    """A region named KEY, around a `with` or a function (then by default its name)."""

    def __init__(self, components=(), key=""):
        self.components = components
        self._key = key
        self._region = marks.region(key or "marker")

    def __enter__(self):
        self._region.__enter__()
        return self

    def __exit__(self, *what):
        self._region.__exit__(*what)

    def __call__(self, function):
        return marks.region(self._key or function.__qualname__)(function)


util = types.SimpleNamespace(marker=marker)
tools = types.SimpleNamespace(function_wrappers=function_wrappers)


def finalize():
    """There is nothing to finish."""
