"""tests/bench/symbols.py - what names cost: a table for docs/performance.md.

Usage: symbols.py BUILD [FRAMES].  Makes a C++ program of 25 000 functions with debug
information (25 units, 24 MB of .debug_info; kept in BUILD/symbols), and asks for the names
of FRAMES (20 000) different addresses in it; in libc, which has debug information if
libc6-dbg is there; in the compiler, which has ELF symbols only; and in the libraries of
LLVM if they are there.
"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys

UNITS, FUNCTIONS = 25, 1000

HEAD = """#include <map>
#include <string>
#include <vector>

namespace unit{unit} {{

template <typename T, int N> class Gauge {{
public:
    explicit Gauge(T start) : level(start) {{}}
    void rise(T by) {{ level = mix(level, by); }}
    T read() const {{ return level > N ? level - N : level; }}

private:
    static T mix(T one, T other) {{ return one * 31 + (other ^ N); }}
    T level;
}};

static inline long pick(const std::vector<long> &list, long at)
{{
    return list[static_cast<unsigned long>(at) % list.size()];
}}
"""

FUNCTION = """
__attribute__((noinline)) long function{n}(const std::vector<long> &list,
                                           const std::string &name, long depth)
{{
    Gauge<{type}, {n}> gauge(depth);
    for (long at = 0; at < depth; at++)
        gauge.rise(static_cast<{type}>(pick(list, at + {n})));
    return gauge.read() + static_cast<long>(name.size());
}}
"""


def unit_text(unit):
    parts = [HEAD.format(unit=unit)]
    for n in range(FUNCTIONS):
        parts.append(FUNCTION.format(n=n, type="long" if n % 2 else "int"))
    return "".join(parts) + "\n}\n"


def make_unit(folder, unit):
    source = os.path.join(folder, f"unit{unit:02}.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write(unit_text(unit))
    subprocess.run(["g++", "-O1", "-g", "-c", "-o", source[:-4] + ".o", source], check=True)
    return source[:-4] + ".o"


def make_program(folder):
    """A program of many functions, none of which it calls."""
    program = os.path.join(folder, "many_functions")
    if os.path.exists(program):
        return program
    os.makedirs(folder, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda unit: make_unit(folder, unit), range(UNITS)))
    main = os.path.join(folder, "main.cpp")
    with open(main, "w", encoding="utf-8") as file:
        file.write("int main() { return 0; }\n")
    subprocess.run(["g++", "-O1", "-g", "-o", program, main, *objects], check=True)
    for name in objects:
        os.remove(name)
    return program


def modules(build):
    yield make_program(os.path.join(build, "symbols"))
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1plus"], capture_output=True,
                              text=True, check=True).stdout.strip()
    if os.path.exists(compiler):
        yield compiler
    for pattern in ("/lib/x86_64-linux-gnu/libc.so.6",
                    "/usr/lib/x86_64-linux-gnu/libLLVM-*.so.1",
                    "/usr/lib/llvm-*/lib/libclang-cpp.so.*"):
        yield from sorted(glob.glob(pattern))[-1:]


def main(build, frames="20000"):
    if not shutil.which("g++"):
        sys.exit("symbols.py needs g++")
    symbols = os.path.join(build, "bench", "symbols")
    print("| module | MiB | frames | named | with a line | inlined | seconds | MiB used |")
    print("|---|---|---|---|---|---|---|---|")
    for module in modules(build):
        subprocess.run([symbols, frames, module], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
