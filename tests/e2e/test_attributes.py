"""tests/e2e/test_attributes.py - values that programs set, as columns of queries.

tests/programs/sets_values.c says what it sets; the numbers here are those of its source.
"""
import csv
import io
import json
import subprocess
import tempfile

import cali_reader
import exports
import tide
from test_query import query, rows

BIG = 1234567890123


class Values(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.recorded = tide.Recorded([tide.program("sets_values")], folder=cls.folder)
        cls.own = cls.recorded.own_count()

    def ask(self, text):
        return rows(self.recorded.trace, text)

    def test_nothing_is_lost(self):
        self.whole(self.recorded.report())

    def test_events_and_blocks_carry_them(self):
        """Round i makes 1 + i blocks."""
        wanted = {}
        for i in range(self.own["rounds"]):
            key = (-5 if i % 2 else BIG, i * 0.25, "warm, up" if i < 3 else "steady")
            wanted[key] = 1 + i
        for source in ("events", "blocks"):
            found = self.ask("SELECT region.number,dt,stage,count() "
                             "GROUP BY region.number,dt,stage "
                             f"WHERE mem.alloc,size=50 FROM {source}")
            self.assertEqual({row[:3]: row[3] for row in found}, wanted)

    def test_a_handler_that_comes_in_between_changes_nothing(self):
        trace = tide.Recorded([tide.program("values_storm")]).trace
        names = "a,b,c,d,e,f,g,h"
        self.assertEqual(rows(trace, f"SELECT {names} WHERE mem.alloc,size=1000"),
                         [tuple(range(8))])
        self.assertEqual(rows(trace, f"SELECT {names},handler WHERE mem.alloc,size=2000"),
                         [(None,) * 9])

    def test_frees_carry_those_of_the_freeing_thread(self):
        self.assertEqual(self.ask("SELECT count() WHERE mem.free,dt=0.5,size=50"), [(3,)])

    def test_conditions_and_sums_know_the_type(self):
        number = "region.number"
        self.assertEqual(self.ask(f"SELECT count() WHERE mem.alloc,size=50,{number}<0"),
                         [(2 + 4 + 6 + 8 + 10,)])
        self.assertEqual(self.ask(f"SELECT sum({number}),max(dt),any(stage) "
                                  "WHERE mem.alloc,size=50,stage='warm, up'"),
                         [(BIG - 10 + 3 * BIG, 0.5, "warm, up")])
        self.assertEqual(self.ask("LET double = dt * 2 SELECT max(double)"), [(4.5,)])

    def test_threads_begin_without_any(self):
        found = self.ask("SELECT region.number,count() GROUP BY region.number "
                         "WHERE mem.alloc,size=100 ORDER BY count")
        self.assertEqual(found, [(None, 3), (77, 4)])

    def test_a_child_has_its_parents(self):
        found = self.ask("SELECT process,region.number,dt,stage,count() "
                         "GROUP BY process,region.number,dt,stage "
                         "WHERE mem.alloc,size=300")
        self.assertEqual(found, [(self.own["child"], -5, 2.25, "steady", 5)])

    def test_nesting(self):
        found = self.ask("SELECT mode,count() GROUP BY mode WHERE mem.alloc,size=200")
        self.assertEqual(dict(found), {"outer": 1 + 4, "inner": 2, None: 8 + 16})
        self.assertEqual(self.ask("SELECT event.begin#mode,event.end#mode,mode "
                                  "WHERE event.begin#mode OR event.end#mode"),
                         [("outer", None, "outer"), ("inner", None, "inner"),
                          (None, "inner", "inner"), (None, "outer", "outer")])
        self.assertEqual(self.ask("SELECT count() WHERE mem.alloc,deep"), [(0,)])
        self.assertEqual(self.ask("SELECT event.end#deep WHERE event.end#deep"), [(2,)])

    def test_addresses_are_resolved(self):
        looked = "looked.at"
        found = self.ask(f"SELECT alloc.label#{looked},alloc.index#{looked},"
                         f"alloc.uid#{looked},event.set#{looked} "
                         f"WHERE event.set#{looked}")
        cells = self.ask("SELECT alloc.uid,alloc.address FROM blocks WHERE label=cells")
        plain = self.ask("SELECT alloc.uid FROM blocks WHERE size=1000")
        self.assertEqual([row[:3] for row in found],
                         [("cells", i, cells[0][0]) for i in range(self.own["looks"])] +
                         [("malloc", 999, plain[0][0])] + [(None, None, None)] * 2)
        start = int(cells[0][1], 16)
        self.assertEqual([int(row[3], 16) for row in found[:3]],
                         [start + 5, start + 29, start + 53])

    def test_names_of_tidemark_win(self):
        """The program sets size to 1: no row is of that size because of it."""
        self.assertEqual(self.ask("SELECT count() WHERE size=1"), [(0,)])
        found = json.loads(query("--attributes", "--json", self.recorded.trace))
        users = {row["name"]: row for row in found["attributes"] if "hidden" in row}
        self.assertEqual({name: row["type"] for name, row in users.items()},
                         {"deep": "int", "dt": "real", "looked.at": "addr", "mode": "text",
                          "region.number": "int", "size": "int", "stage": "text"})
        self.assertEqual([name for name, row in users.items() if row["hidden"]], ["size"])
        self.assertEqual(users["deep"]["rows"], 3)
        self.assertIn("hides it", " ".join(query("--attributes", self.recorded.trace).split()))

    def test_all_formats_have_them(self):
        """csv, json and cali agree on all columns of all rows of the rounds."""
        where = "SELECT region.number,dt,stage,size WHERE mem.alloc,size=50"
        wanted = self.ask(where)
        trace = self.recorded.trace
        table = list(csv.reader(io.StringIO(query(trace, where + " FORMAT csv"))))
        self.assertEqual([(int(a), float(b), c, int(d)) for a, b, c, d in table[1:]], wanted)
        cali = cali_reader.Reader(query(trace, where + " FORMAT cali"))
        self.assertEqual([(r["region.number"], r["dt"], r["stage"], r["size"])
                          for r in cali.records], wanted)
        done = subprocess.run([tide.TIDEMARK, "export", "--to", "cali", trace],
                              capture_output=True, text=True, check=True, timeout=60)
        exported = [(r["region.number"], r["dt"], r["stage"], r["alloc.total_size"])
                    for r in cali_reader.Reader(done.stdout).records
                    if r.get("alloc.total_size") == 50]
        self.assertEqual(exported, wanted)
        star = json.loads(query(trace, "SELECT * WHERE mem.alloc,size=50 FORMAT json"))
        self.assertEqual([(r["region.number"], r["dt"], r["stage"]) for r in star],
                         [row[:3] for row in wanted])

    def test_unknown_names_are_still_mistakes(self):
        trace = self.recorded.trace
        self.assertIn("did you mean 'stage'", query(trace, "SELECT stages", status=2))
        self.assertIn("no attribute 'nix'", query(trace, "SELECT nix", status=2))
        self.assertIn("have no", query(trace, "SELECT stage FROM timeline", status=2))
        self.assertIn("FROM events has", query(trace, "SELECT alloc.uid#looked.at FROM blocks",
                                               status=2))

    def test_misspelt_parts_of_names_are_mistakes(self):
        for wrong, right in (("event.set#stge", "event.set#stage"),
                             ("event.end#moed", "event.end#mode"),
                             ("alloc.label#loked.at", "alloc.label#looked.at")):
            for options in ((), ("--explain",)):
                said = query(*options, self.recorded.trace, f"SELECT {wrong}", status=2)
                self.assertIn(f"did you mean '{right}'?", said)
        # Caliper's names are none of the program's, but known
        query(self.recorded.trace, "SELECT event.set#pthread.id")
        loop = exports.record("told_loop").trace
        said = query(loop, "SELECT iteration#cylce", status=2)
        self.assertIn("no loop 'cylce'; did you mean 'iteration#cycle'?", said)
        self.assertIn("no attribute 'stge'", query("--explain", loop, "SELECT stge", status=2))

    def test_at_the_end_of_a_run(self):
        """Before a program runs nobody knows what it sets."""
        rest = "count() GROUP BY stage WHERE mem.alloc,size=50 FORMAT csv"
        for text in ("SELECT stage," + rest, 'SELECT "stage",' + rest):
            with tempfile.TemporaryDirectory() as folder:
                run = tide.Recorded([tide.program("sets_values")], ("--query", text),
                                    folder=folder)
            self.assertEqual(run.status, 0)
            self.assertEqual(run.stdout.splitlines()[1:],
                             ["stage,count", '"warm, up",6', "steady,49"])
        with tempfile.TemporaryDirectory() as folder:
            run = tide.Recorded([tide.program("sets_values")],
                                ("--query", 'SELECT "sizes" FORMAT csv'), folder=folder)
        self.assertEqual(len(run.stdout.splitlines()), 1)  # the program's own line
        self.assertIn("did you mean 'size'", run.done.stderr)


if __name__ == "__main__":
    tide.main()
