"""tests/e2e/long_innocent_programs.py - programs that everybody uses have no leaks to report.

Nothing says that they are perfect, but nobody would thank us for a leak in `ls --help`: what
they keep, they keep until they end.
"""
import os
import shutil
import tempfile

import tide

TASKS = """
awk 'BEGIN { for (i = 0; i < 20000; i++) s[i] = i "x"; print length(s) }'
base64 WORDS
bash -c 'for i in $(seq 300); do a[$i]=$i$i; done; echo ${#a[@]}'
bc --help
cat WORDS
cmp WORDS WORDS
comm WORDS WORDS
cp WORDS COPY
cut -c 1-3 WORDS
date --help
dd if=WORDS of=COPY
diff WORDS OTHER
dirname /a/b
du SOURCE/src
env
expand WORDS
expr 1 + 2
file WORDS
find SOURCE/src -name '*.c'
fold -w 5 WORDS
gawk --help
gcc -c -O1 -o COPY.o PROGRAM
git -C SOURCE --help
git -C SOURCE log -n 20 --oneline
git -C SOURCE status --short
grep -c a WORDS
gzip -k -f WORDS
head -n 5 WORDS
id
join WORDS WORDS
ld --help
ls -lR SOURCE/src
m4 WORDS
make --help
md5sum WORDS
nl WORDS
nm TIDEMARK
nproc
objdump -h TIDEMARK
od WORDS
openssl sha256 WORDS
paste WORDS WORDS
perl -e 'my %h; $h{$_ % 977} .= "x$_" for 1 .. 20000; print scalar keys %h'
pr WORDS
printf %s-%s a b
ps aux
python3 --help
python3 -c 'import json; print(len(json.dumps(list(range(20000)))))'
readelf -S TIDEMARK
sed -e s/a/bb/g WORDS
seq 1 1000
sha1sum WORDS
sort -r WORDS
split -b 100k WORDS PART
sqlite3 :memory: 'create table t(a); insert into t values (1), (2); select sum(a) from t'
stat WORDS
strings WORDS
tac WORDS
tar cf COPY.tar SOURCE/src/base
tr a b
tsort OTHER
uniq WORDS
vim --version
wc WORDS
which ls
xargs --help
xxd WORDS
xz -k -f WORDS
"""


def words(line):
    """Like a shell, which would be one more program."""
    import shlex
    return shlex.split(line)


class Innocent(tide.Case):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.files = {name: os.path.join(self.folder, name)
                      for name in ("WORDS", "OTHER", "COPY", "PART", "PROGRAM")}
        self.files["SOURCE"] = tide.SOURCE
        self.files["TIDEMARK"] = tide.TIDEMARK
        self.files["PROGRAM"] += ".c"
        shutil.copy(os.path.join(tide.SOURCE, "src", "base", "text.c"), self.files["PROGRAM"])
        with open(self.files["WORDS"], "w", encoding="utf-8") as file:
            file.writelines(f"{i * 7919 % 100003:06} word{i}\n" for i in range(30000))
        with open(self.files["OTHER"], "w", encoding="utf-8") as file:
            file.writelines(f"{i * 7919 % 100003:06} word{i}\n" for i in range(0, 30000, 3))

    def argv(self, line):
        found = []
        for word in words(line):
            for name, path in self.files.items():
                word = word.replace(name, path)
            found.append(word)
        return found

    def test_no_leak_is_found(self):
        tried = 0
        for line in TASKS.strip().splitlines():
            argv = self.argv(line)
            if not shutil.which(argv[0], path="/usr/bin:/bin"):
                continue
            argv[0] = shutil.which(argv[0], path="/usr/bin:/bin")
            tried += 1
            with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                findings = tide.Recorded(argv, folder=folder).report()["findings"]
                self.assertEqual([each["text"] for each in findings
                                  if each["kind"].startswith(("leak", "grow", "wild", "double"))],
                                 [])
        self.assertGreaterEqual(tried, 40)


if __name__ == "__main__":
    tide.main()
