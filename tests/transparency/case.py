"""tests/transparency/case.py - what one case is, and the ways to compare what it made.

A case runs twice in a folder of the same name, plain and recorded, and everything that it
left must be the same: standard output, standard error, exit status, and every file below
the folder, byte for byte.  Whatever is excepted from that is written in the case, with the
reason, and ends up in the table of docs/transparency.md.
"""
import dataclasses
import re
import xml.etree.ElementTree


@dataclasses.dataclass(frozen=True)
class Blur:
    """Text that differs between any two plain runs: replaced before the comparison."""
    pattern: str
    into: str
    why: str

    def over(self, data):
        return re.sub(self.pattern.encode(), self.into.encode(), data, flags=re.M)


@dataclasses.dataclass(frozen=True)
class Skip:
    """A file (regular expression over its whole path) or stream that is not compared."""
    what: str
    why: str


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    group: str                  # one ctest test each
    argv: tuple
    packages: tuple = ()        # Debian names; programs of the base system go without
    inputs: tuple = ()          # files of inputs/, copied into the folder
    made: dict = dataclasses.field(default_factory=dict)   # name -> text, likewise
    env: dict = dataclasses.field(default_factory=dict)
    preload: str = ""           # a library that the user preloads himself
    stdin: str = ""             # name of a file in the folder
    blurs: tuple = ()           # of Blur, over stdout, stderr
    skips: tuple = ()           # of Skip: "stdout", "stderr" or a pattern of paths
    views: dict = dataclasses.field(default_factory=dict)  # path -> function(bytes)
    records: dict = dataclasses.field(default_factory=dict)
    #                           program -> processes of it that the trace has at least
    least_events: int = 1
    status: int = 0             # what the program's exit status is, plain as well
    allowed: dict = dataclasses.field(default_factory=dict)
    #                           key of the report's honesty -> why it need not be 0
    strangers: dict = dataclasses.field(default_factory=dict)
    #                           program that cannot be recorded -> why; the report names
    #                           it when it lived long enough to be seen
    notes: tuple = ()           # what else the reader of the table should know
    timeout: int = 300


def outcomes(data):
    """Of a JUnit file of python3 -m test: each test and what came of it, no times."""
    lines = []
    for suite in xml.etree.ElementTree.fromstring(data):
        for test in suite.iter("testcase"):
            result = [child.tag for child in test
                      if child.tag not in ("system-out", "system-err")]
            lines.append(f"{test.get('name')} {test.get('status')} "
                         f"{test.get('result')} {' '.join(result)}")
    return "\n".join(sorted(lines)).encode()
