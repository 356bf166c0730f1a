"""timemory, as far as tidemark stands in for it: see tidemark/timemory.py.

For scripts that say `import timemory` and are not to be changed: put the folder
tidemark/compat in PYTHONPATH.
"""
from tidemark.timemory import (finalize, settings, start_function_wrappers, start_mallocp,
                               stop_function_wrappers, stop_mallocp)

from . import tools, util

__all__ = ["finalize", "settings", "start_function_wrappers", "start_mallocp",
           "stop_function_wrappers", "stop_mallocp", "tools", "util"]
