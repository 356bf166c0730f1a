"""tidemark/marks.py - tell the recorder what the program is doing.

Every call does nothing, quickly, when the program is not recorded.
"""
import ctypes
import functools
import inspect
import sys

from . import recorder


class region:  # pylint: disable=invalid-name
    """A phase of this thread; phases nest.

        with tidemark.region("solve"):
            ...

        @tidemark.region("assemble")      # or @tidemark.region, for the function's name
        def assemble(): ...
    """
    __slots__ = ("_name",)

    def __new__(cls, name):
        self = super().__new__(cls)
        if callable(name):  # @region without a name
            self._name = name.__qualname__.encode()
            return self(name)
        self._name = name.encode()
        return self

    def __enter__(self):
        recorder.region_begin(self._name)
        return self

    def __exit__(self, *_):
        recorder.region_end(self._name)

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise TypeError(f"{function.__qualname__} can be left in its middle, a region "
                            "cannot: use `with tidemark.region(...)` around parts of it "
                            "without await and yield")

        @functools.wraps(function)
        def inside(*arguments, **keywords):
            recorder.region_begin(self._name)
            try:
                return function(*arguments, **keywords)
            finally:
                recorder.region_end(self._name)
        return inside


class phase:  # pylint: disable=invalid-name
    """A part of what the whole process does, around the regions of all threads."""
    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name.encode()

    def __enter__(self):
        recorder.phase_begin(self._name)
        return self

    def __exit__(self, *_):
        recorder.phase_end(self._name)


def loop(name, items):
    """A region that is a loop, around what is done with ITEMS.

        for cycle in tidemark.loop("cycle", range(100)):
            ...
    """
    recorder.loop_begin(name.encode())
    try:
        for number, item in enumerate(items):
            recorder.iteration(number)
            yield item
    finally:
        recorder.loop_end(name.encode())


def _say_value(name, value, for_int, for_float, for_text):
    if isinstance(value, int):
        for_int(name, value)
    elif isinstance(value, float):
        for_float(name, value)
    elif isinstance(value, str):
        for_text(name, value.encode())
    else:
        raise TypeError(f"a value is an int, a float or a str, not a "
                        f"{type(value).__name__}")


class value:  # pylint: disable=invalid-name
    """Queries see VALUE under NAME, of what this thread does meanwhile; values nest.

        with tidemark.value("level", 3):
            ...
    """
    __slots__ = ("_name", "_value")

    def __init__(self, name, value):
        self._name = name.encode()
        self._value = value

    def __enter__(self):
        _say_value(self._name, self._value, recorder.begin_int, recorder.begin_double,
                   recorder.begin_string)
        return self

    def __exit__(self, *_):
        recorder.end(self._name)


def set_value(name, value):
    """The same from here on, until it is set again or unset_value()."""
    _say_value(name.encode(), value, recorder.set_int, recorder.set_double,
               recorder.set_string)


def unset_value(name):
    """NAME has no value any more, whatever was begun."""
    recorder.unset(name.encode())


class pause:  # pylint: disable=invalid-name
    """What is allocated meanwhile appears nowhere; with thread=True, what this thread
    allocates."""
    __slots__ = ("_scope",)

    def __init__(self, thread=False):
        self._scope = int(thread)

    def __enter__(self):
        recorder.pause(self._scope)
        return self

    def __exit__(self, *_):
        recorder.resume(self._scope)


def event(number):
    """Iteration NUMBER of the program's outer loop begins."""
    recorder.event(number)


def snapshot(name):
    """Remember this moment: reports can show what lived then."""
    recorder.snapshot(name.encode())


def _owner(array):
    """The array that owns the memory that ARRAY is a view of."""
    while array.base is not None and hasattr(array.base, "__array_interface__"):
        array = array.base
    return array


def _memory(thing):
    """(address, bytes of an element, shape) of what THING holds."""
    if hasattr(thing, "__array_interface__"):  # NumPy and its kin
        array = _owner(thing) if hasattr(thing, "base") else thing
        start = array.__array_interface__["data"][0]
        return start, array.itemsize, array.shape
    view = memoryview(thing)
    if view.readonly:
        raise TypeError(f"no address is to be had of a {type(thing).__name__}")
    start = ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else 0
    return start, view.itemsize, view.shape


def _address(thing):
    """Where THING itself begins: of a view, its own first element."""
    if hasattr(thing, "__array_interface__"):
        return thing.__array_interface__["data"][0]
    return _memory(thing)[0]


def _name_in(frame, thing):
    """What the caller calls THING."""
    for names in (frame.f_locals, frame.f_globals):
        for name, value in names.items():
            if value is thing:
                return name
    return type(thing).__name__


def label(array, name=None):
    """Name the memory of a NumPy array, or of anything that shows its buffer (bytearray,
    array.array, ctypes arrays), and return the array.

    It gets its shape and the name of the caller's variable, unless there is a NAME.  Of a
    view, the array that owns the memory is named.
    """
    if recorder.present():
        start, itemsize, shape = _memory(array)
        if name is None:
            name = _name_in(sys._getframe(1), array)  # pylint: disable=protected-access
        if start:
            extents = (ctypes.c_size_t * len(shape))(*shape)
            recorder.label_shape(start, name.encode(), itemsize, extents, len(shape))
    return array


def unlabel(array):
    """From here on its memory has no name; what it counted for stays."""
    if recorder.present():
        recorder.unlabel(_memory(array)[0])


class _Found(ctypes.Structure):
    """struct tide_found_block."""
    _fields_ = (
        [(name, ctypes.c_uint64) for name in (
            "address", "bytes", "used_bytes", "offset", "uid", "element_bytes", "index",
            "dimensions")] +
        [("position", ctypes.c_uint64 * 8), ("holder", ctypes.c_uint64),
         ("label", ctypes.c_char * 128), ("pool", ctypes.c_char * 64),
         ("_reserved", ctypes.c_uint64 * 4)])


_find = recorder.entry("find", recorder.address, ctypes.POINTER(_Found),
                       result=ctypes.c_int)


def find(thing):
    """The live block that holds an address, or the memory of an array, as a dict; None when
    none does, or nobody keeps a table of live blocks (`run --live-table`).

    The keys are those of struct tide_found_block; "position" tells the element in each
    dimension of the label's shape, and "label" and "pool" are None where there is none.
    """
    if not _find:
        return None
    found = _Found()
    at = thing if isinstance(thing, int) else _address(thing)
    if _find(at, found) != 0:
        return None
    told = {name: getattr(found, name) for name, _ in _Found._fields_
            if not name.startswith("_")}
    told["position"] = list(found.position[:told.pop("dimensions")])
    for name in "label", "pool":
        told[name] = told[name].decode(errors="replace") or None
    return told


def recorded():
    """Is the recorder there?"""
    return recorder.present()
