#!/usr/bin/python3
"""tests/e2e/witness.py - programs whose every stack is compared with libunwind's.

A program runs once, recorded, on an allocator that lets libunwind walk for each call
(tests/programs/lib_witness.c).  Then the stacks of the trace, as they are read from the
file, are laid beside what it saw, call by call (compare_stacks.c).

Usage: witness.py BUILD_FOLDER [--long]   print the table of docs/unwinding.md
"""
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile

if __name__ == "__main__" and len(sys.argv) > 1:
    BUILD = os.path.abspath(sys.argv[1])
    os.environ["TIDEMARK"] = os.path.join(BUILD, "tidemark")
    os.environ["TIDEMARK_PROGRAMS"] = os.path.join(BUILD, "programs")
    os.environ["TIDEMARK_SOURCE"] = os.path.join(os.path.dirname(__file__), "..", "..")

import tide

BUILT = os.path.dirname(tide.PROGRAMS)
LOADS = os.path.join(tide.SOURCE, "tests", "bench", "loads")

PYTHON_SCRIPT = """\
import collections, json, re, sqlite3
text = json.dumps([{str(k): [k, k * 0.5, 'n' * (k & 31)]} for k in range(%d)], indent=1)
words = collections.Counter(re.findall(r'\\w+', text))
data = sqlite3.connect(':memory:')
data.execute('CREATE TABLE word(name TEXT, times INTEGER)')
data.executemany('INSERT INTO word VALUES (?, ?)', words.items())
print(sorted(data.execute('SELECT count(*), sum(times) FROM word').fetchall()), len(text))
"""
SQL = """\
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL); CREATE INDEX i ON t(b, c);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
INSERT INTO t SELECT i, hex(i * 7919), i / 3.0 FROM n;
SELECT substr(b, 1, 1) AS h, count(*), group_concat(a) FROM t GROUP BY h ORDER BY h;
"""
CPP_SOURCE = """\
#include <map>
#include <string>
template <int N> struct deep { static int f(std::map<std::string, int> &m)
{ return m["a"] + deep<N - 1>::f(m); } };
template <> struct deep<0> { static int f(std::map<std::string, int> &) { return 0; } };
int main() { std::map<std::string, int> m; m["a"] = 0; return deep<20>::f(m); }
"""
RUST_SOURCE = """\
use std::collections::{BTreeMap, HashMap};
fn grow(depth: u32, map: &mut HashMap<u32, Vec<String>>) -> usize {
    map.entry(depth % 7).or_default().push(format!("a name of {}", depth));
    let boxed: Box<dyn Fn(u32) -> Vec<u32>> = Box::new(move |n| (0..n).collect());
    let tree: BTreeMap<u32, String> =
        boxed(depth % 50).into_iter().map(|n| (n, n.to_string())).collect();
    tree.len() + if depth == 0 { 0 } else { grow(depth - 1, map) }
}
fn main() {
    let mut map = HashMap::new();
    let sum: usize = (0..20).map(|_| grow(60, &mut map)).sum();
    let caught = std::panic::catch_unwind(|| { let v: Vec<u32> = Vec::new(); v[sum] });
    println!("{} {} {}", sum, map.len(), caught.is_err());
}
"""


@dataclasses.dataclass
class Program:
    """What to run, and what must hold beside that no stack differs."""
    argv: list
    least: int  # calls that have to be compared: else it is no test
    env: dict = dataclasses.field(default_factory=dict)
    unknown: bool = False  # some of its stacks end where no tables are
    short: bool = False    # some end where libunwind's go on, wrongly: docs/unwinding.md
    early: int = 100       # calls before the recorder starts, fewer than


def present(argv):
    return argv and argv[0] and shutil.which(argv[0])


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def cc1plus(source):
    """The compiler proper, on SOURCE; nothing where there is none."""
    if not shutil.which("g++"):
        return []
    path = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True,
                          check=True).stdout.strip()
    include = subprocess.run(["g++", "-E", "-std=c++17", source, "-o", source + ".ii"],
                             check=False)
    return [path, "-quiet", "-O1", "-std=c++17", source + ".ii", "-o", os.devnull] \
        if include.returncode == 0 else []


def rust(folder):
    source = written(folder, "program.rs", RUST_SOURCE)
    binary = os.path.join(folder, "program")
    if not shutil.which("rustc") or subprocess.run(
            ["rustc", "-O", "-o", binary, source], capture_output=True,
            check=False).returncode != 0:
        return []
    return [binary]


def small(folder):
    """Name -> what `make check` runs."""
    def own(name, *words, least, **more):
        return Program([tide.program(name), *words], least, **more)

    script = written(folder, "script.py", PYTHON_SCRIPT % 300)
    heap = {"PYTHONMALLOC": "malloc"}
    return {
        "C++ containers": Program([os.path.join(BUILT, "bench", "containers"), "100"], 10000),
        "cc1plus, a small source":
            Program(cc1plus(written(folder, "small.cpp", CPP_SOURCE)), 100000),
        "python3": Program(["/usr/bin/python3", script], 3000),
        "python3, every object by malloc": Program(["/usr/bin/python3", script], 50000, heap),
        "sqlite3": Program(["sqlite3", ":memory:", SQL], 2000),
        "Fortran": own("fortran_tree", least=10000),
        "no frame pointers, tail calls, noreturn tails, realigned stacks":
            own("odd_frames", "3000", "12", least=4000),
        "the same, a signal at every instruction":
            own("odd_frames", "40", "12", "step", least=20000),
        "the same with longjmp": own("odd_frames", "20", "12", "jump", least=10000, short=True),
        "an ifunc resolver, while the loader binds": own("odd_places", "resolver", least=4),
        "lazy binding, at every instruction": own("odd_places", "plt", least=300),
        "vdso, at every instruction": own("odd_places", "vdso", least=300),
        "an alternate signal stack, at every instruction":
            own("odd_places", "signal", least=50),
        "under code without tables (JIT)": own("odd_places", "jit", least=50, unknown=True),
        "under a return address in a register":
            own("odd_places", "register", least=50, short=True),
        "coroutines": own("coroutines", "2000", least=20000, unknown=True),
        "coroutine, signal, longjmp, small stack": own("odd_stacks", least=1000, unknown=True),
        "libraries that take each other's place":
            own("many_plugins", tide.PROGRAMS, "50", least=50),
        "32,768 functions, with tables of 5 MiB": own("many_frames", "1", least=32768),
        "exceptions": own("exceptions", least=400),
        "operator new": own("new_delete", least=10),
        "every way to allocate": own("all_calls", least=20),
        "random paths, 65 deep": own("ring", "20000", "56", "random", least=20000),
        "cyclic paths, 25 deep": own("ring", "20000", "16", "cycle", least=20000),
        "recursion, 905 deep": own("deep", "900", "10", least=10),
        "4 threads": own("ground_threads", "4", "5000", least=20000),
        "ls": Program(["/bin/ls", "-la", "/usr/include"], 200),
    }


def large(folder):
    """Name -> what `make check-long` runs."""
    heavy = os.path.join(folder, "heavy.cpp")
    shutil.copy(os.path.join(LOADS, "compile_me.cpp"), heavy)
    script = written(folder, "long_script.py", PYTHON_SCRIPT % 20000)
    return {
        "C++ containers, long":
            Program([os.path.join(BUILT, "bench", "containers"), "10000"], 1000000),
        "cc1plus, a heavy source": Program(cc1plus(heavy), 1000000),
        "clang, a heavy source":
            Program(["clang++", "-O1", "-std=c++17", "-c", heavy, "-o", os.devnull], 500000,
                    early=5000),
        "python3, long": Program(["/usr/bin/python3", script], 1000000,
                                 {"PYTHONMALLOC": "malloc"}),
        "sqlite3, long": Program(["sqlite3", ":memory:", ".read " + os.path.join(
            LOADS, "stations.sql")], 100000),
        "Rust (where there is a compiler)": Program(rust(folder), 10000),
        "odd frames, long": Program([tide.program("odd_frames"), "200000", "14"], 200000),
        "odd frames, a signal at every instruction, long":
            Program([tide.program("odd_frames"), "400", "14", "step"], 200000),
    }


def compare(program, options=()):
    """What compare_stacks says of a recorded run of PROGRAM."""
    with tempfile.TemporaryDirectory(prefix="tide-witness-") as folder:
        file = os.path.join(folder, "witness")
        preload = os.path.join(tide.PROGRAMS, "lib_witness.so") + ":libunwind.so.8"
        env = dict(os.environ, LC_ALL="C", PYTHONDONTWRITEBYTECODE="1", LD_PRELOAD=preload,
                   WITNESS_FILE=file, **program.env)
        run = tide.Recorded(program.argv, ["--depth", "2000", *options], env=env, timeout=900,
                            folder=folder)
        if run.status != 0:
            raise AssertionError(f"{program.argv}: {run.status}: {run.done.stderr[-500:]}")
        done = subprocess.run([os.path.join(BUILT, "e2e", "compare_stacks"), run.trace, file],
                              capture_output=True, text=True, timeout=900, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{program.argv}: {done.stderr}")
        return json.loads(done.stdout)


class Case(tide.Case):
    def same_stacks(self, program, options=(), alone=1):
        """ALONE: calls that the recorder makes for itself; one always, to try the allocator."""
        found = compare(program, options)
        shown = json.dumps(found["first"], indent=1)
        self.assertEqual(found["differing"], found["short"], shown)
        self.assertEqual(found["short"] > 0, program.short, shown)
        self.assertEqual(found["unknown"] > 0, program.unknown or program.short, shown)
        self.assertLessEqual(found["unpaired"], alone)
        self.assertLess(found["early"], program.early)
        self.assertGreaterEqual(found["calls"], program.least)
        return found

    def all_of(self, programs):
        for name, program in programs.items():
            with self.subTest(name):
                if not present(program.argv):
                    self.skipTest("not installed")
                self.same_stacks(program)


def main():
    with tempfile.TemporaryDirectory(prefix="tide-witness-") as folder:
        programs = small(folder)
        if "--long" in sys.argv:
            programs.update(large(folder))
        print("| program | calls | frames | deepest | differing | ended unknown | early |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for name, program in programs.items():
            if present(program.argv):
                found = compare(program)
                row = (found["calls"], found["frames"], found["deepest"],
                       found["differing"],
                       found["unknown"] + found["loader"], found["early"])
                print(f"| {name} |", *(f"{number:,} |" for number in row), flush=True)


if __name__ == "__main__":
    main()
