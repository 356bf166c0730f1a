"""tests/e2e/test_debuginfod.py - debug files from a server, only when they are asked for.

The server is a small one of our own on the loopback; it counts who asks.
"""
import ctypes.util
import http.server
import os
import re
import shutil
import subprocess
import tempfile
import threading
import unittest

import tide

MISSING = [what for what, there in (
    ("libdebuginfod.so.1", ctypes.util.find_library("debuginfod")),
    ("objcopy", shutil.which("objcopy")), ("strip", shutil.which("strip"))) if not there]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # pylint: disable=invalid-name
        self.server.asked.append(self.path)
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@unittest.skipIf(MISSING, f"missing: {', '.join(MISSING)}")
class Fetched(tide.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tide-fetch-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        program = os.path.join(self.folder, "event_loop")
        debug = os.path.join(self.folder, "debug")
        shutil.copy(tide.program("event_loop"), program)
        subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        subprocess.run(["strip", program], check=True)
        notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True,
                               check=True).stdout
        build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.asked, self.server.files = [], {}
        self.place = f"/buildid/{build_id}/debuginfo"
        with open(debug, "rb") as file:
            self.server.files[self.place] = file.read()
        os.remove(debug)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.addCleanup(self.stop)
        self.trace = os.path.join(self.folder, "t.tide")
        subprocess.run([tide.TIDEMARK, "run", "-q", "-o", self.trace, "--", program],
                       check=True, timeout=120)

    def stop(self):
        if self.thread:
            self.server.shutdown()
            self.server.server_close()
            self.thread.join()
        self.thread = None

    def env(self, **more):
        return {**os.environ, "DEBUGINFOD_CACHE_PATH": os.path.join(self.folder, "cache"),
                "DEBUGINFOD_URLS": f"http://127.0.0.1:{self.server.server_port}",
                "DEBUGINFOD_TIMEOUT": "20", "COLUMNS": "200", "no_proxy": "127.0.0.1", **more}

    def tidemark(self, *words, **more):
        return subprocess.run([tide.TIDEMARK, *words], env=self.env(**more), timeout=300,
                              capture_output=True, text=True, check=False)

    def test_nobody_is_asked_unless_it_is_wanted(self):
        done = self.tidemark("report", "--total", "--flat", self.trace)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("leakOne", done.stdout)
        for words in (["pack", self.trace, "-o", os.path.join(self.folder, "o.tide")],
                      ["diff", self.trace, self.trace], ["info", self.trace],
                      ["export", "--to", "folded", self.trace]):
            self.assertEqual(self.tidemark(*words).returncode, 0)
        self.assertEqual(self.server.asked, [])

    def test_names_and_lines_come_from_the_server(self):
        done = self.tidemark("report", "--total", "--flat", "--debuginfod", self.trace)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"leakOne +event_loop\.cpp:\d+")
        self.assertIn(self.place, self.server.asked)

    def test_pack_keeps_them(self):
        self.assertEqual(self.tidemark("pack", "--debuginfod", self.trace).returncode, 0)
        self.stop()
        done = self.tidemark("report", "--total", "--flat", self.trace)
        self.assertRegex(done.stdout, r"leakOne +event_loop\.cpp:\d+")

    def test_another_file_than_was_asked_for_is_not_believed(self):
        right = bytes.fromhex(self.place.split("/")[2])
        wrong = bytes([right[0] ^ 1]) + right[1:]
        served = self.server.files[self.place]
        self.assertIn(right, served)
        self.server.files[self.place] = served.replace(right, wrong)
        done = self.tidemark("report", "--total", "--flat", "--debuginfod", self.trace)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("leakOne", done.stdout)
        self.assertIn(self.place, self.server.asked)
        self.server.files[self.place] = b"\x7fELF nonsense"
        done = self.tidemark("report", "--total", "--flat", "--debuginfod", self.trace,
                             DEBUGINFOD_CACHE_PATH=os.path.join(self.folder, "other"))
        self.assertEqual(done.returncode, 0)

    def test_no_server(self):
        done = self.tidemark("report", "--debuginfod", self.trace, DEBUGINFOD_URLS="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("DEBUGINFOD_URLS names no server", done.stderr)
        self.stop()
        done = self.tidemark("report", "--debuginfod", self.trace)
        self.assertEqual(done.returncode, 0)
        self.assertIn("no server of DEBUGINFOD_URLS answers", done.stderr)


if __name__ == "__main__":
    tide.main()
