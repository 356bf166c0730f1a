"""tidemark - where did the memory go?

In a program, to tell the recorder what it does (docs/api.md):

    import tidemark
    with tidemark.region("solve"):
        x = tidemark.label(numpy.zeros((30, 30)), "x")

Afterwards, to read a trace (docs/python.md):

    trace = tidemark.open("prog.tide")
    trace.summary["peak_bytes"]
    trace.blocks().frame()

And to record a script: python3 -m tidemark run script.py
"""
from .counting import peek, start, stop, window
from .marks import (event, find, label, loop, pause, phase, recorded, region, set_value,
                    snapshot, unlabel, unset_value, value)
from .program import TidemarkError
from .reader import Table, Trace, record
from .reader import open_trace as open  # pylint: disable=redefined-builtin

__all__ = ["TidemarkError", "Table", "Trace", "event", "find", "label", "loop", "open",
           "pause", "peek", "phase", "record", "recorded", "region", "set_value",
           "snapshot", "start", "stop", "unlabel", "unset_value", "value", "window"]
