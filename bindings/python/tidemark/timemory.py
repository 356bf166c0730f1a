"""tidemark/timemory.py - timemory's names for what tidemark does.

    import tidemark.timemory as timemory

    timemory.settings.memory_units = "KB"
    idx = timemory.start_mallocp()
    with timemory.util.marker(["malloc_gotcha"], key="test"):
        ...
    timemory.stop_mallocp(idx)

A marker is a region, and what is between start and stop, or under a marker with the
component "malloc_gotcha", is a window of tidemark's, named "mallocp": `tidemark report
--timemory` shows what happened in them by marker and function, `--windows` each by itself.
settings.memory_units, or TIMEMORY_MEMORY_UNITS in the environment, are the units of that
table; other settings are kept and change nothing.

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


class _Settings(types.SimpleNamespace):
    """Of these the report has to know the units."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "memory_units":
            marks.set_value("timemory.memory_units", str(value))


settings = _Settings(precision=3, enabled=True)
_units = os.environ.get("TIMEMORY_MEMORY_UNITS") or os.environ.get("MEMORY_UNITS")
if _units:
    settings.memory_units = _units


def _enabled():
    return settings.enabled and not any(
        os.environ.get(name, "").lower() in _OFF for name in _SWITCHES)


@functools.lru_cache(maxsize=None)
def _say_off():
    """The report tells this from a program that does not use timemory."""
    counting.stop(counting.start("mallocp (off)"))


def start_mallocp():
    """Begin to count the whole process.  The number of this beginning: 1, and 2, 3... for
    those within it; 0 when counting is switched off."""
    if not _enabled():
        _say_off()
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


_GOTCHA = ("malloc_gotcha", "mallocgotcha", "memory_allocations")


class marker:  # pylint: disable=invalid-name
    """A region named KEY, around a `with` or a function (then by default its name).  With
    the component "malloc_gotcha" what happens in it is counted, started or not."""

    def __init__(self, components=(), key=""):
        self.components = components
        self._key = key
        self._region = marks.region(key or "marker")
        self._counts = any(str(component).lower().rpartition(".")[2] in _GOTCHA
                           for component in components)
        self._started = []

    def __enter__(self):
        if self._counts:
            self._started.append(start_mallocp())
        self._region.__enter__()
        return self

    def __exit__(self, *what):
        self._region.__exit__(*what)
        if self._counts:
            stop_mallocp(self._started.pop())

    def __call__(self, function):
        key = self._key or function.__qualname__

        @functools.wraps(function)
        def inside(*arguments, **keywords):
            with marker(self.components, key):
                return function(*arguments, **keywords)
        return inside


util = types.SimpleNamespace(marker=marker)
tools = types.SimpleNamespace(function_wrappers=function_wrappers)


def finalize():
    """There is nothing to finish."""
