"""tests/e2e/long_glibc_malloc.py - glibc's own malloc tests, plain and recorded.

The tests of the installed glibc come from its Debian source package (`apt-get source`),
are built against the installed library, and run five ways: as they are, under
MALLOC_CHECK_=3, and with three settings of GLIBC_TUNABLES.  Each run must end the same
recorded as plain.  Some fail plain as well, since they are outside of glibc's build tree:
those must fail the same way.

The first run needs a network.  Where there is none, put glibc_*.orig.tar.xz into WORK.
"""
import concurrent.futures
import glob
import os
import platform
import re
import subprocess
import tempfile
import tide

WORK = os.path.join(os.path.dirname(os.path.dirname(tide.TIDEMARK)), "glibc-tests")
DEBUG_LIBRARY = "libc_malloc_debug.so.0"
WAYS = {
    "as it is": {},
    "MALLOC_CHECK_": {"MALLOC_CHECK_": "3", "LD_PRELOAD": DEBUG_LIBRARY},
    "no tcache": {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
    "huge pages": {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
    "one arena": {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1"},
}
# They need glibc's private headers or symbol versions, are static, or are part of others.
NOT_BUILT = {
    "tst-compathooks-off", "tst-compathooks-on", "tst-interpose-aux",
    "tst-interpose-aux-nothread", "tst-interpose-aux-thread", "tst-interpose-skeleton",
    "tst-interpose-static-nothread", "tst-interpose-static-thread", "tst-mallocalign1",
    "tst-mallocstate", "tst-scratch_buffer",
}
# How often it tries again depends on where the kernel put the heap.
OUTPUT_IS_CHANCE = {"tst-safe-linking"}
FLAGS = ["-std=gnu11", "-O2", "-g", "-w", "-D_GNU_SOURCE", "-DMODULE_NAME=testsuite",
         "-DTIMEOUTFACTOR=8", "-DDEFAULT_STACK_PERMS=6", "-Dlibc_hidden_proto(x)=",
         "-Dlibc_hidden_def(x)=", "-D__set_errno(e)=(errno = (e))", "-include", "errno.h",
         "-include", "limits.h",
         *(f"-D{what}_PATH=\"/nowhere\"" for what in (
             "SRCDIR", "OBJDIR", "OBJDIR_ELF_LDSO", "INSTDIR", "LIBDIR", "BINDIR", "SBINDIR",
             "SLIBDIR", "ROOTSBINDIR", "COMPLOCALEDIR", "SYSCONFDIR"))]


def command(*argv, cwd=WORK):
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv[:4])} …: {done.stdout}{done.stderr}"[-2000:])
    return done.stdout


def fetch():
    """Have the source package of this Debian's glibc below WORK; the archive's path."""
    for folder in "lists/partial", "cache/archives/partial", "parts":
        os.makedirs(f"{WORK}/{folder}", exist_ok=True)
    with open(f"{WORK}/parts/source.sources", "w", encoding="ascii") as file:
        file.write("Types: deb-src\nURIs: http://deb.debian.org/debian\n"
                   f"Suites: {platform.freedesktop_os_release()['VERSION_CODENAME']}\n"
                   "Components: main\n"
                   "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n")
    apt = ["apt-get", "-q", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=30",
           "-o", "Dir::Etc::sourcelist=/dev/null",
           "-o", f"Dir::Etc::sourceparts={WORK}/parts", "-o", f"Dir::State::lists={WORK}/lists",
           "-o", f"Dir::Cache={WORK}/cache", "-o", "APT::Sandbox::User=root"]
    try:
        command(*apt, "-o", "APT::Update::Error-Mode=any", "update")
        command(*apt, "source", "--download-only", "glibc")
    except RuntimeError as error:
        raise RuntimeError("cannot fetch glibc's source package from deb.debian.org; without "
                           f"a network, put glibc_*.orig.tar.xz into {WORK}. "
                           f"apt-get says: {error}") from None
    return glob.glob(f"{WORK}/glibc_*.orig.tar.xz")[0]


def unpacked():
    """The folder of glibc's sources, whole or not there."""
    there = f"{WORK}/source"
    if os.path.isdir(there):
        return there
    found = glob.glob(f"{WORK}/glibc_*.orig.tar.xz")
    archive = found[0] if found else fetch()
    half = tempfile.mkdtemp(prefix="half-", dir=WORK)
    command("tar", "xf", archive, "-C", half, "--strip-components=1", "--wildcards",
            "*/malloc/*", "*/support/*", "*/include/*", "*/test-skeleton.c")
    os.rename(half, there)
    return there


def build(source):
    """Build what can be built outside of glibc; the programs' paths."""
    own, out = f"{WORK}/headers", f"{WORK}/built"
    os.makedirs(own, exist_ok=True)
    os.makedirs(out, exist_ok=True)
    for name in ("libc-diag.h", "array_length.h", "libc-pointer-arith.h", "intprops.h",
                 "verify.h", "alloc_buffer.h"):
        command("cp", f"{source}/include/{name}", own)
    for name, text in (("stackinfo.h", "#define _STACK_GROWS_DOWN 1\n#define PF_X 1\n"),
                       ("ldsodefs.h", ""), ("config.h", "")):
        with open(f"{own}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    include = [f"-I{own}", f"-I{source}", f"-I{source}/support", f"-I{source}/malloc"]

    def compiled(path, *more):
        name = f"{out}/{os.path.basename(path)[:-2]}"
        done = subprocess.run(["gcc", *FLAGS, *include, path, *more, "-o",
                               name if more[:1] != ("-c",) else f"{name}.o"],
                              capture_output=True, text=True, check=False)
        return name if done.returncode == 0 else None

    helpers = glob.glob(f"{source}/support/*.c") + glob.glob(
        f"{source}/malloc/dynarray_*.c") + glob.glob(f"{source}/malloc/alloc_buffer_*.c")
    tests = [path for path in glob.glob(f"{source}/malloc/tst-*.c")
             if os.path.basename(path)[:-2] not in NOT_BUILT]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = [name for name in pool.map(lambda path: compiled(path, "-c"), helpers) if name]
        library = f"{out}/libsupport.a"
        command("ar", "cr", library, *(f"{name}.o" for name in made))
        aux = {name: f"{source}/malloc/tst-interpose-aux-{name}.c"
               for name in ("thread", "nothread")}

        def linked(path):
            kind = re.match(r"tst-interpose-(\w+)\.c", os.path.basename(path))
            more = [aux[kind[1]]] if kind else []
            return path, compiled(path, *more, library, "-lpthread")
        built = dict(pool.map(linked, tests))
    return built


def blurred(text):
    """Without addresses, numbers of processes and names of temporary files."""
    return re.sub(r"0x[0-9a-f]+|\d+|/tmp/\S+", "#", text)


def run_one(argv, folder, env):
    """What ARGV did, in an empty folder of its own: status, output, errors."""
    os.makedirs(folder)
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True,
                          errors="replace", timeout=300, check=False,
                          stdin=subprocess.DEVNULL)
    if os.path.basename(argv[-1]) in OUTPUT_IS_CHANCE:
        return done.returncode, "", ""
    return done.returncode, blurred(done.stdout), blurred(done.stderr)


def run_both(case):
    """CASE plain and recorded, and how many events the recorder saw."""
    program, way = case
    env = dict(os.environ, **WAYS[way])
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/t.tide"
        plain = run_one([program], f"{folder}/plain", env)
        recorded = run_one([tide.TIDEMARK, "run", "-q", "--force", "-o", trace, "--",
                            program], f"{folder}/recorded", env)
        return case, plain, recorded, tide.info(trace)["honesty"]["events"]


class GlibcMalloc(tide.Case):
    @classmethod
    def setUpClass(cls):
        os.makedirs(WORK, exist_ok=True)
        cls.built = build(unpacked())

    def test_every_test_was_built(self):
        missing = [os.path.basename(path) for path, name in self.built.items() if not name]
        self.assertEqual(missing, [])
        self.assertGreaterEqual(len(self.built), 35)

    def test_ends_the_same_recorded(self):
        cases = [(name, way) for name in sorted(self.built.values()) for way in WAYS]
        passed = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (program, way), plain, recorded, events in pool.map(run_both, cases):
                passed += plain[0] == 0
                with self.subTest(program=os.path.basename(program), way=way):
                    self.assertEqual(recorded, plain)
                    self.assertGreater(events, 0)
        self.assertGreaterEqual(passed, len(cases) * 3 // 4, "most must pass plain")


if __name__ == "__main__":
    tide.main()
