"""tidemark/reader.py - what a trace holds, as Python's own things.

    trace = tidemark.open("prog.tide")
    trace.summary["peak_bytes"]
    for block in trace.blocks():          # dicts, one by one: any size of trace
        print(block["label"], block["size"])
    trace.blocks().frame()                # a pandas DataFrame
    trace.rows("total", "labels").frame()

The numbers are those of `tidemark report --json` and `tidemark export`, whose manual pages
explain the keys.
"""
import functools
import os
import subprocess

from . import program


class Table:
    """Rows as dicts: to be iterated, any number of times, or had as a DataFrame."""

    def __init__(self, rows):
        self._rows = rows  # makes an iterator of rows

    def __iter__(self):
        return self._rows()

    def frame(self):
        """All rows as a pandas.DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("frame() needs pandas (Debian: python3-pandas); "
                              "without it, iterate") from error
        return pandas.DataFrame.from_records(list(self))


def _kept(rows):
    """A Table of a list that is here already: a mistake in the question was said when it
    was asked.  Who changes a row changes a copy."""
    return Table(lambda: map(dict, rows))


def _options(filters):
    """{"size": "1M..", "no_fold": True} as words of a command line."""
    for key, value in filters.items():
        option = "--" + key.replace("_", "-")
        if value is True:
            yield option
        elif isinstance(value, (tuple, list)):
            yield from (option, *map(str, value))
        elif value is not None and value is not False:
            yield from (option, str(value))


class Trace:
    """One recorded run."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.info = program.read_json("info", "--json", "--", self.path)

    def __repr__(self):
        return f"tidemark.open({self.path!r})"

    def report(self, view=None, shape=None, **filters):
        """`tidemark report --json`, whole.  VIEW: peak, leaks, total, churn; SHAPE: tree,
        flat, stacks, bottom_up, threads, processes, regions, labels, modules, lines,
        sizes, lifetimes, windows, timemory; FILTERS: the report's options, such as region="solve"."""
        words = {name: True for name in (view, shape) if name}
        return program.read_json("report", "--json", *_options({**words, **filters}),
                                 "--", self.path)

    @functools.cached_property
    def _overview(self):
        return self.report()

    @property
    def summary(self):
        """Of the heap: calls, bytes, peak, what was live at the end."""
        return self._overview["summary"]

    @property
    def spaces(self):
        """The same for each space, by its name."""
        return {space["space"]: space for space in self._overview["spaces"]}

    @property
    def findings(self):
        """What stands out, with its text, bytes and calls."""
        return self._overview["findings"]

    @property
    def honesty(self):
        """What was lost, and how far to trust the rest."""
        return self._overview["honesty"]

    def rows(self, view="total", shape="flat", **filters):
        """The rows of a report, as a Table."""
        return _kept(self.report(view, shape, **filters)["rows"])

    def stacks(self, view="peak", **filters):
        """A row for each stack, its frames innermost first, as a Table."""
        return self.rows(view, "stacks", **filters)

    def windows(self):
        """What the program counted between start() and stop(), as a Table."""
        return _kept(self.report(shape="windows")["windows"])

    def query(self, text):
        """The answer of `tidemark query` as a Table, whose keys are the titles of its
        columns: trace.query("SELECT label, count() GROUP BY label")."""
        answer = program.read_json("query", "--json", "--", self.path, text)
        titles = [column["title"] for column in answer["columns"]]
        return _kept([dict(zip(titles, row)) for row in answer["rows"]])

    def blocks(self, all=True):  # pylint: disable=redefined-builtin
        """Every block there ever was, or with all=False those live at the end, as a Table.
        Its rows come one by one: memory does not grow with the trace."""
        words = ["export", "--to", "ndjson"] + (["--all"] if all else [])
        return Table(lambda: program.read_lines(*words, "--", self.path))


def open_trace(path):
    """The trace at PATH.  Raises tidemark.TidemarkError when it cannot be read."""
    return Trace(path)


def record(argv, output, **options):
    """Record a program and open its trace.

    ARGV is the command, OUTPUT the name of the trace; OPTIONS are those of `tidemark run`,
    such as follow="none".  What the program prints goes where it always goes; how it ended
    is in trace.info["processes"].
    """
    output = os.fspath(output)
    path = output if output.endswith(".tide") else output + ".tide"
    if os.path.exists(path):
        raise FileExistsError(path)
    subprocess.run([program.find(), "run", "-q", "-o", output, *_options(options), "--",
                    *map(os.fspath, argv)], check=False)
    return Trace(path)
