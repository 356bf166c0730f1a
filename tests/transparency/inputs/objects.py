"""python3: objects, threads, processes, json, sqlite, ctypes."""
import ctypes
import hashlib
import json
import multiprocessing
import os
import random
import re
import sqlite3
import subprocess
import sys
import threading
import zlib


def work(seed):
    dice = random.Random(seed)
    rows = [{str(k): [dice.random(), "x" * dice.randrange(40)] for k in range(20)}
            for _ in range(300)]
    return hashlib.sha256(json.dumps(json.loads(json.dumps(rows))).encode()).hexdigest()


def main():
    found = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: work(n)}))
               for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*(found[n] for n in sorted(found)), sep="\n")
    fork = multiprocessing.get_context("fork")
    met = fork.Barrier(3)   # else one of the two may do all the work before the other is there
    with fork.Pool(2, met.wait) as pool:
        met.wait()
        print(*pool.map(work, range(4)), sep="\n")
    base = sqlite3.connect(":memory:")
    base.execute("create table t(a, b)")
    base.executemany("insert into t values(?, ?)", ((i, str(i) * 3) for i in range(5000)))
    print(base.execute("select sum(a), sum(length(b)) from t").fetchone())
    print(subprocess.run(["sh", "-c", "echo $((6 * 7))"], capture_output=True, text=True,
                         check=True).stdout.strip())
    print(len(zlib.compress(bytes(range(256)) * 4000)))
    print(len(re.findall(r"(a+)(b|c)", "aab" * 5000 + "ac" * 3000)))
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    blocks = [ctypes.c_void_p(libc.malloc(ctypes.c_size_t(n))) for n in range(1, 2000)]
    print(all(block.value for block in blocks))
    for block in blocks:
        libc.free(block)
    if os.environ.get("ALLOCATOR"):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            print(sorted(set(re.findall(r"/(lib(?:je|tc|mi)malloc[a-z_]*)", maps.read()))))
    print("to standard error", file=sys.stderr)
    sys.exit(11)


main()
