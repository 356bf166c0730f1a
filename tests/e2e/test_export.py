"""tests/e2e/test_export.py - every export, read back by others, says what the report says."""
import collections
import functools
import gzip
import json
import os
import subprocess

import jsonschema

import exports
import igprof_reader
import tide

# What is exported: program, arguments, spaces it uses.
RUNS = [
    ("new_delete", (), ("heap",)),
    ("ground_threads", ("4", "3000"), ("heap",)),
    ("maps", (), ("mmap",)),
    ("tide_pool", (), ("heap",)),
    ("family", (), ("heap",)),
    ("odd_names", (), ("heap",)),
]


def each_run(test):
    """Let TEST(self, name, trace, space) be done for all runs and their spaces."""
    @functools.wraps(test)
    def all_runs(self):
        for name, arguments, spaces in RUNS:
            trace = exports.record(name, *arguments).trace
            for space in spaces:
                with self.subTest(program=name, space=space):
                    test(self, name, trace, space)
    return all_runs


class Profiles(tide.Case):
    @each_run
    def test_pprof_adds_up(self, name, trace, space):
        totals = exports.totals(trace, space)
        profile, _ = exports.read_pprof(
            exports.export(trace, "pprof", "--space", space))
        self.assertEqual(exports.pprof_sums(profile), {
            "alloc_objects": totals["total", True],
            "alloc_space": totals["total", False],
            "inuse_objects": totals["leaks", True],
            "inuse_space": totals["leaks", False],
            "peak_objects": totals["peak", True],
            "peak_space": totals["peak", False]}, name)
        self.assertGreater(totals["total", False], 0)

    @each_run
    def test_pprof_has_the_stacks_of_the_report(self, _, trace, space):
        profile, ids = exports.read_pprof(
            exports.export(trace, "pprof", "--space", space))
        found = collections.defaultdict(list)
        for calls, values in exports.pprof_stacks(profile, ids):
            found[calls[0], values[1], values[0]].append(calls)
        for row in exports.stack_rows(trace, "total", space):
            calls = [(call["function"], call["file"] or "", call["line"] or 0)
                     for call in row["stack"]]
            stacks = found[calls[0], row["bytes"], row["calls"]]
            # The report leaves out what starts a program or a thread.
            match = [stack for stack in stacks if stack[:len(calls)] == calls]
            self.assertTrue(match, row)
            stacks.remove(match[0])
        self.assertFalse([key for key, left in found.items() if left])

    def test_pprof_names_files_and_build_ids(self):
        trace = exports.record("tide_pool").trace
        profile, ids = exports.read_pprof(exports.export(trace, "pprof"))
        text = profile.string_table
        modules = {module["path"]: module["build_id"]
                   for module in tide.info(trace)["modules"]}
        self.assertEqual({text[m.filename]: text[m.build_id] for m in profile.mapping},
                         modules)
        self.assertTrue(text[profile.mapping[0].filename].endswith("tide_pool"))
        inlined = [place for place in profile.location if len(place.line) > 1]
        self.assertTrue(inlined, "tide_pool has inlined functions")
        for place in profile.location:
            mapping = ids["mapping"][place.mapping_id]
            self.assertTrue(mapping.memory_start <= place.address < mapping.memory_limit)
        self.assertEqual(text[profile.default_sample_type], "peak_space")
        self.assertEqual(profile.period, 1)

    @each_run
    def test_folded_is_the_tree(self, name, trace, space):
        for view in exports.VIEWS:
            report = tide.report(trace, f"--{view}", "--tree", "--no-suppressions", "--no-fold",
                                 "--space", space, "-n", "0")
            wanted = collections.Counter()
            self.flatten(report["rows"], (), wanted)
            self.assertEqual(self.folded(trace, view, space), wanted, name)
            self.assertEqual(sum(wanted.values()), report["total_bytes"])

    def flatten(self, rows, above, sums):
        for row in rows:
            path = above + (row["function"].replace(";", ":"),)
            if row["self_bytes"]:
                sums[path] += row["self_bytes"]
            self.flatten(row["children"], path, sums)

    @staticmethod
    def folded(trace, view, space):
        sums = collections.Counter()
        data = exports.export(trace, "folded", f"--{view}", "--space", space)
        for line in data.decode().splitlines():
            stack, _, count = line.rpartition(" ")
            sums[tuple(stack.split(";"))] += int(count)
        return sums

    def test_folded_shows_the_peak_unless_told(self):
        trace = exports.record("tide_pool").trace
        self.assertEqual(exports.export(trace, "folded"),
                         exports.export(trace, "folded", "--peak"))
        self.assertNotEqual(exports.export(trace, "folded"),
                            exports.export(trace, "folded", "--total"))

    @each_run
    def test_speedscope_keeps_its_schema(self, name, trace, space):
        with open(exports.SPEEDSCOPE_SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)
        data = json.loads(exports.export(trace, "speedscope", "--space", space))
        jsonschema.validate(data, schema)
        totals = exports.totals(trace, space)
        frames = data["shared"]["frames"]
        self.assertEqual(len(data["profiles"]), len(exports.EVENTS), name)
        for profile, (view, counts) in zip(data["profiles"], exports.EVENTS):
            self.assertEqual(profile["endValue"], totals[view, counts])
            self.assertEqual(sum(profile["weights"]), totals[view, counts])
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            if counts:
                continue
            sums = collections.Counter()
            for stack, weight in zip(profile["samples"], profile["weights"]):
                names = tuple(frames[i]["name"].replace(";", ":") for i in stack)
                sums[names] += weight
            self.assertEqual(sums, self.folded(trace, view, space))


class Callgrind(tide.Case):
    @staticmethod
    def write(trace, space):
        path = os.path.join(exports.new_folder(), "callgrind.out")
        exports.export(trace, "callgrind", "--space", space, "-o", path)
        return path

    @each_run
    def test_totals_and_functions(self, name, trace, space):
        path = self.write(trace, space)
        totals = exports.totals(trace, space)
        total, alone = exports.annotate(path)
        _, inclusive = exports.annotate(path, "--inclusive=yes")
        self.assertEqual(total, [totals[event] for event in exports.EVENTS], name)
        for i, (view, counts) in enumerate(exports.EVENTS):
            key = "calls" if view in ("total", "churn") else "blocks"
            own, below = ((key, "inclusive_calls") if counts
                          else ("bytes", "inclusive_bytes"))
            rows = tide.report(trace, f"--{view}", "--flat", "--no-suppressions", "--no-fold",
                               "--space", space)["rows"]
            self.assertEqual(
                self.column(alone, i),
                self.nonzero(((r["function"], r["module"]), r[own]) for r in rows))
            first = {key: costs for key, costs in inclusive.items()
                     if not key[0].endswith("'2") and key[0] != "[all]"}
            self.assertEqual(
                self.column(first, i),
                self.nonzero(((r["function"], r["module"]), r[below]) for r in rows))

    def column(self, functions, i):
        """Event number I of all functions; those below themselves with themselves."""
        return self.nonzero(((name.removesuffix("'2"), module), costs[i])
                            for (name, module), costs in functions.items())

    @staticmethod
    def nonzero(pairs):
        sums = collections.Counter()
        for (name, module), value in pairs:
            if value:
                sums[name, module or "???"] += value
        return sums

    def test_lines_are_those_of_the_calls(self):
        trace = exports.record("tide_pool").trace
        with open(self.write(trace, "heap"), encoding="utf-8") as file:
            text = file.read()
        flat = {row["function"]: row for row in
                tide.report(trace, "--peak", "--flat", "--no-fold")["rows"]}
        row = flat["build_pool"]
        self.assertRegex(text, rf"fn=\(\d+\) build_pool\n{row['line']} {row['bytes']} 1 ")


class IgProf(tide.Case):
    @each_run
    def test_counters_are_the_reports(self, name, trace, space):
        if space != "heap":
            return
        profile = igprof_reader.Profile(exports.export(trace, "igprof").decode())
        totals = exports.totals(trace, space)
        for counter, view in (("MEM_TOTAL", "total"), ("MEM_LIVE", "leaks"),
                              ("MEM_LIVE_PEAK", "peak")):
            self.assertEqual(profile.total(counter),
                             (totals[view, True], totals[view, False]), (name, counter))
        for node in profile.nodes:
            calls, bytes_, _ = node.counters.get("MEM_LIVE", (0, 0, 0))
            self.assertEqual((len(node.blocks), sum(size for _, size in node.blocks)),
                             (calls, bytes_))
        self.assertEqual(sorted(size for node in profile.nodes for _, size in node.blocks),
                         sorted(int(block["live_bytes"]) for block in exports.read_csv(
                             exports.export(trace, "csv")) if block["space"] == "heap"))

    def test_functions_without_arguments(self):
        profile = igprof_reader.Profile(
            exports.export(exports.record("new_delete").trace, "igprof").decode())
        self.assertEqual(profile.program, "new_delete")
        self.assertEqual(profile.of("main", "MEM_TOTAL")[0],
                         exports.totals(exports.record("new_delete").trace, "heap")
                         ["total", True] - profile.of("[before start]", "MEM_TOTAL")[0])

    def test_one_process_of_many(self):
        trace = exports.record("family").trace
        pids = [process["pid"] for process in tide.info(trace)["processes"]]
        once = [pid for pid in pids if pids.count(pid) == 1]  # not by exec
        self.assertTrue(once)
        made = [block for block in exports.read_csv(exports.export(trace, "csv", "--all"))
                if block["space"] == "heap"]
        for pid in once:
            part = igprof_reader.Profile(
                exports.export(trace, "igprof", "--pid", str(pid)).decode())
            sizes = [int(block["size"]) for block in made if block["pid"] == str(pid)]
            self.assertEqual((part.pid, part.total("MEM_TOTAL")),
                             (pid, (len(sizes), sum(sizes))))
        done = subprocess.run([tide.TIDEMARK, "export", "--to", "igprof", "--pid", "1", trace],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no process in it has the pid 1", done.stderr)

    def test_compressed_by_its_name(self):
        trace = exports.record("new_delete").trace
        path = os.path.join(tide.FOLDER, "profile.gz")
        exports.export(trace, "igprof", "-o", path)
        with gzip.open(path) as file:
            self.assertEqual(file.read(), exports.export(trace, "igprof"))


class Chrome(tide.Case):
    def read(self, trace):
        return json.loads(exports.export(trace, "chrome"))["traceEvents"]

    @staticmethod
    def counter(events, pid, name):
        points = [(event["ts"], event["args"]["bytes"]) for event in events
                  if event["ph"] == "C" and (event["pid"], event["name"]) == (pid, name)]
        return [value for _, value in points], [when for when, _ in points]

    @each_run
    def test_counters_reach_the_peak_and_end_as_the_run_did(self, name, trace, space):
        if name == "family":  # see below
            return
        report = tide.report(trace)
        process, = tide.info(trace)["processes"]
        values, times = self.counter(self.read(trace), process["pid"], space)
        wanted = exports.space_of(report, space)
        self.assertEqual(max(values), wanted["peak_bytes"], name)
        self.assertEqual(times, sorted(times))
        self.assertEqual(values[-1], 0)  # the process is gone
        left = values[-2] if wanted["live_bytes"] else 0
        self.assertEqual(left, wanted["live_bytes"])
        self.assertLessEqual(times[-1], report["duration_s"] * 1e6 + 1)

    def test_all_processes_together(self):
        trace = exports.record("family").trace
        report = tide.report(trace)
        events = self.read(trace)
        values, _ = self.counter(events, 0, "heap")
        self.assertEqual(max(values), report["summary"]["peak_bytes"])
        named = {event["pid"] for event in events if event["name"] == "process_name"}
        self.assertEqual(named, {0} | {process["pid"]
                                       for process in tide.info(trace)["processes"]})

    def test_threads_and_regions(self):
        trace = exports.record("odd_names").trace
        events = self.read(trace)
        info = tide.info(trace)
        names = {event["tid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        self.assertEqual(names, {t["tid"]: t["name"] for t in info["threads"]})
        slices = [(event["ph"], event.get("name"), event["tid"]) for event in events
                  if event["ph"] in "BE"]
        odd = 'odd;name, "quoted"\ttab\nline\033[31m\\xff'
        thread = max(names)
        self.assertEqual(slices, [("B", odd, thread), ("E", odd, thread),
                                  ("B", "never ends", thread), ("E", "never ends", thread)])

    def test_marks(self):
        events = self.read(exports.record("marks").trace)
        self.assertEqual(
            [event.get("name") for event in events if event["ph"] in "BEi"],
            ["set-up", "set-up"] +
            [word for i in range(5) for word in (f"event {i}", "solve", "solve")] +
            ["before the end"])


class Blocks(tide.Case):
    def check_sums(self, blocks, trace, everything):
        """BLOCKS (dicts of numbers) are those that the report counted."""
        report = tide.report(trace)
        for space in ("heap", "mmap"):
            wanted = exports.space_of(report, space)
            rows = [row for row in blocks if row["space"] == space]
            live = [row for row in rows if row["death_s"] is None]
            self.assertEqual(len(live), wanted["live_blocks"])
            self.assertEqual(sum(row["live_bytes"] for row in rows),
                             wanted["live_bytes"])
            if everything:
                self.assertEqual(len(rows), wanted["alloc_calls"])
                self.assertEqual(sum(row["size"] for row in rows),
                                 wanted["allocated_bytes"])
            else:
                self.assertEqual(rows, live)

    @each_run
    def test_three_formats_say_the_same(self, name, trace, _):
        for options in ((), ("--all",)):
            rows = exports.read_ndjson(exports.export(trace, "ndjson", *options))
            self.check_sums(rows, trace, bool(options))
            if name == "odd_names":  # JSON escapes in its own way
                continue
            words = [{key: "" if value is None else
                      f"{value:.9f}" if isinstance(value, float) else str(value)
                      for key, value in row.items()} for row in rows]
            table = exports.read_csv(exports.export(trace, "csv", *options))
            self.assertEqual(table, words)
            table = exports.read_csv(exports.export(trace, "tsv", *options), "\t")
            self.assertEqual(table, words)

    def test_threads_stand_with_their_blocks(self):
        recorded = exports.record("ground_threads", "4", "3000")
        rows = exports.read_ndjson(exports.export(recorded.trace, "ndjson", "--all"))
        tids = {thread["tid"] for thread in tide.info(recorded.trace)["threads"]}
        self.assertEqual({row["tid"] for row in rows}, tids)
        self.assertLessEqual({row["death_tid"] for row in rows} - {None}, tids)
        foreign = [row for row in rows if row["death_tid"] not in (None, row["tid"])]
        self.assertTrue(foreign, "threads free each other's blocks")
        for row in rows:
            if row["death_s"] is not None:
                self.assertGreaterEqual(row["death_s"], 0)
        self.assertEqual(sorted(row["id"] for row in rows),
                         list(range(1, len(rows) + 1)))

    def test_a_block_that_moved_knows_where_from(self):
        trace = exports.record("tide_pool").trace
        rows = {row["id"]: row for row in
                exports.read_ndjson(exports.export(trace, "ndjson", "--all"))}
        moved = [row for row in rows.values() if row["moved_from"]]
        self.assertEqual(len(moved), tide.report(trace)["summary"]["realloc_calls"])
        for row in moved:
            old = rows[row["moved_from"]]
            self.assertEqual(old["death_s"], row["birth_s"])
            self.assertLess(old["id"], row["id"])

    def test_odd_names_stay_in_their_fields(self):
        trace = exports.record("odd_names").trace
        escaped = 'odd;name, "quoted"\\x09tab\\x0aline\\x1b[31m\\xff'
        rows = exports.read_csv(exports.export(trace, "csv"))
        self.assertEqual([(row["label"], row["function"]) for row in rows
                          if row["size"] == "1234"], [(escaped, "odd;name, (x) <y>")])
        rows = exports.read_csv(exports.export(trace, "tsv"), "\t")
        self.assertEqual([row["label"] for row in rows if row["size"] == "1234"],
                         [escaped])
        labels = exports.database(trace).execute(
            "SELECT label FROM blocks WHERE size = 1234").fetchall()
        self.assertEqual(labels, [(escaped,)])


class Tables(tide.Case):
    def rows(self, database, sql):
        return database.execute(sql).fetchall()

    @each_run
    def test_summary_and_sites(self, name, trace, space):
        database = exports.database(trace)
        database.row_factory = lambda cursor, row: {
            column[0]: value for column, value in zip(cursor.description, row)}
        wanted = exports.space_of(tide.report(trace), space)
        found, = self.rows(database, f"SELECT * FROM summary WHERE space = '{space}'")
        for key, value in found.items():
            if key == "peak_time_s":
                self.assertAlmostEqual(value, wanted[key], 6)
            else:
                self.assertEqual(value, wanted[key], (name, key))
        sums, = self.rows(database, f"""SELECT SUM(alloc_calls) AS alloc_calls,
            SUM(allocated_bytes) AS allocated_bytes, SUM(live_bytes) AS live_bytes,
            SUM(live_blocks) AS live_blocks, SUM(peak_bytes) AS peak_bytes,
            SUM(peak_blocks) AS peak_blocks, SUM(temporary_calls) AS temporary_calls,
            SUM(temporary_bytes) AS temporary_bytes
            FROM sites WHERE space = '{space}'""")
        self.assertEqual(sums, {key: wanted[key] for key in sums})

    @each_run
    def test_blocks_belong_to_their_sites(self, name, trace, _):
        database = exports.database(trace, "--all")
        self.assertEqual(exports.wrong_sites(database), [], name)
        self.assertTrue(self.rows(database, "SELECT 1 FROM blocks LIMIT 1"))

    @each_run
    def test_stacks_are_those_of_the_report(self, _, trace, space):
        database = exports.database(trace)
        found = collections.defaultdict(list)
        for stack, size, calls in self.rows(database, f"""SELECT stack_id,
                allocated_bytes, alloc_calls FROM sites WHERE space = '{space}'"""):
            frames = self.rows(database, f"""SELECT function, file, line
                FROM stack_frames JOIN frames ON frames.id = frame_id
                WHERE stack_id = {stack} ORDER BY position""")
            found[frames[0], size, calls].append(frames)
        for row in exports.stack_rows(trace, "total", space):
            calls = [(call["function"], call["file"], call["line"])
                     for call in row["stack"]]
            stacks = found[calls[0], row["bytes"], row["calls"]]
            self.assertTrue([s for s in stacks if s[:len(calls)] == calls], row)

    def test_by_function_is_inclusive(self):
        trace = exports.record("tide_pool").trace
        rows = dict(self.rows(exports.database(trace),
                              "SELECT function, peak_bytes FROM by_function"))
        for row in tide.report(trace, "--peak", "--flat", "--no-fold")["rows"]:
            self.assertEqual(rows[row["function"]], row["inclusive_bytes"])


if __name__ == "__main__":
    tide.main()
