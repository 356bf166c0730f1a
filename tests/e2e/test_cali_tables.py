#!/usr/bin/python3
"""tests/e2e/test_cali_tables.py - .cali and json-split say what `tidemark query` says.

Forty queries, each four times: as tidemark answers it, as the exported .cali file answers it
when a reader of its own adds up the records, and as FORMAT cali and FORMAT json-split say it.
"""
import json
import os
import subprocess

import cali_reader
import exports
import tide

# What rows are grouped by, and which of them count.
KEYS = (
    (("region",), "mem.alloc"),
    (("function",), "mem.alloc"),
    (("loop",), "mem.alloc"),
    (("function", "mem.alloc"), "mem.alloc"),
    (("region", "mem.free"), "mem.free"),
    (("function", "iteration#cycle"), "iteration#cycle"),
    (("region", "iteration#cycle", "mem.alloc"), "iteration#cycle"),
    (("iteration#cycle",), "mem.alloc"),
    (("mem.alloc", "alloc.total_size"), "mem.alloc"),
    (("function", "loop", "iteration#cycle"), "mem.free"),
)
SUMS = (
    ("count()", len, None),
    ("sum(alloc.total_size)", sum, "alloc.total_size"),
    ("max(mem.active)", max, "mem.active"),
    ("min(alloc.total_size)", min, "alloc.total_size"),
)
QUERIES = [(keys, where, *total) for keys, where in KEYS for total in SUMS]
PATHS = ("region", "function", "loop")


def text(value):
    """Paths as tables write them."""
    return "/".join(value) if isinstance(value, list) else value


def answer(trace, query, form=None):
    words = ["--json", trace, query] if form is None else [trace, f"{query} FORMAT {form}"]
    return subprocess.run([tide.TIDEMARK, "query", *words], capture_output=True, text=True,
                          check=True, timeout=120).stdout


class Tables(tide.Case):
    @classmethod
    def setUpClass(cls):
        hydro = os.path.join(os.environ["TIDEMARK_EXAMPLES"], "hydro")
        cls.traces = [exports.record("caliper_marks").trace,
                      os.path.join(tide.FOLDER, "cycles.tide")]
        subprocess.run([tide.TIDEMARK, "run", "-q", "-o", cls.traces[1], "--", hydro,
                        "--cycles", "9", "8"], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
        cls.records = {trace: cali_reader.Reader(exports.export(trace, "cali").decode()).records
                       for trace in cls.traces}

    def tables(self):
        """Each query of each trace, with its rows as tidemark has them."""
        for trace in self.traces:
            for keys, where, total, add, what in QUERIES:
                query = (f"SELECT {','.join(keys)},{total} WHERE {where} "
                         f"GROUP BY {','.join(keys)}")
                rows = [tuple(row) for row in json.loads(answer(trace, query))["rows"]]
                self.assertGreater(len(rows), 0)
                yield trace, query, rows, (keys, where, add, what)

    def test_there_are_forty(self):
        self.assertEqual(len({(keys, total) for keys, _, total, _, _ in QUERIES}), 40)

    def test_the_exported_trace_adds_up_to_the_same(self):
        for trace, query, rows, (keys, where, add, what) in self.tables():
            groups = {}
            for record in self.records[trace]:
                record = dict(record, region=record.get("path"))
                if record.get(where) is None:
                    continue
                key = tuple(text(record.get(name)) for name in keys)
                value = 1 if what is None else record.get(what)
                groups.setdefault(key, []).extend([] if value is None else [value])
            self.assertEqual([(*key, add(values) if values else None)
                              for key, values in groups.items()], rows, query)

    def test_cali_has_the_same_rows(self):
        for trace, query, rows, (keys, _, _, _) in self.tables():
            found = cali_reader.Reader(answer(trace, query, "cali")).records
            result = [name for row in found for name in row
                      if name not in (*keys, "path")][0]
            self.assertEqual([tuple(text(row.get(name)) for name in (*keys, result))
                              for row in found], rows, query)

    def test_json_split_has_the_same_rows(self):
        for trace, query, rows, (keys, _, _, _) in self.tables():
            path = next((name for name in keys if name in PATHS), None)
            if not path:
                continue
            found = cali_reader.read_split(answer(trace, query, "json-split"))
            result = [name for name in found[0] if name not in (*keys, "path")][0]
            names = ["path" if name == path else name for name in (*keys, result)]
            self.assertEqual([tuple(text(row[name]) if row[name] != [] else None
                                    for name in names) for row in found], rows, query)


if __name__ == "__main__":
    tide.main()
