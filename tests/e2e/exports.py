"""tests/e2e/exports.py - export traces and read them back: what tests of exports share.

The readers are others': protoc and protobuf with pprof's own profile.proto, speedscope's
own schema, callgrind_annotate, sqlite3, Python's csv and json.
"""
import collections
import csv
import functools
import gzip
import importlib
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

import tide

PROFILE_PROTO = "/usr/share/gocode/src/github.com/google/pprof/proto/profile.proto"
SPEEDSCOPE_SCHEMA = os.path.join(
    tide.SOURCE, ".cache/readers/node_modules/speedscope/dist/release",
    "file-format-schema.json")
VIEWS = ("peak", "leaks", "total", "churn")
# callgrind's events, in the order of the file: view, bytes or not
EVENTS = [(view, counts) for view in VIEWS for counts in (False, True)]
_FOLDERS = tempfile.TemporaryDirectory(prefix="tide-exports-")  # gone when we are


def new_folder():
    return tempfile.mkdtemp(dir=_FOLDERS.name)


def export(trace, form, *options, status=0):
    """The bytes of an export."""
    done = subprocess.run([tide.TIDEMARK, "export", "--to", form, *options, trace],
                          capture_output=True, timeout=300, check=False)
    if done.returncode != status:
        raise AssertionError(f"export --to {form}: {done.stderr}")
    return done.stdout


def totals(trace, space="heap"):
    """(view, counts) -> total, as the report has it."""
    found = {}
    for view in VIEWS:
        report = tide.report(trace, f"--{view}", "--no-suppressions", "--space", space,
                             "-n", "1")
        found[view, False] = report["total_bytes"]
        found[view, True] = report["total_calls"]
    return found


def space_of(report, space):
    return next(row for row in report["spaces"] if row["space"] == space)


def stack_rows(trace, view, space="heap"):
    return tide.report(trace, f"--{view}", "--stacks", "--no-suppressions", "--no-fold",
                       "--space", space)["rows"]


# --- pprof ---------------------------------------------------------------------------

@functools.cache
def _profile_class():
    folder = new_folder()
    subprocess.run(["protoc", "-I", os.path.dirname(PROFILE_PROTO), "--python_out", folder,
                    PROFILE_PROTO], check=True, timeout=60)
    sys.path.insert(0, folder)
    return importlib.import_module("profile_pb2").Profile


def read_pprof(data):
    """The profile, after what pprof itself checks of one (CheckValid)."""
    profile = _profile_class().FromString(gzip.decompress(data))
    assert profile.string_table[0] == ""
    ids = {}
    for kind in ("mapping", "location", "function"):
        ids[kind] = {item.id: item for item in getattr(profile, kind)}
        assert len(ids[kind]) == len(getattr(profile, kind)), f"{kind}: an id twice"
        assert 0 not in ids[kind], f"{kind}: id 0"
    for sample in profile.sample:
        assert len(sample.value) == len(profile.sample_type)
        assert sample.location_id, "a sample without a location"
        assert all(place in ids["location"] for place in sample.location_id)
    for location in profile.location:
        assert not location.mapping_id or location.mapping_id in ids["mapping"]
        assert all(line.function_id in ids["function"] for line in location.line)
    return profile, ids


def pprof_sums(profile):
    """sample type -> sum"""
    names = [profile.string_table[kind.type] for kind in profile.sample_type]
    return {name: sum(sample.value[i] for sample in profile.sample)
            for i, name in enumerate(names)}


def pprof_stacks(profile, ids):
    """For each sample: (function, file, line) innermost first, and its values."""
    text = profile.string_table
    for sample in profile.sample:
        calls = []
        for place in sample.location_id:
            for line in ids["location"][place].line:
                function = ids["function"][line.function_id]
                calls.append((text[function.name], text[function.filename], line.line))
        yield calls, sample.value


# --- callgrind -----------------------------------------------------------------------

def annotate(path, *options):
    """callgrind_annotate: the totals, and (function, object) -> costs."""
    done = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--show-percs=no", "--auto=no",
         *options, path], capture_output=True, text=True, timeout=120, check=False,
        cwd="/proc")  # it shortens callers' files below its folder, and not callees'
    if done.returncode or done.stderr:
        raise AssertionError(done.stderr or done.stdout)
    total, functions = None, collections.defaultdict(lambda: [0] * len(EVENTS))
    number = r"((?:[\d,.]+\s+){%d})" % len(EVENTS)
    for line in done.stdout.splitlines():
        found = re.match(r"\s*" + number + r" ?(.*)$", line)
        if not found:
            continue
        costs = [int(word.replace(",", "").replace(".", "0"))
                 for word in found.group(1).split()]
        if found.group(2) == "PROGRAM TOTALS":
            total = costs
            continue
        name, module = re.fullmatch(r"[^:]*:(.*) \[(.*)\]", found.group(2)).groups()
        sums = functions[name, module]
        for i, cost in enumerate(costs):
            sums[i] += cost
    return total, functions


# --- Tables --------------------------------------------------------------------------

def read_csv(data, delimiter=","):
    quoting = csv.QUOTE_MINIMAL if delimiter == "," else csv.QUOTE_NONE
    text = io.StringIO(data.decode(), newline="")
    return list(csv.DictReader(text, delimiter=delimiter, quoting=quoting, strict=True))


def read_ndjson(data):
    return [json.loads(line) for line in data.decode().splitlines()]


def database(trace, *options):
    """An SQLite export, opened, after sqlite3 has looked at it."""
    path = os.path.join(new_folder(), "x.db")
    export(trace, "sqlite", "-o", path, *options)
    checked = subprocess.run(["sqlite3", path, "PRAGMA integrity_check"], check=True,
                             capture_output=True, text=True, timeout=120)
    assert checked.stdout == "ok\n", checked.stdout
    return sqlite3.connect(path)


def wrong_sites(data):
    """Stacks of which blocks (all of them) and sites tell different stories."""
    return data.execute("""SELECT * FROM (SELECT space, stack_id,
        COUNT(*) AS calls, SUM(size) AS bytes, SUM(live_bytes) AS left,
        SUM(death_s IS NOT NULL) AS dead FROM blocks GROUP BY space, stack_id)
        FULL JOIN sites USING (space, stack_id)
        WHERE calls IS NOT alloc_calls OR bytes IS NOT allocated_bytes
        OR left IS NOT live_bytes OR dead IS NOT freed_calls""").fetchall()


def record(name, *arguments):
    """The trace of a test program, kept by whoever asks first."""
    key = (name, arguments)
    if key not in _RECORDED:
        folder = tide.PROGRAMS if name != "tide_pool" else os.environ["TIDEMARK_EXAMPLES"]
        _RECORDED[key] = tide.Recorded([os.path.join(folder, name), *arguments],
                                       folder=new_folder())
    return _RECORDED[key]


_RECORDED = {}
