"""timemory.util: see tidemark/timemory.py."""
from tidemark.timemory import marker

__all__ = ["marker"]
