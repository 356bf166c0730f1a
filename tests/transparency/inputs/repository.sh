# git: a repository with 40 commits, branches, a merge, a pack; every date is given.
set -e
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@d
git init -q -b main repo
cd repo
git config gc.auto 0
git config pack.threads ${THREADS:-1}
commit() {
    GIT_AUTHOR_DATE="$1 +0000" GIT_COMMITTER_DATE="$1 +0000" git commit -q -m "change $1"
}
for i in $(seq 1 ${COMMITS:-40}); do
    mkdir -p d$((i % 7))
    seq $i $((i * 37 + 400)) >d$((i % 7))/f$((i % 13)).txt
    seq $i 11 $((i * 400)) >>log.txt
    git add -A
    commit $((1000000000 + i * 60))
done
git checkout -q -b side HEAD~5
echo side >side.txt
git add side.txt
commit 1100000000
git checkout -q main
GIT_AUTHOR_DATE="1100000060 +0000" GIT_COMMITTER_DATE="1100000060 +0000" \
    git merge -q -m merge side
git log --stat --format='%H %T %s' | sha256sum
git log --graph --oneline --all | head -20
git diff HEAD~10 -- log.txt | sha256sum
git blame log.txt | sha256sum
git grep -c 77 | head
git repack -q -a -d -f
git gc -q --prune=now
git fsck --full --strict
git count-objects -v
git for-each-ref
git rev-list --objects --all | sort | sha256sum
git clone -q . ../copy
git -C ../copy rev-parse HEAD
git checkout -q nosuchbranch
