"""tests/e2e/test_doctor.py - what doctor says of a program is what becomes of it."""
import json
import os
import shutil
import stat
import struct
import subprocess
import tempfile
import unittest

import tide

SANITIZED = os.path.join(tide.SOURCE, "tests/programs/sanitized.c")
TOY_MALLOC = os.path.join(tide.SOURCE, "tests/programs/lib_toy_malloc.c")
HELLO = """
#include <stdio.h>
#include <stdlib.h>
int main(void) { free(malloc(10)); fclose(fopen("started", "w")); return 5; }
"""
NOBODY = 65534


def call(*argv, **options):
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False,
                          **options)


def levels(done):
    """check -> level, of a `doctor --json`."""
    result = json.loads(done.stdout)
    assert result["schema"] == "tidemark.doctor/1", result
    return {check["check"]: check["level"] for check in result["checks"]}


class Case(tide.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="tide-doctor-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def setUp(self):
        self.here = tempfile.mkdtemp(dir=self.folder)

    def build(self, name, *options, source=HELLO, compiler="gcc"):
        """A program of SOURCE (text, or the names of files)."""
        path = os.path.join(self.folder, name)
        if source is HELLO:
            with open(path + ".c", "w", encoding="utf-8") as file:
                file.write(source)
            source = [path + ".c"]
        done = call(compiler, "-g", "-O1", "-w", *source, "-o", path, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def write(self, name, content, mode=0o755):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        return path

    def doctor(self, *argv, **options):
        return call(tide.TIDEMARK, "doctor", "--json", *argv, cwd=self.here, **options)

    def words(self, path, check):
        """Of the worst finding CHECK about PATH."""
        found = [c for c in json.loads(self.doctor(path).stdout)["checks"]
                 if c["check"] == check and c["level"] != "ok"]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def refused(self, path, check, status=1):
        """doctor and run refuse PATH with the same words, and nothing happens."""
        done = self.doctor(path)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(json.loads(done.stdout)["verdict"], "refusal")
        found = self.words(path, check)
        self.assertEqual(found["level"], "refusal")
        ran = call(tide.TIDEMARK, "run", path, cwd=self.here)
        self.assertEqual(ran.returncode, status)
        expected = [found["text"]] + ([found["advice"]] if status == 1 else [])
        self.assertEqual(ran.stderr.splitlines(), ["tidemark: " + w for w in expected])
        self.assertEqual((ran.stdout, os.listdir(self.here)), ("", []))
        return found["text"]

    def warned(self, path, check, status=5):
        """doctor and run warn of PATH with the same words, and the trace has them."""
        done = self.doctor(path)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(json.loads(done.stdout)["verdict"], "warning")
        text = self.words(path, check)["text"]
        trace = os.path.join(self.here, os.path.basename(path) + ".tide")
        ran = call(tide.TIDEMARK, "run", "-o", trace, path, cwd=self.here)
        self.assertEqual(ran.returncode, status)
        self.assertIn(f"tidemark: {text}\n", ran.stderr)
        quiet = call(tide.TIDEMARK, "run", "-q", "-o", "q%n", path, cwd=self.here)
        self.assertEqual((quiet.returncode, quiet.stderr), (status, ""))
        return text, " ".join(tide.report(trace)["honesty"]["troubles"])


class Programs(Case):
    def test_a_plain_program_is_fine(self):
        path = self.build("plain")
        done = self.doctor(path)
        self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (0, "ok"))
        self.assertEqual(levels(done)["program"], "ok")
        ran = call(tide.TIDEMARK, "run", "-o", "t", path, cwd=self.here)
        self.assertEqual(ran.returncode, 5)
        self.assertEqual(len(ran.stderr.splitlines()), 1, ran.stderr)

    def test_static_programs_are_refused_and_can_be_forced(self):
        for option in ("-static", "-static-pie"):
            path = self.build("fixed" + option, option)
            self.assertIn("statically linked", self.refused(path, "static"))
            forced = call(tide.TIDEMARK, "run", "--force", "-o", "t", path, cwd=self.here)
            self.assertEqual(forced.returncode, 5)
            self.assertEqual(sorted(os.listdir(self.here)), ["started", "t.tide"])
            troubles = tide.report(os.path.join(self.here, "t.tide"))["honesty"]["troubles"]
            self.assertIn("statically linked", " ".join(troubles))
            self.here = tempfile.mkdtemp(dir=self.folder)

    def test_damaged_and_foreign_files_are_refused(self):
        with open(self.build("whole"), "rb") as file:
            whole = file.read()
        self.refused(self.write("half", whole[:len(whole) // 4]), "program")
        self.refused(self.write("head", whole[:100]), "program")
        self.refused(self.write("magic", whole[:4]), "program")
        narrow = bytearray(whole)
        narrow[4] = 1
        narrow[18:20] = b"\x03\x00"
        self.assertIn("32-bit program for i386",
                      self.refused(self.write("narrow", narrow), "architecture"))
        other = bytearray(whole)
        other[18:20] = struct.pack("<H", 243)
        self.assertIn("RISC-V", self.refused(self.write("other", other), "architecture"))
        library = self.build("library.so", "-shared", "-fPIC")
        self.refused(library, "program")

    def test_what_cannot_be_started_is_refused_as_a_shell_does(self):
        self.refused("./nothing", "program", 127)
        self.refused("no-such-program-anywhere", "program", 127)
        self.refused(self.folder, "program", 126)
        self.refused(self.write("closed", b"#!/bin/sh\n", 0o644), "program", 126)
        env = dict(os.environ, PATH=self.folder)
        self.assertEqual(call(tide.TIDEMARK, "closed", env=env).returncode, 126)
        env["PATH"] = os.path.dirname(self.folder)
        self.assertEqual(call(tide.TIDEMARK, os.path.basename(self.folder),
                              env=env).returncode, 127)
        self.refused(self.write("lost", b"#!/no/such/shell\n"), "program", 127)

    def test_other_loaders(self):
        musl = self.build("musl", "-Wl,--dynamic-linker=/lib64/ld-musl-none.so.1")
        found = self.doctor(musl)
        self.assertEqual(levels(found)["loader"], "refusal")
        self.assertEqual(found.returncode, 1)
        self.refused(self.build("gone", "-Wl,--dynamic-linker=/lib64/ld-linux-none.so"),
                     "program", 127)

    def test_a_program_is_found_through_path(self):
        self.build("in_path", "-static")
        env = dict(os.environ, PATH=self.folder + ":" + os.environ["PATH"])
        done = self.doctor("in_path", env=env)
        self.assertEqual((done.returncode, levels(done)["static"]), (1, "refusal"))

    def test_an_allocator_in_the_executable_is_said(self):
        path = self.build("toy", source=[SANITIZED, TOY_MALLOC])
        text, troubles = self.warned(path, "malloc", status=0)
        self.assertIn("defines malloc itself", text)
        self.assertIn("defines malloc itself", troubles)
        total = tide.report(os.path.join(self.here, "toy.tide"))["summary"]["alloc_calls"]
        self.assertEqual(total, 0)

    def test_a_hidden_allocator_is_said(self):
        hidden = self.write("je.c", b"void *je_malloc(unsigned long n)"
                                    b"{ static char all[999]; return all + n; }")
        path = self.build("hidden", hidden)
        text, troubles = self.warned(path, "malloc")
        self.assertIn("je_malloc", text)
        self.assertIn(text, troubles)

    def test_go_programs_are_known(self):
        for name, option, check in (("go", "-g", "go"), ("fixed_go", "-static", "static")):
            path = self.build(name, option)
            call("objcopy", "--add-section", f".go.buildinfo={path}.c", path)
            self.assertIn("a Go program", self.words(path, check)["text"])

    def test_old_hash_tables_are_understood(self):
        path = self.build("sysv", "-Wl,--hash-style=sysv", source=[SANITIZED, TOY_MALLOC])
        self.assertIn("defines malloc itself", self.words(path, "malloc")["text"])
        path = self.build("sysv_plain", "-Wl,--hash-style=sysv")
        self.assertNotIn("malloc", levels(self.doctor(path)))

    def test_what_stacks_and_names_need(self):
        bare = self.build("bare", "-Wl,--no-eh-frame-hdr")
        text, troubles = self.warned(bare, "stacks")
        self.assertIn(text, troubles)
        stripped = self.build("stripped", "-s")
        self.assertIn("is stripped", self.words(stripped, "symbols")["text"])
        nameless = self.build("nameless", "-g0")
        self.assertIn("no lines", self.words(nameless, "symbols")["text"])
        self.assertEqual(self.doctor(nameless).returncode, 0)


class Runtimes(Case):
    """What a trace shows of programs that are not machine code, or divide memory alone."""

    def test_interpreters(self):
        for path, words in (("/usr/bin/python3", "runs Python"), ("/usr/bin/perl", "runs Perl")):
            found = self.words(path, "interpreter")
            self.assertEqual(found["level"], "note")
            self.assertIn(words, found["text"])
            self.assertIn("none of the program in", found["text"])
        script = self.write("script.py", b"#!/usr/bin/python3\n")
        self.assertIn("runs Python", self.words(script, "interpreter")["text"])

    def test_interpreters_by_their_library(self):
        for library, language in (("libjvm", "Java"), ("libruby-3.1", "Ruby"),
                                  ("libnode", "JavaScript")):
            shared = os.path.join(self.folder, f"{library}.so")
            source = self.write("empty.c", b"int tide_unused;\n")
            done = call("gcc", "-shared", "-fPIC", source, "-o", shared,
                        f"-Wl,-soname,{library}.so.9")
            self.assertEqual(done.returncode, 0, done.stderr)
            path = self.build(library, "-Wl,--no-as-needed", shared)
            self.assertIn(f"runs {language}:", self.words(path, "interpreter")["text"])

    def test_arenas(self):
        source = self.write("arena.c", b"""
            #include <stdlib.h>
            void *palloc(size_t size) { return malloc(size); }
            int main(void) { return palloc(10) == NULL; }
        """)
        path = self.build("arena", "-rdynamic", source=[source])
        found = self.words(path, "arena")
        self.assertEqual(found["level"], "note")
        self.assertIn("(palloc)", found["text"])
        self.assertEqual(levels(self.doctor(self.build("hello"))).get("arena"), None)

class Scripts(Case):
    def test_a_script_is_judged_by_what_runs_it(self):
        shell = self.write("shell", b"#! /bin/sh -e\nexit 3\n")
        done = self.doctor(shell)
        self.assertEqual(done.returncode, 0)
        self.assertIn("/bin/sh runs it", self.words(shell, "script")["text"])
        ran = call(tide.TIDEMARK, "run", "-o", "t", shell, cwd=self.here)
        self.assertEqual(ran.returncode, 3)
        programs = tide.info(os.path.join(self.here, "t.tide"))["processes"]
        self.assertEqual(programs[0]["exe"], os.path.realpath("/bin/sh"))

    def test_env_and_text_are_followed(self):
        perl = self.write("perl", b"#!/usr/bin/env -S LANG=C perl -w\nexit 3;\n")
        self.assertIn("/perl runs it", self.words(perl, "script")["text"])
        text = self.write("text", b"exit 4\n")
        self.assertIn("/bin/sh runs it", self.words(text, "script")["text"])
        ran = call(tide.TIDEMARK, "run", "-o", "t", text, cwd=self.here)
        self.assertEqual(ran.returncode, 4)

    def test_a_script_for_a_static_program_is_refused(self):
        fixed = self.build("interpreter", "-static")
        script = self.write("script", f"#!{fixed}\n".encode())
        self.assertIn(fixed, self.refused(script, "static"))

    def test_scripts_that_run_scripts_come_to_an_end(self):
        path = os.path.join(self.folder, "circle")
        self.write("circle", f"#!{path}\n".encode())
        self.assertEqual(self.doctor(path).returncode, 1)


@unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
class Rights(Case):
    """What doctor expects of the kernel, against what the kernel does."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.chmod(self.here, 0o777)
        self.bin = os.path.join(self.folder, "bin")
        os.makedirs(self.bin, exist_ok=True)
        for source in (tide.TIDEMARK, os.environ["TIDEMARK_LIBRARY"]):
            shutil.copy(source, self.bin)
        os.chmod(self.bin, 0o755)

    def compare(self, name, as_user, check, owner=(0, 0), mode=0o755, capable=False):
        path = os.path.join(self.folder, name)
        shutil.copy(tide.program("at_secure"), path)
        os.chown(path, *owner)
        os.chmod(path, mode)
        if capable:  # cap_net_raw+ep
            os.setxattr(path, "security.capability",
                        struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
        become = ["setpriv", f"--reuid={as_user}", f"--regid={as_user}", "--clear-groups"]
        tidemark = os.path.join(self.bin, "tidemark")
        secure = call(*become, path, cwd=self.here)
        self.assertEqual(secure.stderr, "")
        done = call(*become, tidemark, "doctor", "--json", path, cwd=self.here)
        refused = levels(done).get(check) == "refusal"
        self.assertEqual(refused, secure.stdout == "1\n", (name, done.stdout))
        self.assertEqual(done.returncode, int(refused), done.stdout)
        for started in os.listdir(self.here):
            os.unlink(os.path.join(self.here, started))
        ran = call(*become, tidemark, "run", "-q", "-o", "t", path, cwd=self.here)
        self.assertEqual((ran.returncode, ran.stdout),
                         (1, "") if refused else (0, "0\n"))
        self.assertEqual(sorted(os.listdir(self.here)),
                         [] if refused else ["started", "t.tide"])
        return refused

    def test_setuid(self):
        expected = {
            ("root's", 0, (0, 0), 0o4755): False,
            ("root's for nobody", NOBODY, (0, 0), 0o4755): True,
            ("nobody's", NOBODY, (NOBODY, NOBODY), 0o4755): False,
            ("nobody's for root", 0, (NOBODY, NOBODY), 0o4755): True,
            ("root's group", NOBODY, (NOBODY, 0), 0o2755): True,
            ("own group", NOBODY, (0, NOBODY), 0o2755): False,
            ("locking", NOBODY, (0, 0), 0o2745): False,
        }
        for (name, user, owner, mode), refused in expected.items():
            with self.subTest(name=name):
                found = self.compare(name.replace(" ", "_"), user, "setuid", owner, mode)
                if not os.statvfs(self.folder).f_flag & os.ST_NOSUID:
                    self.assertEqual(found, refused)

    def test_capabilities(self):
        self.compare("capable_for_root", 0, "capabilities", capable=True)
        self.compare("capable", NOBODY, "capabilities", capable=True)

    def test_what_may_not_be_read_is_tried(self):
        path = os.path.join(self.folder, "unreadable")
        shutil.copy(tide.program("at_secure"), path)
        os.chmod(path, 0o711)
        done = call("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                    os.path.join(self.bin, "tidemark"), "doctor", "--json", path,
                    cwd=self.here)
        self.assertEqual((done.returncode, levels(done)["program"]), (0, "warning"))


class Sanitizers(Case):
    # program, compiler, options, the mistakes it notices
    SHARED = (
        ("asan", "gcc", ["-fsanitize=address"], ("use", "twice", "leak")),
        ("lsan", "gcc", ["-fsanitize=leak"], ("leak",)),
        ("tsan", "gcc", ["-fsanitize=thread"], ("race", "use")),
        ("ubsan", "gcc", ["-fsanitize=undefined"], ("overflow",)),
        ("clang_shared", "clang", ["-fsanitize=address", "-shared-libsan"], ("use",)),
    )
    INSIDE = (
        ("clang_asan", "clang", ["-fsanitize=address"], ("use", "leak")),
        ("clang_tsan", "clang", ["-fsanitize=thread"], ("race",)),
        ("static_asan", "gcc", ["-fsanitize=address", "-static-libasan"], ("twice",)),
    )

    def sanitized(self, name, compiler, options):
        if "-shared-libsan" in options:
            place = call("clang", "-print-runtime-dir").stdout.strip()
            options = [*options, f"-Wl,-rpath,{place}"]
        return self.build(name, *options, "-D_GNU_SOURCE", "-fno-omit-frame-pointer",
                          "-pthread", source=[SANITIZED], compiler=compiler)

    def compare(self, path, how, argv=None):
        """The same result with and without; the trace."""
        argv = argv or [path, how]
        plain = call(*argv, cwd=self.here)
        trace = os.path.join(self.here, f"{os.path.basename(path)}-{how}.tide")
        ran = call(tide.TIDEMARK, "run", "-q", "--wait", "-o", trace, "--", *argv,
                   cwd=self.here)
        self.assertEqual((ran.returncode, ran.stdout), (plain.returncode, plain.stdout))
        for word in ("ERROR: AddressSanitizer: ", "ERROR: LeakSanitizer: ",
                     "WARNING: ThreadSanitizer: ", "runtime error: "):
            kinds = [[line.split(word, 1)[1].split(" ")[0] for line in text.splitlines()
                      if word in line] for text in (plain.stderr, ran.stderr)]
            self.assertEqual(kinds[0], kinds[1])
        return plain, trace

    def own_calls(self, trace):
        return {row["function"]: row["calls"]
                for row in tide.report(trace, "--total", "--flat")["rows"]}.get("make", 0)

    def test_runtimes_in_libraries_are_recorded(self):
        for name, compiler, options, mistakes in self.SHARED:
            with self.subTest(name=name):
                path = self.sanitized(name, compiler, options)
                level = None if name == "ubsan" else "note"
                done = self.doctor(path)
                self.assertEqual((done.returncode, levels(done).get("sanitizer")),
                                 (0, level))
                plain, trace = self.compare(path, "good")
                self.assertEqual((plain.returncode, plain.stderr), (0, ""))
                self.whole(tide.report(trace))
                self.assertEqual(self.own_calls(trace), 1000)
                for how in mistakes:
                    plain, trace = self.compare(path, how)
                    self.assertNotEqual(plain.stderr, "")
                    self.assertEqual(self.own_calls(trace),
                                     1000 + {"use": 1, "twice": 1, "leak": 10}.get(how, 0))

    def test_what_a_runtime_makes_itself_is_said(self):
        """And is what is missing: frees of it meet no block."""
        calls = ("strdup", "strndup", "realpath", "asprintf")
        for name, missing in (("asan", calls[:3]), ("lsan", ()), ("tsan", calls[1:3]),
                              ("ubsan", ()), ("clang_shared", calls[:3])):
            [(_, compiler, options, _)] = [row for row in self.SHARED if row[0] == name]
            path = self.sanitized(name, compiler, options)
            _, trace = self.compare(path, "nothing", [path, "copies"])
            before = tide.report(trace)["honesty"]["unmatched_frees"]
            for call_name in calls:
                with self.subTest(name=name, call=call_name):
                    _, trace = self.compare(path, call_name, [path, "copies", call_name])
                    honesty = tide.report(trace)["honesty"]
                    lost = call_name in missing
                    self.assertEqual(honesty["unmatched_frees"] - before, 10 * lost)
            words = " and ".join(", ".join(missing).rsplit(", ", 1))
            told = call(tide.TIDEMARK, "report", trace).stdout
            doctor = json.loads(self.doctor(path).stdout)["checks"]
            [said] = [check["text"] for check in doctor
                      if check["check"] == "sanitizer"] or [""]
            if missing:
                self.assertIn(f"not those that {words} return", said)
                self.assertIn(f"What {words} return is made inside",
                              " ".join(told.split()))
                self.assertIn("san", os.path.basename(honesty["sanitizer"]))
            else:
                self.assertNotIn("not those", said)
                self.assertNotIn("is made inside", told)
                self.assertIsNone(honesty["sanitizer"])

    def test_runtimes_in_the_executable_are_left_alone(self):
        for name, compiler, options, mistakes in self.INSIDE:
            with self.subTest(name=name):
                path = self.sanitized(name, compiler, options)
                text, _ = self.warned(path, "sanitizer", status=0)
                self.assertIn("inside the executable", text)
                self.compare(path, "good")
                for how in mistakes:
                    plain, _ = self.compare(path, how)
                    self.assertNotEqual(plain.stderr, "")

    def test_deep_in_a_chain_nothing_is_harmed(self):
        for name, compiler, options, _ in self.SHARED[:3]:
            with self.subTest(name=name):
                path = self.sanitized(name, compiler, options)
                argv = ["sh", "-c", f"env A=b {path} good; echo $?"]
                plain, trace = self.compare(path, "chain", argv)
                self.assertEqual(plain.stdout, "good\n0\n")
                self.assertEqual(self.own_calls(trace), 1000)

    def test_options_inside_the_program_stand_in_the_way(self):
        own = self.write("own.c", b"const char *__asan_default_options(void)"
                                  b"{ return \"detect_leaks=0\"; }")
        path = self.sanitized("insists", "gcc", ["-fsanitize=address", own])
        self.assertIn("__asan_default_options", self.refused(path, "sanitizer"))
        os.environ["ASAN_OPTIONS"] = "verify_asan_link_order=0"
        self.addCleanup(os.environ.pop, "ASAN_OPTIONS")
        self.assertEqual(self.doctor(path).returncode, 0)
        _, trace = self.compare(path, "leak")
        self.assertEqual(self.own_calls(trace), 1010)


class Machine(Case):
    def test_it_looks_at_the_machine(self):
        done = self.doctor()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertLessEqual({"recorder", "memory", "session", "folder", "descriptors",
                              "preload", "ptrace", "clock", "system"}, set(levels(done)))
        self.assertEqual(os.listdir(self.here), [])
        text = call(tide.TIDEMARK, "doctor", env=dict(os.environ, COLUMNS="80"))
        self.assertIn("Programs can be recorded here.", text.stdout)
        self.assertLessEqual(max(map(len, text.stdout.splitlines())), 80)

    def test_other_preloads_are_named(self):
        def check(value):
            # An allocator there must not get into the test itself.
            done = self.doctor("/bin/true", env=dict(os.environ, LD_PRELOAD=value))
            return [(c["level"], c["text"]) for c in json.loads(done.stdout)["checks"]
                    if c["check"] == "preload"]
        (level, text), = check("/nowhere/libheaptrack_preload.so")
        self.assertEqual(level, "warning")
        self.assertIn("/nowhere/libheaptrack_preload.so", text)
        found = check("libjemalloc.so.2: /x/libmine.so")
        self.assertEqual([level for level, _ in found], ["ok", "note"])

    def test_a_heap_profiler_beside_us_is_said_by_run(self):
        env = dict(os.environ, LD_PRELOAD="/nowhere/libheaptrack_preload.so")
        ran = call(tide.TIDEMARK, "run", "-o", "t", "true", cwd=self.here, env=env)
        self.assertEqual(ran.returncode, 0)
        self.assertIn("another heap profiler", ran.stderr)

    def test_what_is_wrong_stands_first_and_the_verdict_last(self):
        env = dict(os.environ, LD_PRELOAD="/nowhere/libheaptrack_preload.so")
        lines = call(tide.TIDEMARK, "doctor", env=env, cwd=self.here).stdout.splitlines()
        found = [line.split()[0] for line in lines
                 if line.startswith("  ") and line[2:3].isalpha()]
        self.assertEqual(found[0], "warning")
        self.assertEqual(found, sorted(found, key=("warning", "note", "ok").index))
        self.assertEqual(lines[-1], "Programs can be recorded here, but see the warnings.")

    def test_no_place_for_a_session(self):
        shut = os.path.join(self.here, "no", "such", "folder")
        done = call("unshare", "-rm", "sh", "-c",
                    'mount -t tmpfs -o ro none /tmp && exec "$0" doctor --json',
                    self.copy_out(), env=dict(os.environ, TMPDIR=shut,
                                              XDG_RUNTIME_DIR=shut), cwd="/")
        if "unshare" in done.stderr or "mount" in done.stderr:
            self.skipTest("no user namespaces here")
        self.assertEqual((done.returncode, levels(done)["session"]), (1, "refusal"))

    def copy_out(self):
        """tidemark at a place that a new /tmp does not hide."""
        place = tempfile.mkdtemp(prefix="tide-doctor-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, place)
        for source in (tide.TIDEMARK, os.environ["TIDEMARK_LIBRARY"]):
            shutil.copy(source, place)
        return os.path.join(place, "tidemark")

    def test_a_library_that_is_not_there(self):
        tidemark = self.copy_out()
        os.unlink(os.path.join(os.path.dirname(tidemark), "libtidemark.so"))
        done = call(tidemark, "doctor", "--json")
        self.assertEqual((done.returncode, levels(done)["recorder"]), (1, "refusal"))
        text = [c["text"] for c in json.loads(done.stdout)["checks"]
                if c["check"] == "recorder"][0]
        ran = call(tidemark, "run", "true", cwd=self.here)
        self.assertEqual((ran.returncode, ran.stderr), (1, f"tidemark: {text}\n"))

    def test_limits(self):
        done = call("sh", "-c", 'ulimit -f 4; ulimit -v 4000000; ulimit -n 100; exec "$0" doctor --json',
                    tide.TIDEMARK, cwd=self.here)
        found = levels(done)
        self.assertEqual([found[c] for c in ("memory", "descriptors", "file-size",
                                             "address-space")],
                         ["refusal", "warning", "warning", "note"])
        self.assertEqual(done.returncode, 1)

    def test_a_folder_that_is_closed(self):
        os.chmod(self.here, stat.S_IRUSR | stat.S_IXUSR)
        done = self.doctor()
        if os.geteuid() != 0:
            self.assertEqual(levels(done)["folder"], "warning")
        self.assertEqual(call(tide.TIDEMARK, "doctor", "--json", cwd="/proc").returncode,
                         0)
        self.assertEqual(levels(call(tide.TIDEMARK, "doctor", "--json",
                                     cwd="/proc"))["folder"], "warning")


if __name__ == "__main__":
    tide.main()
