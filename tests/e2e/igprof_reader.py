"""tests/e2e/igprof_reader.py - read a profile of IgProf's, by the rules of the format.

Strict where igprof-analyse would be misled: every line is matched to its end, a number that
was never defined is an error, and so is a node that lies two deeper than the one before.
"""
import re

HEAD = re.compile(r"P=\(HEX ID=([0-9a-f]+) N=\(([^()]*)\) T=0\.000000\)")
NODE = re.compile(r"C([0-9a-f]+) FN([0-9a-f]+)(?:=\(F([0-9a-f]+)(?:=\(([^()]*)\))?"
                  r"\+([0-9a-f]+) N=\(([^()]*)\)\))?\+([0-9a-f]+)")
COUNTER = re.compile(r" V([0-9a-f]+)(?:=\(([A-Z_]+)\))?:\(([0-9a-f]+),([0-9a-f]+),([0-9a-f]+)\)"
                     r"((?:;LK=\(0x[0-9a-f]+,[0-9a-f]+\))*)")
BLOCK = re.compile(r";LK=\(0x([0-9a-f]+),([0-9a-f]+)\)")


class Node:
    """A function as called from those above it: path, outermost first; name -> (calls, value,
    peak); blocks that live, (address, size)."""

    def __init__(self, path, counters, blocks):
        self.path, self.counters, self.blocks = path, counters, blocks


class Profile:
    """pid, program and nodes."""

    def __init__(self, text):
        head, *lines = text.splitlines()
        match = HEAD.fullmatch(head)
        self.pid, self.program = int(match[1], 16), match[2]
        self._files, self._functions, self._counters = {}, {}, {}
        self.nodes, above = [], []
        for line in lines:
            match = NODE.match(line)
            depth = int(match[1], 16)
            assert 1 <= depth <= len(above) + 1, line
            above = above[:depth - 1] + [self._function(match)]
            self.nodes.append(Node(tuple(above), *self._counts(line[match.end():])))

    @staticmethod
    def _define(known, number, value):
        if value is not None:
            assert number not in known, number
            known[number] = value
        return known[number]

    def _function(self, match):
        if match[3]:
            self._define(self._files, match[3], match[4])
        return self._define(self._functions, match[2], match[6])

    def _counts(self, text):
        counters, blocks = {}, []
        while text:
            match = COUNTER.match(text)
            assert match, text[:80]
            name = self._define(self._counters, match[1], match[2])
            counters[name] = tuple(int(match[i], 16) for i in (3, 4, 5))
            found = [(int(address, 16), int(size, 16))
                     for address, size in BLOCK.findall(match[6])]
            assert name == "MEM_LIVE" or not found
            blocks += found
            text = text[match.end():]
        return counters, blocks

    def total(self, counter):
        """(calls, bytes) of all nodes."""
        values = [node.counters.get(counter, (0, 0, 0)) for node in self.nodes]
        return sum(value[0] for value in values), sum(value[1] for value in values)

    def of(self, function, counter):
        """The same of the nodes whose innermost function, or one above it, is FUNCTION."""
        values = [node.counters.get(counter, (0, 0, 0)) for node in self.nodes
                  if function in node.path]
        return sum(value[0] for value in values), sum(value[1] for value in values)
