"""tests/e2e/test_tidy.py - what a run leaves behind is noticed by the tests themselves."""
import os
import signal
import subprocess

import tide


class Tidy(tide.TidyCase):
    def must_complain(self, words):
        with self.assertRaises(AssertionError) as caught:
            self.nothing_left(seconds=0.2)
        self.assertIn(words, str(caught.exception))

    def test_a_child_is_noticed(self):
        with subprocess.Popen(["sleep", "60"]) as child:
            self.must_complain("sleep 60")
            child.kill()

    def test_an_orphan_without_environment_is_noticed(self):
        done = subprocess.run(["env", "-i", "/bin/sh", "-c", "/bin/sleep 61 >/dev/null & echo $!"],
                              stdout=subprocess.PIPE, check=True, timeout=60)
        self.must_complain("sleep 61")
        os.kill(int(done.stdout), signal.SIGKILL)

    def test_a_folder_is_noticed(self):
        folder = os.path.join(self.runtime, "tidemark-left")
        os.mkdir(folder)
        self.must_complain("tidemark-left")
        self.nothing_left(folders=False)
        os.rmdir(folder)

    def test_shared_memory_is_noticed(self):
        with subprocess.Popen([tide.TIDEMARK, "run", "-q", "-o",
                               os.path.join(self.runtime, "t"), "sleep", "62"]) as run:
            while b"memfd:tidemark" not in b"".join(
                    tide.read_of(pid, "maps") for pid in tide.descendants(run.pid)):
                self.assertIsNone(run.poll())
            self.must_complain("sleep 62, with shared memory")
            run.terminate()
        os.unlink(os.path.join(self.runtime, "t.tide"))


if __name__ == "__main__":
    tide.main()
