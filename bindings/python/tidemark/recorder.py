"""tidemark/recorder.py - the recorder's entry points, where the recorder is.

The recorder is preloaded, so its functions are found in the process itself: there is
nothing to load.  Without it each of them is a function that does nothing.
"""
import ctypes

# With the GIL kept: the calls are shorter than giving it away and getting it back.
_process = ctypes.PyDLL(None)

size_t = ctypes.c_size_t
text = ctypes.c_char_p
address = ctypes.c_void_p


def entry(name, *arguments, result=None):
    """The function tide_recorder_NAME; None when it is not there."""
    try:
        call = getattr(_process, "tide_recorder_" + name)
    except AttributeError:
        return None
    call.argtypes = arguments
    call.restype = result
    return call


def _nothing(*_):
    return None


region_begin = entry("region_begin", text) or _nothing
region_end = entry("region_end", text) or _nothing
phase_begin = entry("phase_begin", text) or _nothing
phase_end = entry("phase_end", text) or _nothing
loop_begin = entry("loop_begin", text) or _nothing
loop_end = entry("loop_end", text) or _nothing
iteration = entry("iteration", ctypes.c_int64) or _nothing
label_shape = entry("label_shape", address, text, size_t, ctypes.POINTER(size_t),
                    size_t) or _nothing
unlabel = entry("unlabel", address) or _nothing
begin_int = entry("begin_int", text, ctypes.c_int64) or _nothing
begin_double = entry("begin_double", text, ctypes.c_double) or _nothing
begin_string = entry("begin_string", text, text) or _nothing
set_int = entry("set_int", text, ctypes.c_int64) or _nothing
set_double = entry("set_double", text, ctypes.c_double) or _nothing
set_string = entry("set_string", text, text) or _nothing
end = entry("end", text) or _nothing
unset = entry("unset", text) or _nothing
event = entry("event", ctypes.c_uint64) or _nothing
snapshot = entry("snapshot", text) or _nothing
pause = entry("pause", ctypes.c_int) or _nothing
resume = entry("resume", ctypes.c_int) or _nothing


def present():
    """Is the recorder there?"""
    return region_begin is not _nothing
