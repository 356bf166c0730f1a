"""tests/transparency/cases.py - the cases of `make check`; more_cases.py has further ones."""
import functools
import os
import re
import subprocess

from case import Blur, Case, Skip, outcomes

# What these links stand for here: traces name the program itself.
AS, LD, SH = (os.path.basename(os.path.realpath("/usr/bin/" + name))
              for name in ("as", "ld", "sh"))
LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
ALLOCATORS = {
    "jemalloc": ("libjemalloc2", LIBRARIES + "libjemalloc.so.2"),
    "tcmalloc": ("libtcmalloc-minimal4", LIBRARIES + "libtcmalloc_minimal.so.4"),
    "mimalloc": ("libmimalloc2.0", LIBRARIES + "libmimalloc.so.2.0"),
}


def matches(pattern, name):
    return re.fullmatch(pattern, name) is not None


@functools.cache
def installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package],
                          capture_output=True, text=True, check=False)
    return done.stdout == "installed"


def missing(case):
    """Packages of CASE that are not there."""
    return [package for package in case.packages if not installed(package)]


SQLITE = Case(
    "sqlite3", "small", ("sqlite3", "-batch", "base.db"), ("sqlite3",), ("joins.sql",),
    stdin="joins.sql", records={"sqlite3": 1}, least_events=10000, status=1)
PERL = Case(
    "perl", "small", ("perl", "words.pl"), ("perl",), ("words.pl",),
    env={"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"},
    records={"perl": 21}, least_events=50000, status=5)
PYTHON = Case(
    "python3", "small", ("/usr/bin/python3", "objects.py"), ("python3",), ("objects.py",),
    env={"PYTHONHASHSEED": "0"}, records={"python3.11": 3}, least_events=5000, status=11)
MORE_OBJECTS = {"PYTHONHASHSEED": "0", "PYTHONMALLOC": "malloc"}

GIT_OWN_FILES = (
    Skip(r"work/(repo|copy)/\.git/index", "it holds times and inode numbers of files"),
    Skip(r"work/(repo|copy)/\.git/logs(/.*)?", "the clock of clone and checkout is in it"),
    Skip(r"work/repo/\.git/gc\.pid", "the pid"),
)
GIT = Case(
    "git", "tools", ("bash", "repository.sh"), ("git",), ("repository.sh",),
    skips=GIT_OWN_FILES, records={"git": 100}, least_events=50000, status=1)
BASH = Case(
    "bash", "tools", ("bash", "shell.sh"), (), ("shell.sh",),
    records={"bash": 300, "sed": 1, "tr": 1}, least_events=50000, status=17,
    blurs=(Blur(r"(line \d+:) +\d+ (Terminated|Segmentation)", r"\1 PID \2",
                "the pid, and its width"),),
    strangers={"/usr/bin/echo": "started with an empty environment"})


def compiled(name, group, command, records, **further):
    return Case(name, group, ("sh", "-ec", command), ("gcc", "g++"),
                ("plain.c", "heavy.cpp"), records=records, least_events=10000, **further)


GCC = compiled(
    "gcc -g", "compilers",
    "gcc -g -O2 -c plain.c -o plain.o; gcc -g -O0 -save-temps plain.c -o plain -lm; ./plain",
    {"cc1": 2, AS: 2, LD: 1, "plain": 1})
GXX = compiled(
    "g++ -g, much STL", "compilers",
    "g++ -std=c++17 -g -O1 heavy.cpp -o heavy -pthread; ./heavy",
    {"cc1plus": 1, AS: 1, LD: 1, "heavy": 1})


def python_tests(name, group, modules, env=None, options=(), **further):
    """python3 -m test; its JUnit file says what came of each test."""
    return Case(
        name, group,
        ("/usr/bin/python3", "-m", "test", "--junit-xml=tests.xml", *options, *modules),
        ("libpython3.11-testsuite",), env={"PYTHONHASHSEED": "0", **(env or {})},
        views={"tests.xml": outcomes}, records={"python3.11": 1}, least_events=10000,
        skips=(Skip("stderr", "what the tests write there by the way has pids and times"),),
        blurs=(Blur(r"^[0-9:]+ load avg: [0-9.]+ ", "", "times and load"),
               Blur(r" -- \w+ passed.*$", "", "times and load"),   # said of slow ones
               Blur(r"^(Total duration:|.* took) .*$", r"\1", "times and load"),
               Blur(r"\btest_python_\w+", "test_python_PID", "a pid in a folder's name"),
               Blur(r" in [0-9.]+ (min|sec|ms).*$", "", "times and load")), **further)


PYTHON_MODULES = (
    python_tests("python3 -m test: json, dict, list, mmap, struct", "python",
                 ("test_json", "test_dict", "test_list", "test_mmap", "test_struct")),
    python_tests("python3 -m test: subprocess (in part), fork1, thread", "python-children",
                 ("test_subprocess", "test_fork1", "test_thread"),
                 # Other users may not reach the library: test_unrecorded tries them.
                 options=("-m", "*POSIXProcessTestCase*", "-m", "*Fork*", "-m", "*Thread*",
                          "-i", "test_user", "-i", "test_group", "-i", "test_extra_groups")),
    python_tests("python3 -m test: threadsignals, ctypes", "python-malloc",
                 ("test_threadsignals", "test_ctypes"),
                 strangers={"/usr/sbin/ldconfig": "a static program"}),
    python_tests("python3 -m test: dict, list, struct with PYTHONMALLOC=malloc",
                 "python-malloc", ("test_dict", "test_list", "test_struct"),
                 {"PYTHONMALLOC": "malloc"}),
)

NODE = Case(
    "node", "browsers", ("node", "workers.js"), ("nodejs",), ("workers.js",),
    records={"node": 2, SH: 8}, least_events=10000, status=4)
NODE_JITLESS = Case(
    "node --jitless", "browsers", ("node", "--jitless", "workers.js"), ("nodejs",),
    ("workers.js",), records={"node": 2, SH: 8}, least_events=10000, status=4)
CHROMIUM = Case(
    "chromium --dump-dom", "browsers",
    ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=profile",
     "--dump-dom", "page.html"), ("chromium",), ("page.html",),
    records={"chromium": 3}, least_events=1000,
    skips=(Skip("stderr", "its threads log what they miss at will, with pids and times"),
           Skip(r"work/profile(/.*)?", "caches and databases with times and random keys"),
           Skip(r"work/\.\w+(/.*)?", "the same"), Skip(r"tmp/.*", "the same")),
    allowed={"troubles": "it brings a malloc of its own, of which nothing is recorded, and "
                         "the report says so; what libraries map and the helpers is there"})


def stressed(name, ops, *options, **further):
    return Case(
        "stress-ng " + name, "stress",
        ("stress-ng", "--" + name, "2", f"--{name}-ops", str(ops), "--verify",
         "--no-rand-seed", "--temp-path", ".", *options), ("stress-ng",),
        records={"stress-ng": 2}, least_events=100,
        blurs=(Blur(r"\[\d+\]", "[PID]", "the pid"),
               Blur(r"completed in .*$", "completed", "the time"),
               Blur(r"(info:  \[PID\]) \d+: ", r"\1 PID: ", "the pid")), **further)


STRESS = (
    stressed("malloc", 200000),
    stressed("fork", 1000),
    stressed("vfork", 2000),
    stressed("clone", 100),
    stressed("pthread", 1000),
    stressed("mmap", 4, "--mmap-bytes", "1M"),
)

GHOSTSCRIPT = tuple(
    Case("ghostscript " + device, "small",
         ("gs", "-q", "-dBATCH", "-dNOPAUSE", "-dSAFER", "-sDEVICE=" + device, "-r100",
          *options, "-sOutputFile=page%d." + device, "drawing.ps"), ("ghostscript",),
         ("drawing.ps",), records={"gs": 1}, least_events=1000, **further)
    for device, options, further in (
        ("png16m", (), {}), ("pgmraw", (), {}),
        ("pdfwrite", ("-dCompressPages=true",), {})))


def on_allocator(case, name):
    """CASE on another allocator, which the user preloads himself."""
    package, library = ALLOCATORS[name]
    return Case(**{**vars(case), "name": f"{case.name} on {name}", "group": "allocators",
                   "packages": (*case.packages, package), "preload": library,
                   "env": {**case.env, "ALLOCATOR": name}})


CASES = (
    SQLITE, PERL, PYTHON, *GHOSTSCRIPT, GIT, BASH, GCC, GXX, *PYTHON_MODULES, NODE,
    NODE_JITLESS, CHROMIUM, *STRESS,
    *(on_allocator(case, name) for case in (SQLITE, PERL, PYTHON) for name in ALLOCATORS),
)
