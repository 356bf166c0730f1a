"""tests/transparency/more_cases.py - the further cases of `make check-transparency`."""
import cases
from case import Blur, Case, Skip
from cases import AS, LD, compiled, on_allocator, python_tests

LONG = 900   # seconds

DEEP = {key: "its extensions are loaded with RTLD_DEEPBIND: they call libc's malloc directly, "
             "and the report says so" for key in ("troubles", "replaced_blocks",
                                                  "unmatched_frees")}


def script(name, package, command, text, least_events=1000, **further):
    """A script of some interpreter, written out here."""
    program = further.pop("program", command[0])
    return Case(name, "interpreters", command, (package,), made={command[-1]: text},
                records={program: 1}, least_events=least_events, **further)


def shell(name, group, packages, command, records, **further):
    return Case(name, group, ("sh", "-ec", command), packages, records=records, **further)


INTERPRETERS = (
    script("ruby", "ruby", ("ruby", "tide.rb"), """
require 'json'
h = Hash.new { |t, k| t[k] = [] }
100_000.times { |i| h["k#{i * 31 % 1009}"] << i.to_s }
puts h.size, h.values.map(&:size).max, JSON.generate(h.first(3)).size
puts (1..4).map { |n| Thread.new { (1..20_000).map { |i| "x" * (i * n % 50) }.sum(&:size) } }
  .map(&:value).inspect
r, w = IO.pipe
pid = fork { w.puts "child"; exit! 4 }
Process.wait pid
puts r.gets, $?.exitstatus, `echo shell`
GC.compact if GC.respond_to?(:compact)
exit 9
""", status=9, program="ruby3.1"),
    script("php", "php-cli", ("php", "tide.php"), r"""<?php
$a = [];
for ($i = 0; $i < 100000; $i++) $a["k" . $i * 31 % 1009][] = str_repeat("x", $i % 50);
ksort($a);
echo count($a), " ", strlen(json_encode($a)), " ", md5(serialize($a)), "\n";
echo preg_replace_callback('/\d+/', fn($m) => $m[0] * 2, "1 22 333"), "\n";
echo shell_exec('echo shell'), array_sum(array_map('intdiv', range(2, 2000, 2),
    array_fill(0, 1000, 2))), "\n";
exit(8);
""", status=8, program="php8.2", allowed=DEEP),
    script("lua", "lua5.4", ("lua5.4", "tide.lua"), """
local t = {}
for i = 1, 200000 do t[i] = {i, tostring(i) .. string.rep("x", i % 20)} end
table.sort(t, function(a, b) return a[2] < b[2] end)
print(#t, t[1][2], t[#t][2])
local co = coroutine.wrap(function() for i = 1, 1000 do coroutine.yield(i * i) end end)
local s = 0
for i = 1, 1000 do s = s + co() end
collectgarbage()
print(s, io.popen("echo shell"):read("a"))
os.exit(6)
""", status=6),
    script("tclsh", "tcl", ("tclsh", "tide.tcl"), """
for {set i 0} {$i < 50000} {incr i} { lappend d([expr {$i * 31 % 1009}]) [string repeat x [expr {$i % 40}]] }
set n 0
foreach k [lsort [array names d]] { incr n [llength $d($k)] }
puts "$n [array size d] [string length [join [array get d]]]"
puts [exec echo shell]
exit 5
""", 500, status=5, program="tclsh8.6"),
    script("Rscript", "r-base-core", ("Rscript", "--vanilla", "tide.R"), """
set.seed(42)
d <- data.frame(g = rep(1:100, 200), x = rnorm(20000))
print(summary(lm(x ~ g, d))$coefficients)
print(head(aggregate(x ~ g, d, mean)))
m <- matrix(rnorm(90000), 300)
print(sum(abs(svd(m)$d)))
cat(length(unlist(lapply(1:5000, function(i) paste(rep("x", i %% 30), collapse = "")))), "\\n")
quit(status = 3)
""", status=3, program="R"),
    script("emacs --batch", "emacs-nox", ("emacs", "-Q", "--batch", "-l", "tide.el"), """
(let ((table (make-hash-table :test 'equal)))
  (dotimes (i 50000)
    (push (make-string (% i 40) ?x) (gethash (format "k%d" (% (* i 31) 1009)) table)))
  (princ (format "%d\\n" (hash-table-count table)))
  (with-temp-buffer
    (dotimes (i 5000) (insert (format "line %d\\n" i)))
    (goto-char (point-min))
    (princ (format "%d\\n" (how-many "7")))
    (call-process "sh" nil t nil "-c" "echo shell")
    (garbage-collect)
    (princ (buffer-size)))
  (kill-emacs 2))
""", status=2, program="emacs-nox"),
)

JAVA = shell(
    "javac, java", "machines", ("openjdk-17-jdk-headless",),
    "javac -J-Xmx256m Tide.java; exec java -Xmx256m -Xshare:auto Tide",
    {"javac": 1, "java": 1}, inputs=("Tide.java",), status=6, timeout=LONG,
    skips=(Skip(r"tmp/hsperfdata.*", "counters of the machine, named by pid"),))
MACHINES = (
    JAVA,
    shell("rustc, and its program", "machines", ("rustc",),
          "rustc -g -C codegen-units=1 tide.rs -o tide; exec ./tide",
          {"rustc": 1, "tide": 1}, inputs=("tide.rs",), status=7, timeout=LONG),
    shell("gfortran, OpenMP", "machines", ("gfortran",),
          "gfortran -g -O1 -fopenmp matrix.f90 -o matrix; exec ./matrix",
          {"f951": 1, "matrix": 1}, inputs=("matrix.f90",)),
    shell("gdb", "machines", ("gdb", "gcc"),
          "gcc -g -O0 plain.c -o plain -lm; exec gdb -nx -batch -ex 'break walk' -ex run "
          "-ex bt -ex 'info locals' -ex 'print *tree' -ex 'delete' -ex continue ./plain",
          {"gdb": 1, "plain": 1}, inputs=("plain.c",), env={"DEBUGINFOD_URLS": ""},
          blurs=(Blur(r"0x[0-9a-f]+", "0xADDRESS", "addresses of the heap: the recorder "
                      "is in the program, too"),
                 Blur(r"process \d+", "process PID", "the pid"))),
    shell("qemu-x86_64", "machines", ("qemu-user", "gcc"),
          "gcc -g -O0 plain.c -o plain -lm; exec qemu-x86_64 ./plain",
          {"qemu-x86_64": 1}, inputs=("plain.c",)),
    shell("mpirun -n 2", "machines", ("openmpi-bin", "libopenmpi-dev"),
          "mpicc -g two_ranks.c -o ranks; exec mpirun --allow-run-as-root --oversubscribe "
          "--mca btl self,vader --mca btl_vader_single_copy_mechanism none -n 2 ./ranks",
          {"ranks": 2}, inputs=("two_ranks.c",), timeout=LONG,
          skips=(Skip(r"tmp/.*", "session folders of its daemon, named by pid"),)),
)

COMPILERS = (
    compiled("g++ -O2, <regex>", "compilers",
             "g++ -std=c++17 -g -O2 -DWITH_REGEX heavy.cpp -o heavy -pthread; ./heavy",
             {"cc1plus": 1, AS: 1, LD: 1, "heavy": 1}, timeout=LONG),
    compiled("gcc -flto", "compilers",
             "gcc -g -O2 -flto=2 -frandom-seed=tide plain.c -o plain -lm; ./plain",
             {"cc1": 1, "lto1": 1, "plain": 1}),
    Case("clang++ -g", "compilers",
         ("sh", "-ec", "clang++ -std=c++17 -g -O1 -DWITH_REGEX heavy.cpp -o heavy -pthread; "
          "./heavy"), ("clang",), ("heavy.cpp",), records={"clang": 1, "heavy": 1},
         least_events=10000, timeout=LONG),
)

SERVERS = (
    Case("redis-server, redis-benchmark", "servers", ("bash", "redis.sh"),
         ("redis-server",), ("redis.sh",), records={"redis-check-rdb": 1}, timeout=LONG,
         skips=(Skip(r"work/(benchmark\.txt|server\.log)", "rates and times"),
                Skip(r"work/dump\.rdb", "the time is in it, and the order of a table"))),
    Case("postgresql, pgbench", "servers", ("bash", "postgres.sh"), ("postgresql-15",),
         ("postgres.sh",), records={"postgres": 5, "initdb": 1, "psql": 2}, timeout=LONG,
         skips=(Skip(r"work/data(/.*)?", "a database has times and a random identity"),
                Skip(r"work/pgbench\.log", "rates"))),
)

MEDIA = (
    shell("ffmpeg", "media", ("ffmpeg",),
          "exec ffmpeg -v error -threads 2 -f lavfi -i testsrc2=d=2:s=320x240 -f lavfi -i "
          "sine=d=2 -c:v mpeg4 -c:a aac -flags +bitexact -fflags +bitexact -map 0 -map 1 "
          "-f framemd5 frames.txt", {"ffmpeg": 1}, timeout=LONG),
    shell("imagemagick", "media", ("imagemagick",),
          "exec /usr/bin/convert-im6.q16 -size 600x400 gradient:tan-navy -swirl 90 -blur 0x3 "
          "-rotate 33 -resize 50% +set date:create +set date:modify -strip -depth 8 "
          "image.ppm", {"convert-im6.q16": 1}, timeout=LONG),
    shell("tar, xz -T2", "media", ("xz-utils",),
          "mkdir tree; for i in $(seq 200); do seq $i $((i * 50)) >tree/$i; done; "
          "tar --sort=name --mtime=@0 --owner=0 --group=0 -cf tree.tar tree; "
          "xz -T2 --block-size=1MiB -k -6 tree.tar; xz -dc tree.tar.xz | sha256sum; "
          "tar -tf tree.tar.xz | tail -1", {"xz": 2, "tar": 2}),
    shell("openssl", "media", ("openssl",),
          "seq 200000 >data; openssl dgst -sha256 data; openssl enc -aes-256-cbc -K "
          "$(printf %064d 7) -iv $(printf %032d 9) -in data -out data.enc; openssl prime "
          "-checks 20 2305843009213693951; openssl genrsa 2048 2>/dev/null >key.pem; "
          "openssl rsa -in key.pem -check -noout", {"openssl": 5},
          skips=(Skip(r"work/key\.pem", "a random key"),)),
)

CHILDREN = (
    Case(**{**vars(cases.BASH), "name": "bash, 3000 forks", "env": {"FORKS": "3000"},
            "records": {"bash": 3000}, "timeout": LONG}),
    Case(**{**vars(cases.GIT), "name": "git, 150 commits, threads", "timeout": LONG,
            "env": {"COMMITS": "150", "THREADS": "4"}, "skips": (
                *cases.GIT_OWN_FILES,
                Skip(r"work/(repo|copy)/\.git/objects/(info/packs|pack/.*)",
                     "threads divide the search for deltas as it happens")),
            "blurs": (Blur(r"size-pack: \d+", "size-pack: N", "the same"),)}),
)

STRESS = tuple(cases.stressed(name, ops, *options, timeout=LONG)
               for name, ops, *options in (
    ("bigheap", 500, "--bigheap-growth", "1M"), ("brk", 20000), ("context", 2000),
    ("daemon", 200), ("dynlib", 200), ("heapsort", 2), ("hsearch", 20),
    ("mmapfixed", 20), ("mmapfork", 1), # which fills free memory, whatever its size
    ("mremap", 50, "--mremap-bytes", "1M"), ("msg", 20000), ("qsort", 2),
    ("shm", 20), ("sigfd", 20000), ("sigsegv", 5000), ("sigq", 20000),
    ("stack", 2), ("tsearch", 5), ("vm", 200, "--vm-bytes", "4M"),
    ("zombie", 500)))

MANY_MODULES = {
    "builtin types": "test_array test_bytes test_class test_coroutines "
                     "test_dict test_enum test_exceptions test_float test_format "
                     "test_generators test_list test_long test_memoryview test_set "
                     "test_unicode test_struct test_tuple test_weakref test_gc",
    "library": "test_ast test_base64 test_bisect test_bz2 test_collections test_compile "
               "test_copy test_csv test_datetime test_decimal test_difflib test_email "
               "test_functools test_hashlib test_heapq test_io test_itertools test_json "
               "test_lzma test_pickle test_re test_zlib",
    "processes and threads": "test_asyncore test_ctypes "
                             "test_faulthandler test_fork1 test_mmap test_os test_popen "
                             "test_posix test_pty test_queue test_select test_signal "
                             "test_subprocess test_thread test_threading "
                             "test_threadsignals test_wait3 test_wait4",
}
PYTHON = tuple(python_tests("python3 -m test: " + name, "python-more", modules.split(),
                            timeout=1800)
               for name, modules in MANY_MODULES.items())

ALLOCATORS = tuple(on_allocator(case, name) for case in (cases.GIT, cases.GXX, cases.NODE)
                   for name in cases.ALLOCATORS)

CASES = (*INTERPRETERS, *MACHINES, *COMPILERS, *SERVERS, *MEDIA, *CHILDREN, *STRESS,
         *PYTHON, *ALLOCATORS)
