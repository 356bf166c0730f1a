"""tests/e2e/test_broken_modules.py - a module that breaks the reader of names costs its names.

The module is a program that was recorded as it was built, and whose debug information was
replaced afterwards: by what takes gigabytes when it is decompressed.
"""
import os
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

import tide

MIB = 1 << 20
SHF_COMPRESSED = 1 << 11
ELFCOMPRESS_ZLIB = 1


def zeros_compressed(mebibytes):
    """So many MiB of zeros as zlib has them, without compressing them all."""
    squeeze = zlib.compressobj(9)
    zeros = bytes(MIB)
    first = squeeze.compress(zeros) + squeeze.flush(zlib.Z_FULL_FLUSH)
    other = squeeze.compress(zeros) + squeeze.flush(zlib.Z_FULL_FLUSH)
    sums = (mebibytes * MIB % 65521) << 16 | 1      # Adler-32 of zeros
    return first + other * (mebibytes - 1) + b"\x03\x00" + struct.pack(">I", sums)


def replace_section(path, name, contents, flags):
    """Let section NAME of the 64-bit ELF file at PATH have CONTENTS."""
    with open(path, "rb") as file:
        image = bytearray(file.read())
    table, = struct.unpack_from("<Q", image, 40)
    size, count, names = struct.unpack_from("<HHH", image, 58)
    texts, = struct.unpack_from("<Q", image, table + names * size + 24)
    for header in range(table, table + count * size, size):
        at = texts + struct.unpack_from("<I", image, header)[0]
        if image[at:image.index(b"\0", at)] == name:
            break
    else:
        raise LookupError(name)
    struct.pack_into("<Q", image, header + 8, flags)
    struct.pack_into("<QQ", image, header + 24, len(image), len(contents))
    image += contents
    os.unlink(path)
    with open(path, "wb") as file:
        file.write(image)


class BrokenModules(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tide-names-")
        self.addCleanup(folder.cleanup)
        self.program = os.path.join(folder.name, "victim")
        shutil.copy(tide.program("planted_leak_once"), self.program)
        self.trace = tide.Recorded([self.program], ["--no-names"], folder=folder.name).trace
        self.functions = self.names(tide.report(self.trace, "--total", "--flat"))
        self.assertIn("main", self.names(tide.report(self.trace, "--total", "--tree")))

    def names(self, found):
        """The functions of the victim, wherever they stand in the rows."""
        rows, names = list(found["rows"]), set()
        for row in rows:
            rows += row.get("children", [])
            if row["module"] and row["module"].endswith("victim"):
                names.add(row["function"])
        return names

    def make_bomb(self, mebibytes):
        head = struct.pack("<IIQQ", ELFCOMPRESS_ZLIB, 0, mebibytes * MIB, 1)
        replace_section(self.program, b".debug_info", head + zeros_compressed(mebibytes),
                        SHF_COMPRESSED)

    def why(self, found):
        return {os.path.basename(each["module"]): each["why"]
                for each in found["honesty"]["unnamed_modules"]}

    def test_what_does_not_fit_is_left_alone(self):
        self.make_bomb(4096)
        begun = time.monotonic()
        found = tide.report(self.trace, "--total", "--flat", "--max-memory", "512M")
        self.assertLess(time.monotonic() - begun, 10)
        self.assertEqual(self.why(found).get("victim"), "too_big")
        self.assertEqual(self.names(found), self.functions)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertLess(used, 512 * MIB)
        done = subprocess.run([tide.TIDEMARK, "report", "--max-memory", "512M", self.trace],
                              capture_output=True, text=True, check=True, timeout=60)
        self.assertRegex(" ".join(done.stdout.split()),
                         "Names are missing from victim: its debug information needs more "
                         "memory than there is")

    def test_there_is_a_limit_where_memory_is_plenty(self):
        self.make_bomb(6144)
        found = tide.report(self.trace, "--total", "--flat")
        self.assertEqual(self.why(found).get("victim"), "too_big")

    def test_queries_and_packing_go_on(self):
        self.make_bomb(4096)
        for words in (["query", "--max-memory", "512M", self.trace,
                       "SELECT leaf,count() WHERE mem.alloc GROUP BY leaf"],
                      ["pack", "--max-memory", "512M", self.trace]):
            done = subprocess.run([tide.TIDEMARK, *words], capture_output=True, text=True,
                                  check=False, timeout=60)
            self.assertEqual((done.returncode, "memory" in done.stderr), (0, False),
                             done.stderr)

    def children(self, process):
        path = f"/proc/{process.pid}/task/{process.pid}/children"
        with open(path, encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def kill_reader(self, number):
        """Report the trace, and send the child that reads names a signal; what was found."""
        self.make_bomb(3072)    # about ten seconds
        with subprocess.Popen([tide.TIDEMARK, "report", "--json", "-n", "100000", "--total",
                               "--flat", "--max-memory", "12GiB", self.trace],
                              stdout=subprocess.PIPE) as process:
            while process.poll() is None and not self.children(process):
                time.sleep(0.005)
            child, = self.children(process)
            while process.poll() is None and self.memory(child) < 64 * MIB:
                time.sleep(0.005)
            os.kill(child, number)
            out = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0)
        return tide.json.loads(out)

    @staticmethod
    def memory(pid):
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def test_a_reader_that_crashes_costs_lines(self):
        for number in (signal.SIGSEGV, signal.SIGXCPU):
            with self.subTest(number=number):
                shutil.copy(tide.program("planted_leak_once"), self.program)
                found = self.kill_reader(number)
                self.assertEqual(self.why(found).get("victim"), "broken")
                self.assertEqual(self.names(found), self.functions)

    def test_processor_time_is_limited(self):
        self.make_bomb(3072)
        done = subprocess.run(
            ["prlimit", "--cpu=1:100", tide.TIDEMARK, "report", "--json", "--total", "--flat",
             "--max-memory", "12GiB", self.trace], capture_output=True, check=True,
            timeout=60, preexec_fn=self.ignore_time)
        self.assertEqual(self.why(tide.json.loads(done.stdout)).get("victim"), "broken")

    @staticmethod
    def ignore_time():
        """The limit must hold whatever the caller does with its signal."""
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXCPU])


if __name__ == "__main__":
    tide.main()
