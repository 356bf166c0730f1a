"""timemory.tools: see tidemark/timemory.py."""
from tidemark.timemory import function_wrappers

__all__ = ["function_wrappers"]
