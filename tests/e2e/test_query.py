"""tests/e2e/test_query.py - queries, against what programs counted themselves, what the
report says, and readers of their own."""
import json
import os
import subprocess
import tempfile

import cali_reader
import exports
import tide

NASTY = 'bad\x1b[2J,"name"'
TREE = "SELECT function,count() GROUP BY function WHERE mem.alloc FORMAT tree"
LABELS = "SELECT mem.alloc,count() GROUP BY mem.alloc WHERE mem.alloc FORMAT table"
SIZES = ("SELECT mem.alloc,alloc.total_size,count() "
         "GROUP BY mem.alloc,alloc.total_size WHERE mem.alloc FORMAT table")


def query(*words, status=0, text=None):
    done = subprocess.run([tide.TIDEMARK, "query", *words], capture_output=True, text=True,
                          input=text, timeout=300, check=False)
    if done.returncode != status:
        raise AssertionError(f"{words}: {done.returncode}: {done.stderr}")
    return done.stderr if status else done.stdout


def rows(trace, text):
    return [tuple(row) for row in json.loads(query("--json", trace, text))["rows"]]


class Tutorial(tide.Case):
    """The tutorial's three questions about tests/programs/phases.c."""

    @classmethod
    def setUpClass(cls):
        cls.recorded = exports.record("phases")
        cls.own = cls.recorded.own_count()

    def test_allocations_per_function(self):
        counts = dict(rows(self.recorded.trace, TREE))
        self.assertEqual(counts["main"], 1)
        self.assertEqual(counts["main/solve"], 101 + 101 + self.own["churn"])
        self.assertEqual(counts["main/" + NASTY], 1 + 1)
        self.assertEqual(counts["produce"], self.own["handed"])

    def test_tree_is_laid_out_as_in_the_tutorial(self):
        lines = query(self.recorded.trace, TREE).splitlines()
        width = len("  bad\\x1b[2J,\"name\"")
        self.assertEqual(lines[0], "Path".ljust(width) + " count ")
        self.assertEqual(lines[1], "main".ljust(width) + "     1 ")
        self.assertEqual(lines[2], "  solve".ljust(width) + "   302 ")

    def test_labels_stand_beside_their_allocations(self):
        """And in one row with them, as block.label."""
        labels = {"row": 100, "matrix": 1, NASTY: 1}
        calls = self.recorded.report()["summary"]["alloc_calls"]
        for counts, total in (
                (dict(rows(self.recorded.trace, LABELS)), calls + 102),
                (dict(rows(self.recorded.trace, "SELECT block.label,count() WHERE "
                                                "block.label GROUP BY block.label")), calls),
                (dict(rows(self.recorded.trace, "SELECT mem.alloc,count() FROM blocks "
                                                "GROUP BY mem.alloc")), calls)):
            self.assertEqual({name: counts[name] for name in labels}, labels)
            self.assertEqual(sum(counts.values()), total)

    def test_labels_by_size(self):
        counts = {row[:2]: row[2] for row in rows(self.recorded.trace, SIZES)}
        self.assertEqual(counts["row", 200], 100)
        self.assertEqual(counts["matrix", 7000], 1)
        self.assertEqual(counts["malloc", 64], self.own["churn"])
        self.assertEqual(counts["malloc", 1000], self.own["handed"])

    def test_through_calipers_variables(self):
        for services, options in (("alloc,sysalloc,trace,report", ()),
                                  ("alloc:sysalloc:trace:report", ()),
                                  ("alloc,trace,report", ("--labelled",))):
            env = dict(os.environ, CALI_SERVICES_ENABLE=services, CALI_REPORT_CONFIG=LABELS)
            with tempfile.TemporaryDirectory() as folder:
                run = tide.Recorded([tide.program("phases")], env=env, folder=folder)
                answer = query(*options, run.trace, LABELS)
            self.assertEqual(run.stdout.split("\n", 1)[1], answer)
            self.assertEqual("malloc" in answer, "sysalloc" in services)

    def test_variables_that_are_not_followed_are_said(self):
        every = "alloc,sysalloc,trace,report,event,timer"
        for variables, options, said in (
                ({"CALI_CONFIG": "runtime-report"}, (), ["CALI_CONFIG=runtime-report"]),
                ({"CALI_SERVICES_ENABLE": every + ":allocsize,memstat",
                  "CALI_REPORT_CONFIG": LABELS}, (), ["alloc.tally", "memstat.vmrss"]),
                ({"CALI_SERVICES_ENABLE": every + ",nix,recorder",
                  "CALI_REPORT_CONFIG": LABELS}, (), ["nix is ignored", "no .cali file"]),
                ({"CALI_SERVICES_ENABLE": every}, (), ["CALI_REPORT_CONFIG is not set"]),
                ({"CALI_REPORT_CONFIG": LABELS}, (), ["has no report"]),
                ({"CALI_SERVICES_ENABLE": every, "CALI_REPORT_CONFIG": LABELS}, (), []),
                ({"CALI_SERVICES_ENABLE": every, "CALI_REPORT_CONFIG": LABELS},
                 ("--query", TREE), ["--query is answered"]),
                ({"CALI_CONFIG": "runtime-report"}, ("-q",), [])):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [tide.TIDEMARK, "run", "-o", os.path.join(folder, "t.tide"), *options,
                     "--", tide.program("phases")], env=dict(os.environ, **variables),
                    capture_output=True, text=True, timeout=120, check=True)
            lines = [line for line in done.stderr.splitlines() if "CALI_" in line]
            self.assertEqual(len(lines), len(said), lines)
            for line, words in zip(lines, said):
                self.assertIn(words, line)

    def test_run_refuses_a_mistake_before_it_starts(self):
        with tempfile.TemporaryDirectory() as folder:
            run = tide.Recorded([tide.program("phases")], ("--query", "SELECT sise"),
                                folder=folder)
            self.assertFalse(os.path.exists(run.trace))
        self.assertEqual(run.status, 2)
        self.assertEqual(run.stdout, "")
        self.assertIn("did you mean 'size'", run.done.stderr)


class LabelsOfCycles(tide.Case):
    """The three questions about arrays that are labelled again in each cycle."""
    CYCLES = 40

    @classmethod
    def setUpClass(cls):
        cls.recorded = exports.record("label_cycles", str(cls.CYCLES))
        cls.own = cls.recorded.own_count()

    def known(self, text, said):
        """The answer to TEXT, less what the C library allocates for itself."""
        wanted = {tuple(row[:-1]): row[-1] for row in said}
        found = {row[:-1]: row[-1] for row in rows(self.recorded.trace, text)}
        return {key: found.get(key) for key in wanted}, wanted

    def test_per_function(self):
        found, wanted = self.known(TREE, self.own["functions"].items())
        self.assertEqual(found, wanted)

    def test_per_label(self):
        where = " WHERE function=main AND "
        found, wanted = self.known(LABELS.replace(" WHERE ", where), self.own["labels"])
        self.assertEqual(found, wanted)
        self.assertEqual(wanted["delv_xi",], self.CYCLES)

    def test_per_size(self):
        found, wanted = self.known(SIZES, self.own["sizes"])
        self.assertEqual(found, wanted)
        self.assertEqual((wanted["malloc", 259200], wanted["malloc", 238328]), (3, 13))

    def test_what_each_region_made_itself(self):
        """As Caliper's allocstats counts it: the most that ever lived at once."""
        found = dict(rows(self.recorded.trace, "SELECT region,max(alloc.tally) FROM regions "
                                               "GROUP BY region"))
        self.assertEqual(found, {
            "main": 0, "main/loop": 0, "main/loop/forces": 1728000,
            "main/set_up": 13 * 238328 + 3 * 216000 + 864000,
            "main/loop/viscosity": 3 * 259200 + 3 * 216000})

    def test_alloc_stats_of_calipers_recipes(self):
        """Calls and their sizes are of the region itself."""
        recorded = tide.Recorded(
            [tide.program("label_cycles"), "40"],
            env=dict(os.environ, CALI_CONFIG="runtime-report(alloc.stats,output=stdout)"))
        table = recorded.stdout[recorded.stdout.index("Path"):].splitlines()
        self.assertRegex(table[0], "^Path +Mem HWM +Alloc tMax +Alloc count +"
                                   "Avg Bytes/alloc +Max Bytes/alloc $")
        rows_of = {line.split()[0]: [float(word) for word in line.split()[1:]]
                   for line in table[1:]}
        self.assertEqual(rows_of["forces"][1:], [1728000, 480, 1728000, 1728000])
        self.assertEqual(rows_of["set_up"][1:], [4610264, 17, round(4610264 / 17, 6), 864000])
        self.assertEqual(rows_of["viscosity"][1:], [1425600, 6, 237600, 259200])
        self.assertGreaterEqual(rows_of["viscosity"][0], 4610264 + 1425600)

    def test_each_label_ends(self):
        """Where another begins at its place, or with its block."""
        ended = dict(rows(self.recorded.trace, "SELECT mem.free,count() WHERE mem.free "
                                               "GROUP BY mem.free"))
        for label, count in self.own["labels"]:
            if label != "malloc":
                self.assertEqual(ended.get(label, 0), 0 if label == "nodelist" else count)
        self.assertEqual(rows(self.recorded.trace, "SELECT sum(alloc.total_size) WHERE "
                                                   "function=main AND NOT kind"),
                         [(864000,)])


class LabelsOfAllPlaces(tide.Case):
    """Memory that no call allocated, a part of a block, more than a block."""

    @classmethod
    def setUpClass(cls):
        cls.recorded = exports.record("label_places")
        cls.own = cls.recorded.own_count()

    def ask(self, *words):
        done = query("--json", *words[:-1], self.recorded.trace, words[-1])
        return json.loads(done)["rows"]

    def test_each_makes_rows_and_only_these_count(self):
        """Without sysalloc there is nothing else."""
        asked = "SELECT mem.alloc,mem.free,mem.active,alloc.total_size WHERE alloc.address"
        self.assertEqual(self.ask("--labelled", asked), self.own["rows"])
        asked += ",NOT kind"
        self.assertEqual([row[:2] for row in self.ask(asked)],
                         [row[:2] for row in self.own["rows"]])

    def test_resolve_finds_them(self):
        table = int(self.own["table"], 16)
        answers = json.loads(subprocess.run(
            [tide.TIDEMARK, "resolve", "--json", self.recorded.trace,
             *(hex(table + offset) for offset in (0, 50, 149, 150, 200))],
            capture_output=True, text=True, check=True, timeout=60).stdout)["answers"]
        self.assertEqual([row["labelled"] and (row["labelled"]["label"],
                                               row["labelled"]["offset"]) for row in answers],
                         [("again", 0), ("inner", 0), ("inner", 99), ("again", 150), None])

    def test_addresses_are_found_in_them(self):
        """In the smallest that holds them."""
        for options in (), ("--labelled",):
            self.assertEqual(self.ask(*options, "SELECT alloc.label#looked.at,"
                                                "alloc.index#looked.at WHERE "
                                                "event.set#looked.at"), self.own["looks"])


class Attributes(tide.Case):
    """Regions are functions, loops and others: each kind is an attribute of its own."""

    @classmethod
    def setUpClass(cls):
        cls.trace = exports.record("caliper_marks").trace

    def test_each_kind_has_its_path(self):
        keys = "region,function,annotation,loop,phase,statement,comm.region"
        found = {row[0]: row[1:] for row in rows(
            self.trace, f"SELECT {keys},count() WHERE mem.alloc GROUP BY {keys}")}
        self.assertEqual(found["main/solve/cycle/copy"],
                         ("main", "solve", "cycle", None, "copy", None, 7))
        self.assertEqual(found["main/solve/cycle/compute"],
                         ("main/compute", "solve", "cycle", None, None, None, 14))
        self.assertEqual(found["main/set-up"], ("main", None, None, "set-up", None, None, 2))
        self.assertEqual(found["main/gather"], ("main", None, None, None, None, "gather", 1))

    def test_plain_regions_are_functions(self):
        trace = exports.record("phases").trace
        keys = "region,function,annotation"
        for region, function, annotation, _ in rows(
                trace, f"SELECT {keys},count() WHERE mem.alloc GROUP BY {keys}"):
            self.assertEqual((function, annotation), (region, None))

    def test_begins_and_ends_have_the_kind(self):
        def values(name):
            return [row[0] for row in rows(self.trace, f"SELECT {name} WHERE {name}")]
        self.assertEqual(values("event.begin#statement"), ["declare"] + ["copy"] * 7)
        self.assertEqual(values("event.end#function"), ["compute"] * 7 + ["by_name", "main"])
        self.assertEqual(values("event.begin#loop"), ["cycle"])
        self.assertEqual(values("event.end#phase"), ["set-up"])
        self.assertEqual(values("event.begin#iteration#cycle"), list(range(7)))
        self.assertEqual(len(values("event.set#pthread.id")), 1)

    def test_what_never_comes_is_refused(self):
        for name in ("event.set#size", "event.begin#leaf", "event.end#nix",
                     "event.begin#iteration#nix", "event.set#function"):
            self.assertIn("never sets", query(self.trace, f"SELECT {name}", status=2), name)

    def test_star_has_all_keys_once(self):
        """Those that the tutorial's notebook reads, and what else there is."""
        def once(pairs):
            self.assertEqual(len(dict(pairs)), len(pairs), pairs)
            return dict(pairs)
        wanted = {"mem.active", "time.offset", "iteration#cycle", "function", "loop",
                  "annotation", "phase", "event.set#pthread.id", "thread",
                  "event.begin#function", "event.end#loop", "event.begin#material",
                  "event.set#method", "mem.alloc", "mem.free", "alloc.total_size"}
        for more in "", ",thread,size,thread,region":
            done = query(self.trace, f"SELECT *{more} FORMAT json")
            found = json.loads(done, object_pairs_hook=once)
            self.assertEqual(wanted - {key for row in found for key in row}, set())
        for source in "blocks", "snapshots", "regions", "timeline":
            found = json.loads(query(self.trace, f"SELECT * FROM {source} FORMAT json"))
            self.assertEqual([(len(found),)], rows(self.trace, f"SELECT count() FROM {source}"))
        self.assertIn("two columns are called 'a'",
                      query(self.trace, "SELECT size AS a,kind AS a FORMAT json", status=2))


class Hydro(tide.Case):
    """The same about examples/hydro, against its own count, with the variables."""

    @classmethod
    def setUpClass(cls):
        cls.program = [os.path.join(os.environ["TIDEMARK_EXAMPLES"], "hydro"), "--count",
                       "--cycles", "12", "10"]

    def ask(self, text):
        """What the program printed of itself, and the answer that came after it."""
        env = dict(os.environ, CALI_REPORT_CONFIG=text,
                   CALI_SERVICES_ENABLE="alloc,sysalloc,trace,report")
        with tempfile.TemporaryDirectory() as folder:
            run = tide.Recorded(self.program, env=env, folder=folder)
            rows_of = rows(run.trace, text)
        own, _, answer = run.stdout.partition("}]}\n")
        own = json.loads(own[own.index("{"):] + "}]}")
        return own, answer, rows_of

    def test_allocations_per_function(self):
        own, answer, found = self.ask(TREE)
        wanted = {row["region"].replace("/cycle/", "/"): 2 * row["calls"]
                  for row in own["regions"] if row["calls"]}
        self.assertEqual({region: count for region, count in found if region in wanted},
                         wanted)
        self.assertGreater(len(wanted), 5)
        lines = answer.splitlines()
        self.assertRegex(lines[0], "^Path +count $")
        self.assertRegex(lines[1], "^main +$")
        self.assertRegex(answer, "(?m)^      fluxes +[0-9]+ $")
        self.assertEqual(len({len(line.rstrip()) for line in lines
                              if line.rstrip()[-1:].isdigit()}), 1)

    def test_labels_and_arenas(self):
        own, answer, found = self.ask(SIZES)
        wanted = {(row["label"], row["size"]): row["calls"] for row in own["arenas"]}
        self.assertEqual({row[:2]: row[2] for row in found if row[:2] in wanted}, wanted)
        self.assertRegex(answer, "^mem.alloc +alloc.total_size count \n")
        own, answer, found = self.ask(LABELS)
        totals = {row["label"]: row["calls"] for row in own["labels"]}
        self.assertEqual({label: count for label, count in found if label in totals}, totals)

    def test_iterations(self):
        _, _, found = self.ask("SELECT iteration#cycle,count() WHERE label=primitive,"
                               "mem.alloc GROUP BY iteration#cycle")
        self.assertEqual([count for _, count in found], [3] * 12)
        self.assertEqual([number for number, _ in found],
                         list(range(found[0][0], found[0][0] + 12)))

    def test_shapes(self):
        for source in ("FROM blocks WHERE label=primitive",
                       "WHERE block.label=primitive", "WHERE mem.free,label=primitive"):
            _, _, found = self.ask(f"SELECT shape,count() {source} GROUP BY shape")
            self.assertEqual(found, [("[14][14][14][5] of 8", 36)], source)


class Names(tide.Case):
    def ask(self, text, words=("echo", "hello")):
        with tempfile.TemporaryDirectory() as folder:
            run = tide.Recorded(words, folder=folder)
            return subprocess.run([tide.TIDEMARK, "query", run.trace, text],
                                  capture_output=True, text=True, check=True)

    def test_hyphens_and_underscores_are_alike(self):
        for one, other in (("usable", "usable-size"), ("usable", "usable_size"),
                           ("alloc.total_size", "alloc.total-size")):
            answers = [self.ask(f"SELECT sum({name}) AS s ORDER BY s").stdout
                       for name in (one, other)]
            self.assertEqual(*answers)

    def test_names_of_other_tools_lead_to_ours(self):
        run = tide.Recorded(["true"])
        for name, ours in (("bytes", "size"), ("tid", "thread"), ("dso", "module")):
            done = subprocess.run([tide.TIDEMARK, "query", run.trace, f"SELECT {name}"],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"did you mean '{ours}'?", done.stderr)

    def test_a_trace_from_standard_input_may_come_last(self):
        run = tide.Recorded(["true"])
        with open(run.trace, "rb") as file:
            answers = []
            for words in (("SELECT count()", "-"), ("-", "SELECT count()")):
                file.seek(0)
                answers.append(subprocess.run(
                    [tide.TIDEMARK, "query", *words], stdin=file, capture_output=True,
                    text=True, check=True).stdout)
            self.assertEqual(*answers)

    def test_a_function_without_regions_is_explained(self):
        none = self.ask("SELECT function,count() GROUP BY function")
        self.assertIn("'function' means the regions that the program marks", none.stderr)
        self.assertIn("GROUP BY leaf", none.stderr)
        self.assertEqual(self.ask("SELECT function").stderr, none.stderr)
        for text, words in (("SELECT function,count() GROUP BY function",
                             [tide.program("phases")]),
                            ("SELECT leaf,count() GROUP BY leaf", ["echo", "x"])):
            self.assertEqual(self.ask(text, words).stderr, "")


class RegionRules(tide.Case):
    def test_blocks_are_where_the_program_says(self):
        run = exports.record("region_rules")
        own = json.loads(run.stdout, object_pairs_hook=list)
        found = rows(run.trace, "SELECT size,region FROM blocks")
        for path, size in own:
            self.assertIn((size, path or None), found)


class Visits(tide.Case):
    """Regions and phases, also those that were never ended."""

    def test_same_as_the_report(self):
        for program in ("region_clock", "region_rules", "open_loop", "phases"):
            trace = exports.record(program).trace
            reported = {row["region"]: row["visits"]
                        for row in tide.report(trace, "--regions")["visits"]
                        if row["visits"]}
            with self.subTest(program=program):
                self.assertEqual(dict(rows(trace, "SELECT region,count() FROM regions "
                                                  "GROUP BY region")), reported)

    def test_time_is_counted_once(self):
        run = exports.record("region_clock")
        own = run.own_count()
        found = {row[0]: row[1:] for row in
                 rows(run.trace, "SELECT region,sum(duration),sum(time.duration),"
                                 "inclusive_sum(time.duration) FROM regions "
                                 "GROUP BY region")}
        self.assertEqual(rows(run.trace, "SELECT region,inclusive_sum(sum#time.duration) "
                                         "FROM regions GROUP BY region"),
                         [(path, row[2]) for path, row in found.items()])
        for path, (whole, alone, inclusive) in found.items():
            self.assertAlmostEqual(inclusive, whole, 6, path)
            self.assertLessEqual(alone, whole, path)
        for path, seconds in own.items():
            self.assertLessEqual(found[path][0], seconds, path)
        self.assertAlmostEqual(found["solve"][1],
                               found["solve"][0] - found["solve/inner"][0], 6)
        self.assertGreater(found["solve"][1], 0.06)
        self.assertGreater(found["setup/read"][1], 0.04)
        self.assertGreater(found["setup"][1], 0.03)


class SameAsTheReport(tide.Case):
    RUNS = (("phases",), ("ground_threads", "4", "2000"), ("all_calls",), ("new_delete",),
            ("family",), ("marks",), ("maps",))

    def test_sums(self):
        for run in self.RUNS:
            trace = exports.record(*run).trace
            summary = tide.report(trace)["summary"]
            with self.subTest(run=run):
                self.assertEqual(rows(trace, "SELECT count(),sum(size) WHERE block.label"),
                                 [(summary["alloc_calls"], summary["allocated_bytes"] or
                                   (0 if summary["alloc_calls"] else None))])
                found = rows(trace, "SELECT count(),sum(size) FROM blocks WHERE temporary")
                self.assertEqual((found[0][0], found[0][1] or 0),
                                 (summary["temporary_calls"], summary["temporary_bytes"]))
                found = rows(trace, "SELECT count(),sum(size) FROM blocks WHERE live")
                self.assertEqual((found[0][0], found[0][1] or 0),
                                 (summary["live_blocks"], summary["live_bytes"]))

    def test_peak(self):
        for run in self.RUNS:
            trace = exports.record(*run).trace
            peak = tide.report(trace)["summary"]["peak_bytes"]
            with self.subTest(run=run):
                found = rows(trace, "SELECT sum(size) FROM blocks WHERE peak")
                self.assertEqual(found[0][0] or 0, peak)
                found = rows(trace, "SELECT sum(size) FROM snapshots WHERE snapshot=peak")
                self.assertEqual(found[0][0] or 0, peak)

    def test_peak_of_what_is_mapped(self):
        """At a moment of its own; report --peak --space mmap has the same."""
        trace = exports.record("maps").trace
        wanted = tide.report(trace, "--peak", "--space", "mmap", "--flat")["rows"]
        (count, size), = rows(trace, "SELECT count(),sum(size) FROM blocks WHERE peak,"
                                     "space=mmap")
        self.assertEqual(count, sum(row["blocks"] for row in wanted))
        # 2 MiB of the 8 that were asked for were unmapped by then.
        self.assertEqual(size, sum(row["bytes"] for row in wanted) + (2 << 20))

    def test_labels_at_the_peak(self):
        """Also of blocks that get their label after it, or have lost it by then."""
        for program, blocks in (("told_loop", True), ("phases", True), ("unlabels", False),
                                ("relabels", False)):
            trace = exports.record(program).trace
            wanted = {row["label"]: row["bytes"] for row in
                      tide.report(trace, "--peak", "--labels")["rows"]}
            sources = ["snapshots WHERE snapshot=peak"] + ["blocks WHERE peak"] * blocks
            for source in sources:
                with self.subTest(program=program, source=source):
                    self.assertEqual(dict(rows(trace, f"SELECT label,sum(size) FROM {source} "
                                                      "GROUP BY label")), wanted)

    def test_spaces(self):
        trace = exports.record("maps").trace
        spaces = {row["space"]: row for row in tide.report(trace)["spaces"]}
        found = dict(rows(trace, "SELECT space,count() WHERE mem.alloc GROUP BY space"))
        self.assertEqual(found.get("mmap", 0), spaces["mmap"]["alloc_calls"])

    def test_pools_are_spaces(self):
        trace = exports.record("pools").trace
        for pool in tide.report(trace, "--pools")["pools"]:
            where = f"WHERE space={pool['pool']}"
            freed = pool["free_calls"] - pool["unmatched_frees"]
            self.assertEqual(rows(trace, f"SELECT count(),sum(size) {where},mem.alloc"),
                             [(pool["calls"], pool["bytes"])])
            self.assertEqual(rows(trace, f"SELECT count() {where},mem.free"), [(freed,)])
            for source in ("blocks WHERE live,", "snapshots WHERE snapshot='end of run',"):
                found = rows(trace, f"SELECT count(),sum(size) FROM {source}"
                                    f"space={pool['pool']}")
                self.assertEqual((found[0][0], found[0][1] or 0),
                                 (pool["live_blocks"], pool["live_bytes"]), source)
            for part in pool["parts"]:
                label = f"label={part['label']}" if part["label"] else "NOT label"
                self.assertEqual(rows(trace, f"SELECT count() FROM blocks {where},{label}"),
                                 [(part["calls"],)])
        self.assertEqual(rows(trace, "SELECT count() WHERE mem.alloc=node"), [(0,)])

    def test_foreign_frees(self):
        trace = exports.record("phases").trace
        self.assertEqual(
            rows(trace, "SELECT region,thread.name,count() FROM blocks WHERE foreign "
                        "GROUP BY region,thread.name"), [("produce", "maker", 25)])

    def test_functions(self):
        trace = exports.record("phases").trace
        flat = {row["function"]: row for row in tide.report(trace, "--total", "--flat")["rows"]}
        for leaf, count in rows(trace, "SELECT leaf,count() FROM blocks GROUP BY leaf"):
            self.assertEqual(count, flat[leaf]["calls"], leaf)

    def test_more_names_than_the_recorder_keeps(self):
        script = ("import ctypes, os; c = ctypes.CDLL(None)\n"
                  "for i in range(60000):\n"
                  "    c.tide_recorder_region_begin(b'n%d' % i)\n"
                  "    if i % 100 == 0: c.malloc(10)\n"
                  "    c.tide_recorder_region_end(None)\n"
                  "os._exit(0)\n")
        trace = tide.Recorded(["/usr/bin/python3", "-c", script]).trace
        reported = {row["region"]: row["calls"] for row in
                    tide.report(trace, "--regions", "--total")["rows"]}
        found = dict(rows(trace, "SELECT region,count() WHERE mem.alloc GROUP BY region"))
        self.assertGreater(reported["[unnamed]"], 0)
        self.assertEqual(found["[unnamed]"], reported["[unnamed]"])
        troubles = tide.report(trace)["honesty"]["troubles"]
        self.assertEqual(["more names" in line for line in troubles], [True])


class Exports(tide.Case):
    def test_cali(self):
        trace = exports.record("phases").trace
        reader = cali_reader.Reader(exports.export(trace, "cali").decode())
        summary = tide.report(trace)["summary"]
        events = [row for row in reader.records if "mem.alloc" in row]
        deaths = [row for row in reader.records if "mem.free" in row]
        labels = [row for row in events if row["mem.alloc"] in ("row", "matrix") or
                  row["mem.alloc"].startswith("bad")]
        births = [row for row in events if row not in labels]
        self.assertEqual(len(births), summary["alloc_calls"])
        self.assertEqual(len(labels), 102)
        self.assertEqual(len(deaths), summary["free_calls"])
        self.assertEqual(sum(row["alloc.total_size"] for row in births),
                         summary["allocated_bytes"])
        self.assertEqual(sum(row["alloc.total_size"] for row in births + deaths),
                         summary["live_bytes"])
        self.assertEqual(len({row["alloc.uid"] for row in births}), len(births))
        rows_of = [row for row in labels if row["mem.alloc"] == "row"]
        self.assertEqual(len(rows_of), 100)
        self.assertTrue(all(row["path"] == row["function"] == ["main", "solve"]
                            for row in rows_of))
        # Controls are dropped, commas and the like come back.
        nasty = [row for row in labels if row["mem.alloc"].startswith("bad")]
        self.assertEqual([row["mem.alloc"] for row in nasty], [NASTY.replace("\x1b", "\\x1b")])
        csv = exports.export(trace, "csv", "--all").decode()
        for row in births:
            self.assertIn(f",0x{row['alloc.address']:x},", csv)
        self.assertIn("tidemark.version", reader.globals)

    def test_json_split(self):
        trace = exports.record("phases").trace
        found = {tuple(row["path"]): row for row in cali_reader.read_split(
            exports.export(trace, "json-split").decode())}
        self.assertEqual(found["main", "solve"]["Allocs"], 201)
        self.assertEqual(found["main", "solve"]["Bytes"], 100 * 200 + 7000 + 100 * 64)
        self.assertEqual(found["main",]["Allocs (inc)"], 203)
        self.assertEqual(found["main",]["Bytes"], 5000)
        self.assertEqual(found["main", NASTY]["Max size"], 300)

    def test_readers_notice_broken_files(self):
        good = exports.export(exports.record("marks").trace, "cali").decode()
        for broken in (good.replace("id=13", "id=12", 1), good.replace("attr=8", "attr=99", 1),
                       good + "\n", good + "__rec=ctx\n"):
            self.assertRaises((ValueError, KeyError), cali_reader.Reader, broken)


class AnyNames(tide.Case):
    def test_json_is_valid_and_keeps_names_and_addresses(self):
        for name in ("odd_names", "phases"):
            trace = exports.record(name).trace
            blocks = [json.loads(line) for line in
                      exports.export(trace, "ndjson", "--all").splitlines()]
            addresses = {block["id"]: int(block["address"], 16) for block in blocks}
            found = json.loads(query(trace, "SELECT *,stack FROM blocks FORMAT json"))
            self.assertGreater(len(found), 0)
            for row in found:
                self.assertEqual(int(row["alloc.address"], 16), addresses[row["alloc.uid"]])
            for form in ("json(object)", "json(pretty)", "json(quote-all)"):
                self.assertTrue(json.loads(query(trace, f"SELECT * FORMAT {form}")))
            cali_reader.read_split(query(
                trace, "SELECT region,leaf,count() GROUP BY region,leaf FORMAT json-split"))
            cali_reader.Reader(query(trace, "SELECT * FORMAT cali"))

    def test_terminals_are_safe(self):
        trace = exports.record("phases").trace
        for form in ("table", "tree", "csv", "tsv", "markdown", "expand",
                     'format("%region% %label%")'):
            text = query(trace, f"SELECT region,label,count() GROUP BY region,label "
                                f"FORMAT {form}")
            self.assertIn("bad", text)
            self.assertNotIn("\x1b", text)


class Commands(tide.Case):
    def test_query_from_elsewhere(self):
        trace = exports.record("marks").trace
        wanted = query(trace, LABELS)
        self.assertEqual(query(trace, "-", text=LABELS), wanted)
        with tempfile.NamedTemporaryFile("w", suffix=".calql") as file:
            file.write(LABELS.replace(" ", "\n"))
            file.flush()
            self.assertEqual(query("-q", file.name, trace), wanted)

    def test_several_traces(self):
        traces = [exports.record("marks").trace, exports.record("phases").trace]
        one, two = (rows(trace, "SELECT count(),sum(size)")[0] for trace in traces)
        done = json.loads(query("--json", *traces, "SELECT count(),sum(size)"))
        self.assertEqual(done["rows"], [[one[0] + two[0], one[1] + two[1]]])
        done = json.loads(query("--json", *traces, "SELECT rank,count() GROUP BY rank"))
        self.assertEqual(done["rows"], [[0, one[0]], [1, two[0]]])
        done = query(*traces, "SELECT trace,mem.alloc WHERE mem.alloc FORMAT ndjson")
        self.assertEqual(len(done.splitlines()),
                         sum(rows(trace, "SELECT count() WHERE mem.alloc")[0][0]
                             for trace in traces))

    def test_iterations_and_snapshots(self):
        trace = exports.record("marks").trace
        self.assertEqual(
            rows(trace, "SELECT event,count() WHERE event.begin#region=solve GROUP BY event"),
            [(i, 1) for i in range(5)])
        loop = exports.record("told_loop").trace
        for end in ("begin", "end"):
            self.assertEqual(rows(loop, f"SELECT event.{end}#iteration AS i "
                                        f"WHERE event.{end}#iteration"),
                             [(i,) for i in range(10)])
        self.assertEqual(
            rows(trace, "SELECT label,size FROM snapshots WHERE snapshot='before the end'"),
            [("x", 800)])

    def test_mistakes(self):
        trace = exports.record("marks").trace
        self.assertIn("^~~", query(trace, "SELECT nix", status=2))
        self.assertIn("which query", query(trace, status=2))
        self.assertIn("no such file", query("/nowhere.tide", "SELECT size", status=1))
        for text in ("SELECT alloc.uid,size ORDER BY size",
                     "SELECT alloc.uid,count() GROUP BY alloc.uid"):
            refusal = query("--max-memory", "1K", exports.record("phases").trace, text,
                            status=1)
            self.assertIn("needs more than 1.00 KiB", refusal)
            self.assertIn("--max-memory", refusal)
        self.assertIn("no such column", query("--sql", trace, "select nix from blocks",
                                              status=2))

    def test_sql(self):
        trace = exports.record("phases").trace
        found = json.loads(query("--sql", "--json", trace,
                                 "select label, count(*) n from blocks where label = 'row' "
                                 "group by label"))
        self.assertEqual(found["rows"], [{"label": "row", "n": 100}])

    def test_attributes(self):
        trace = exports.record("phases").trace
        found = json.loads(query("--attributes", "--json", trace))
        counts = {row["name"]: row["rows"] for row in found["attributes"]}
        summary = tide.report(trace)["summary"]
        self.assertGreaterEqual(counts["mem.alloc"], summary["alloc_calls"])
        self.assertEqual(counts["label"], 102)
        pools = exports.record("pools").trace
        for source in ("events", "blocks", "snapshots"):
            found = json.loads(query("--attributes", "--json", "--from", source, pools))
            self.assertEqual([(found["rows"],)],
                             rows(pools, f"SELECT count() FROM {source}"), source)
        text = query("--attributes", "--from", "blocks", trace)
        self.assertIn("lifetime", text)
        self.assertLess(max(map(len, text.splitlines())), 130)

    def test_what_is_left_of_a_trace_is_answered(self):
        """Wherever the damage begins: before the processes, too."""
        with open(os.path.join(tide.SOURCE, "tests/golden/v1/all_calls.tide"), "rb") as file:
            whole = file.read()
        trace = os.path.join(tempfile.mkdtemp(), "t.tide")
        without = 0
        for at in range(64, len(whole), 24):
            with open(trace, "wb") as file:
                file.write(bytes(byte ^ (255 if i >= at and i % 50 == 0 else 0)
                                 for i, byte in enumerate(whole)))
            without += not tide.info(trace)["processes"]
            found = json.loads(query("--json", trace,
                                     "SELECT rank,time FROM timeline"))
            self.assertIn("rows", found)
        self.assertGreater(without, 0)

    def test_damage_that_shows_while_rows_are_read_is_said(self):
        """As the report says it, which reads all before it speaks."""
        run = tide.Recorded([tide.program("ring"), "400000"])
        with open(run.trace, "rb") as file:
            whole = file.read()
        shown_late = 0
        for part in range(2, 9):
            at = len(whole) * part // 10
            with open(run.trace, "wb") as file:
                file.write(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1:])
            problem = tide.report(run.trace)["honesty"]["problem"]
            done = subprocess.run([tide.TIDEMARK, "query", run.trace, "SELECT count()"],
                                  capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 2))
            self.assertEqual(done.stderr, f"tidemark: {run.trace}: {problem}\n")
            shown_late += problem.startswith("damaged chunk at byte")
        self.assertGreater(shown_late, 0)

    def test_the_query_may_lead(self):
        trace = exports.record("phases").trace
        self.assertEqual(query(LABELS, trace), query(trace, LABELS))
        self.assertEqual(query(LABELS, trace, trace), query(trace, trace, LABELS))
        self.assertEqual(query("-", trace, text=LABELS), query(trace, LABELS))
        self.assertEqual(query(LABELS, trace.removesuffix(".tide")), query(trace, LABELS))
        self.assertIn("is a file", query(trace, trace, status=2))
        self.assertIn("is a file", query("nowhere.tide", trace, status=2))

    def test_explain_does_nothing(self):
        self.assertIn("by mem.alloc", query("--explain", "/nowhere.tide", LABELS))


if __name__ == "__main__":
    tide.main()
