"""tests/e2e/query_judge.py - random queries, and a second opinion on their answers.

The second opinion is of another design: it reads the blocks of `export --to csv --all` into
dicts and loops over them, a closure for each condition.  Nothing here knows how the engine
works.  Functions are left out: a query names them past library functions, a CSV does not.
"""
import csv
import io
import json
import math
import re
import subprocess

import tide


def raw(text):
    """The name itself: control characters stand as \\xNN in a CSV."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), text)


def blocks(trace):
    """Attribute -> value, for each heap block; what is absent is not there."""
    done = subprocess.run([tide.TIDEMARK, "export", "--to", "csv", "--all", trace],
                          capture_output=True, timeout=300, check=True)
    rows = []
    for line in csv.DictReader(io.StringIO(done.stdout.decode())):
        if line["space"] != "heap":
            continue
        row = {
            "alloc.uid": int(line["id"]), "kind": line["kind"],
            "process": int(line["pid"]), "thread": int(line["tid"] or 0) or None,
            "size": int(line["size"]), "usable": int(line["usable"]),
            "alloc.total_size": int(line["size"]),
            "label": raw(line["label"]),
            "mem.alloc": raw(line["label"]) or line["kind"],
            "alloc.address": int(line["address"], 16),
            "free.thread": int(line["death_tid"] or 0) or None,
            "live": None if line["death_s"] else True,
        }
        rows.append({key: value for key, value in row.items() if value not in ("", None)})
    return rows


TEXTS = ("kind", "label", "mem.alloc")
NUMBERS = ("size", "usable", "alloc.uid", "thread", "alloc.total_size", "free.thread")
KEYS = ("kind", "label", "mem.alloc", "size", "usable", "thread", "free.thread",
        "live", "process")
OPERATORS = {
    "=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "<>": lambda a, b: a != b,
}


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def as_bytes(value):
    """The engine orders text by its bytes."""
    return value.encode() if isinstance(value, str) else value


class Asker:
    """Makes queries, each as text and as a function over rows."""

    def __init__(self, rows, dice):
        self.rows, self.dice = rows, dice

    def some_value(self, name):
        values = sorted({row[name] for row in self.rows if name in row})
        return self.dice.choice(values) if values else 1

    def number_text(self, value):
        if value % 1024 == 0 and value and self.dice.random() < 0.5:
            return f"{value // 1024}KiB"
        return str(value)

    def simple(self):
        """One comparison."""
        name = self.dice.choice(TEXTS + NUMBERS)
        if self.dice.random() < 0.15:
            name = self.dice.choice(KEYS)
            return name, lambda row: name in row
        value = self.some_value(name)
        text = isinstance(value, str)
        shown = quoted(value) if text else self.number_text(value)
        kind = self.dice.random()
        if kind < 0.15:
            low, high = sorted((value, self.some_value(name)), key=as_bytes)
            words = [quoted(v) if text else str(v) for v in (low, high)]
            return (f"{name} BETWEEN {words[0]} AND {words[1]}",
                    lambda row: name in row and
                    as_bytes(low) <= as_bytes(row[name]) <= as_bytes(high))
        if kind < 0.3:
            values = {value, self.some_value(name), self.some_value(name)}
            words = ", ".join(quoted(v) if text else str(v) for v in sorted(values))
            return f"{name} IN ({words})", lambda row: row.get(name) in values
        if kind < 0.4 and text and value.isalnum():
            part = value[:2]
            return (f"{name} LIKE '{part}%'",
                    lambda row: name in row and row[name].startswith(part))
        if kind < 0.5 and text and value.isalnum():
            part = value[-2:]
            return (f"{name} ~ '{part}$'",
                    lambda row: name in row and row[name].endswith(part))
        sign = self.dice.choice(sorted(OPERATORS))
        compare = OPERATORS[sign]
        return (f"{name} {sign} {shown}",
                lambda row: name in row and compare(as_bytes(row[name]), as_bytes(value)))

    def condition(self, depth=0):
        roll = self.dice.random()
        if depth > 3 or roll < 0.45:
            return self.simple()
        one, holds = self.condition(depth + 1)
        if roll < 0.55:
            return f"NOT ({one})", lambda row: not holds(row)
        other, too = self.condition(depth + 1)
        if roll < 0.8:
            return f"({one}) AND ({other})", lambda row: holds(row) and too(row)
        return f"({one}) OR ({other})", lambda row: holds(row) or too(row)

    def aggregation(self):
        """Text, and what it makes of the rows of a group and of all rows."""
        name = self.dice.choice(NUMBERS)
        other = self.dice.choice(NUMBERS)
        percent = self.dice.choice((0, 10, 50, 90, 99, 100))

        def values(rows, of=name):
            return [row[of] for row in rows if of in row]

        def ranked(rows, share):
            found = sorted(values(rows))
            return found[max(math.ceil(share / 100 * len(found)), 1) - 1] if found else None

        def spread(rows):
            found = values(rows)
            mean = sum(found) / len(found) if found else 0
            return sum((v - mean) ** 2 for v in found) / len(found) if found else None

        def ratio(rows):
            below = sum(values(rows, other))
            return sum(values(rows)) / below if below else None

        def histogram(rows):
            bins = {}
            for value in values(rows):
                low = 1 << value.bit_length() - 1 if value else 0
                bins[low] = bins.get(low, 0) + 1
            return " ".join(f"{low}:{bins[low]}" for low in sorted(bins)) or None

        def share(rows, whole):
            total = sum(values(whole))
            return 100 * sum(values(rows)) / total if total > 0 and values(rows) else None
        return self.dice.choice((
            ("count()", lambda rows, _: len(rows)),
            (f"count({name})", lambda rows, _: len(values(rows))),
            (f"count(DISTINCT {name})", lambda rows, _: len(set(values(rows)))),
            (f"sum({name})", lambda rows, _: sum(values(rows)) if values(rows) else None),
            (f"min({name})", lambda rows, _: min(values(rows), default=None)),
            (f"max({name})", lambda rows, _: max(values(rows), default=None)),
            (f"avg({name})", lambda rows, _: sum(values(rows)) // len(values(rows))
             if values(rows) else None),
            (f"percentile({name},{percent})", lambda rows, _: ranked(rows, percent)),
            (f"median({name})", lambda rows, _: ranked(rows, 50)),
            (f"variance({name})", lambda rows, _: spread(rows)),
            (f"ratio({name},{other})", lambda rows, _: ratio(rows)),
            (f"scale({name},0.25)", lambda rows, _: 0.25 * sum(values(rows))
             if values(rows) else None),
            (f"histogram({name})", lambda rows, _: histogram(rows)),
            (f"percent_total({name})", share),
        ))

    def question(self):
        """A query, and the rows that it should give, in any order."""
        keys = self.dice.sample(KEYS, self.dice.randint(0, 3))
        sums = [self.aggregation() for _ in range(self.dice.randint(1, 3))]
        text = "SELECT " + ",".join(keys + [name for name, _ in sums]) + " FROM blocks"
        rows = self.rows
        if self.dice.random() < 0.8:
            where, holds = self.condition()
            text += f" WHERE {where}"
            rows = [row for row in rows if holds(row)]
        if keys:
            text += " GROUP BY " + ",".join(keys)
        groups = {}
        for row in rows:
            groups.setdefault(tuple(row.get(key) for key in keys), []).append(row)
        if not keys:
            groups.setdefault((), [])
        answer = [key + tuple(fill(members, rows) for _, fill in sums)
                  for key, members in groups.items()]
        if self.dice.random() < 0.3:
            least = self.dice.randint(1, 5)
            text += f" HAVING count() >= {least}"
            answer = [row for row, members in zip(answer, groups.values())
                      if len(members) >= least]
        return text, answer


def ask(trace, query):
    done = subprocess.run([tide.TIDEMARK, "query", "--json", trace, query],
                          capture_output=True, timeout=300, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{query}: {done.stderr.decode()}")
    return [tuple(row) for row in json.loads(done.stdout)["rows"]]


def same(one, other):
    """Equal, up to the last digits of real numbers."""
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and math.isclose(
            one, other, rel_tol=1e-9, abs_tol=1e-6)
    return one == other


def order(row):
    return tuple(str(round(cell, 3) if isinstance(cell, float) else cell) for cell in row)


def check(case, trace, dice, count):
    asker = Asker(blocks(trace), dice)
    case.assertGreater(len(asker.rows), 10)
    for _ in range(count):
        query, wanted = asker.question()
        found = ask(trace, query)
        wanted.sort(key=order)
        found.sort(key=order)
        case.assertEqual(len(found), len(wanted), query)
        for one, other in zip(found, wanted):
            case.assertTrue(all(map(same, one, other)), f"{query}\n{one}\n{other}")
