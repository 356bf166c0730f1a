#!/usr/bin/python3
"""tests/e2e/test_hydro.py - examples/hydro: its physics, and what reports say of it.

The program counts its own allocations per region and label; the reports must say the same.
Its gas is held against what is known of gases: nothing is lost, and a shock tube looks
as the exact solution says.
"""
import json
import math
import os
import shutil
import subprocess
import tempfile
import unittest

import tide

EXAMPLES = os.environ["TIDEMARK_EXAMPLES"]
HYDRO = os.path.join(EXAMPLES, "hydro")
OPENMP = os.path.join(EXAMPLES, "hydro_openmp")
MPI = os.path.join(EXAMPLES, "hydro_mpi")
GAMMA = 1.4
# As the tutorial of Caliper's memory tracking has them.
TUTORIAL = (
    "SELECT function,count() GROUP BY function WHERE mem.alloc FORMAT tree",
    "SELECT mem.alloc,count() GROUP BY mem.alloc WHERE mem.alloc FORMAT table",
    "SELECT mem.alloc,alloc.total_size,count() GROUP BY mem.alloc,alloc.total_size "
    "WHERE mem.alloc FORMAT table",
)


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{argv}: {done.stderr}")
    return done.stdout


def profile(*options, program=(HYDRO,)):
    return json.loads(run(*program, "--profile", *options))


def function(row):
    """Its path without the loop, which is no function."""
    return "/".join(step for step in row["region"].split("/") if step != "cycle")


def middle_pressure(left, right):
    """Of a shock tube, between the rarefaction and the shock: by bisection."""
    def speeds_apart(pressure):
        (rho_l, p_l), (rho_r, p_r) = left, right
        sound = math.sqrt(GAMMA * p_l / rho_l)
        before = 2 * sound / (GAMMA - 1) * (
            (pressure / p_l) ** ((GAMMA - 1) / (2 * GAMMA)) - 1)
        after = (pressure - p_r) * math.sqrt(
            2 / ((GAMMA + 1) * rho_r) / (pressure + (GAMMA - 1) / (GAMMA + 1) * p_r))
        return before + after

    low, high = right[1], left[1]
    for _ in range(100):
        pressure = (low + high) / 2
        low, high = (pressure, high) if speeds_apart(pressure) < 0 else (low, pressure)
    return pressure


def tube_density(speed, left=(1.0, 1.0), right=(0.125, 0.1)):
    """The exact density of the shock tube where x/t is SPEED."""
    (rho_l, p_l), (rho_r, p_r) = left, right
    pressure = middle_pressure(left, right)
    sound = math.sqrt(GAMMA * p_l / rho_l)
    small = (pressure / p_l) ** ((GAMMA - 1) / (2 * GAMMA))
    flow = 2 * sound / (GAMMA - 1) * (1 - small)
    if speed < -sound:
        return rho_l
    if speed < flow - sound * small:
        within = 2 / (GAMMA + 1) * (sound - (GAMMA - 1) / 2 * speed)
        return rho_l * (within / sound) ** (2 / (GAMMA - 1))
    if speed < flow:
        return rho_l * (pressure / p_l) ** (1 / GAMMA)
    shock = math.sqrt(GAMMA * p_r / rho_r) * math.sqrt(
        (GAMMA + 1) / (2 * GAMMA) * pressure / p_r + (GAMMA - 1) / (2 * GAMMA))
    ratio = (GAMMA - 1) / (GAMMA + 1)
    if speed < shock:
        return rho_r * (pressure / p_r + ratio) / (ratio * pressure / p_r + 1)
    return rho_r


def tube_error(cells, cycles):
    found = profile("--tube", "--cycles", str(cycles), str(cells), "2", "2")
    exact = [tube_density(((x + 0.5) / cells - 0.5) / found["time"])
             for x in range(cells)]
    return sum(abs(a - b) for a, b in zip(found["density"], exact)) / cells


class Physics(tide.Case):
    def test_mass_and_energy_stay(self):
        lines = run(HYDRO, "--cycles", "50", "16", "12", "10").splitlines()
        rows = [[float(word) for word in line.split()] for line in lines[1:-1]]
        self.assertEqual([row[0] for row in rows], [10, 20, 30, 40, 50])
        volume = 12 * 10 / 16 ** 2
        for _, _, mass, energy, densest in rows:
            self.assertAlmostEqual(mass / volume, 1.0, delta=1e-12)
            self.assertAlmostEqual(energy / rows[0][3], 1.0, delta=1e-12)
            self.assertGreater(densest, 1.2)  # something happens

    def test_a_shock_tube_looks_as_it_must(self):
        coarse, fine = tube_error(100, 60), tube_error(200, 120)
        self.assertLess(fine, 0.005)
        self.assertLess(fine, 0.7 * coarse)

    def test_a_blast_is_alike_on_both_sides(self):
        density = profile("--cycles", "30", "20", "18", "16")["density"]
        for one, other in zip(density, reversed(density)):
            self.assertAlmostEqual(one, other, delta=1e-12)

    @unittest.skipUnless(os.path.exists(OPENMP), "built without OpenMP")
    def test_threads_change_nothing(self):
        options = ("--cycles", "15", "12", "14", "16")
        self.assertEqual(profile(*options), profile(*options, program=(OPENMP,)))

    @unittest.skipUnless(os.path.exists(MPI) and shutil.which("mpirun"),
                         "built without MPI")
    def test_processes_change_nothing(self):
        options = ("--cycles", "15", "12", "14", "16")
        mpirun = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", MPI)
        self.assertEqual(profile(*options), profile(*options, program=mpirun))


def sums(rows, *keys):
    """(key..., ) -> (calls, bytes)."""
    return {tuple(row[key] for key in keys): (row["calls"], row["bytes"]) for row in rows}


class Counts(tide.Case):
    SIZE = ("--cycles", "55", "14", "10", "8")

    def recorded(self, program=HYDRO):
        return tide.Recorded([program, "--count", *self.SIZE])

    def test_recorded_is_as_plain(self):
        self.assertEqual(self.recorded().stdout, run(HYDRO, "--count", *self.SIZE))

    def test_allocations_per_function(self):
        recorded = self.recorded()
        result = recorded.report("--total", "--regions")
        self.whole(result, region_mismatches=0, unmatched_labels=0)
        own = sums(recorded.own_count()["regions"], "region")
        rows = [row for row in result["rows"] if row["calls"]]
        self.assertEqual(sums(rows, "region"), own)
        self.assertEqual(result["summary"]["alloc_calls"],
                         sum(calls for calls, _ in own.values()))

    def test_allocations_per_label(self):
        recorded = self.recorded()
        rows = recorded.report("--total", "--labels")["rows"]
        own = recorded.own_count()["labels"]
        self.assertEqual(sums(rows, "label"), sums(own, "label"))
        self.assertEqual(sums(own, "label")[("flux_x",)][0], 55)  # one per cycle

    def test_shapes(self):
        rows = self.recorded().report("--total", "--labels")["label_sizes"]
        found = {row["label"]: (row["element_bytes"], row["extents"])
                 for row in rows if row["extents"]}
        x, y, z = (int(size) for size in self.SIZE[2:])
        self.assertEqual(found["density"], (8, [z + 4, y + 4, x + 4]))
        self.assertEqual(found["primitive"], (8, [z + 4, y + 4, x + 4, 5]))
        self.assertEqual(found["flux_x"], (8, [z, y, x + 1, 5]))
        self.assertEqual(found["flux_y"], (8, [x, z, y + 1, 5]))
        self.assertEqual(found["plane_speed"], (8, [z]))

    def test_arenas_by_size(self):
        recorded = self.recorded()
        done = run(tide.TIDEMARK, "export", "--to", "ndjson", "--all", recorded.trace)
        arenas = {}
        for line in done.splitlines():
            block = json.loads(line)
            key = block["label"], block["size"]
            calls, size = arenas.get(key, (0, 0))
            arenas[key] = calls + 1, size + block["size"]
        own = sums(recorded.own_count()["arenas"], "label", "size")
        self.assertEqual(arenas, own)

    def answers(self, query):
        """The rows of QUERY about a run, and what the run counted itself."""
        recorded = self.recorded()
        done = run(tide.TIDEMARK, "query", "--json", recorded.trace, query)
        return json.loads(done)["rows"], recorded.own_count()

    def test_the_tutorials_query_per_function(self):
        """Each block is labelled once: two rows, as with Caliper."""
        rows, own = self.answers(TUTORIAL[0])
        self.assertEqual({path: count for path, count in rows if count},
                         {function(row): 2 * row["calls"] for row in own["regions"]
                          if row["calls"]})

    def test_the_tutorials_query_per_label(self):
        rows, own = self.answers(TUTORIAL[1])
        labels = {row["label"]: row["calls"] for row in own["labels"]}
        self.assertEqual({name: calls for name, calls in rows if name in labels}, labels)
        self.assertEqual(sum(calls for name, calls in rows if name not in labels),
                         sum(labels.values()))
        self.assertEqual({name for name, _ in rows} - set(labels), {"calloc", "realloc"})

    def test_the_tutorials_query_per_label_and_size(self):
        rows, own = self.answers(TUTORIAL[2])
        found = {(label, size): count for label, size, count in rows}
        arenas = {(row["label"], row["size"]): row["calls"] for row in own["arenas"]}
        sizes = {}
        for (_, size), count in arenas.items():
            sizes[size] = sizes.get(size, 0) + count
        self.assertEqual({key: found.get(key) for key in arenas}, arenas)
        self.assertEqual({size: sum(found.get((call, size), 0) for call in
                                    ("calloc", "realloc")) for size in sizes}, sizes)

    def test_the_tutorials_tree_as_it_is_written_there(self):
        """A level is two blanks further in; nothing stands where nothing was counted."""
        env = dict(os.environ, CALI_SERVICES_ENABLE="alloc,sysalloc,trace,report",
                   CALI_REPORT_CONFIG=TUTORIAL[0])
        recorded = tide.Recorded([HYDRO, *self.SIZE], env=env)
        counted = {}
        for row in self.recorded().own_count()["regions"]:
            counted[function(row)] = 2 * row["calls"]
        width = max(2 * path.count("/") + len(path.split("/")[-1]) for path in counted)
        expected, told = ["Path".ljust(width) + " count "], set()
        for path, calls in counted.items():
            steps = path.split("/")
            for depth in range(len(steps)):
                part = "/".join(steps[:depth + 1])
                if part not in told:
                    told.add(part)
                    number = counted.get(part) or ""
                    expected.append(("  " * depth + steps[depth]).ljust(width) +
                                    f" {number:>5} ".rstrip(" " if not number else ""))
        lines = recorded.stdout.splitlines()
        printed = lines[lines.index(expected[0]):]
        self.assertEqual([line.rstrip() for line in printed],
                         [line.rstrip() for line in expected])

    def test_the_tutorials_tables_through_calipers_variables(self):
        for query in TUTORIAL[1:]:
            env = dict(os.environ, CALI_SERVICES_ENABLE="alloc,sysalloc,trace,report",
                       CALI_REPORT_CONFIG=query)
            recorded = tide.Recorded([HYDRO, "--count", *self.SIZE], env=env)
            plain, answer = recorded.stdout.split("mem.alloc", 1)
            own = json.loads(plain[plain.index("{"):])
            rows = [line.split() for line in answer.splitlines()[1:]]
            expected = own["labels"] if query == TUTORIAL[1] else own["arenas"]
            self.assertEqual(
                sorted(row for row in rows if row[0] not in ("calloc", "realloc")),
                sorted([row["label"], *([str(row["size"])] if "size" in row else []),
                        str(row["calls"])] for row in expected))

    @unittest.skipUnless(os.path.exists(OPENMP), "built without OpenMP")
    def test_threads_of_openmp(self):
        self.check_threads(OPENMP)

    @unittest.skipUnless(shutil.which("clang"), "no clang")
    def test_threads_of_libomp(self):
        folder = tempfile.mkdtemp(prefix="tide-hydro-")
        sources = os.path.join(tide.SOURCE, "examples", "hydro")
        names = ["hydro", "hydro_gas", "hydro_memory", "hydro_step", "hydro_sweep",
                 "hydro_alone"]
        done = subprocess.run(
            ["clang", "-fopenmp", "-O1", "-I" + os.path.join(tide.SOURCE, "include"),
             *(os.path.join(sources, name + ".c") for name in names), "-lm", "-o",
             os.path.join(folder, "hydro")], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"clang -fopenmp: {done.stderr[:200]}")
        self.check_threads(os.path.join(folder, "hydro"))

    def check_threads(self, program):
        """What workers make has its label, and the region that called them."""
        recorded = tide.Recorded([program, "--count", *self.SIZE],
                                 env=dict(os.environ, OMP_NUM_THREADS="4"))
        own = recorded.own_count()
        labels = sums(own["labels"], "label")
        rows = recorded.report("--total", "--labels")["rows"]
        labelled = [row for row in rows if (row["label"],) in labels]
        self.assertEqual(sums(labelled, "label"), labels)
        rows = recorded.report("--total", "--regions", "--label", "row_ends")["rows"]
        found = {row["region"]: row["calls"] for row in rows if row["calls"]}
        cycles, cells = int(self.SIZE[1]), [int(size) for size in self.SIZE[2:]]
        self.assertEqual(found, {  # one for each plane of each sweep
            f"main/cycle/advance/sweep_{axis}/fluxes": cycles * planes
            for axis, planes in zip("xyz", (cells[2], cells[0], cells[1]))})


if __name__ == "__main__":
    tide.main()
