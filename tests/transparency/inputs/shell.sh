# bash: pipes, subshells, traps, job control, here-documents and some hundred forks.
set -u
shopt -s extglob
trap 'echo "exit trap, status $?"' EXIT
trap 'echo usr1' USR1
declare -A square
for ((i = 0; i < ${FORKS:-300}; i++)); do
    square[$i]=$(echo $((i * i)))
done
sum=0
for i in "${!square[@]}"; do ((sum += square[$i])); done
echo "sum $sum"
seq 1 2000 | sed 's/7/x/g' | grep -c x | tee count | cat -
cat <<END | tr a-z A-Z | sort -r
here is a document
with ${#square[@]} entries and $(printf '%05d' 42)
END
(
    trap 'echo inner exit' EXIT
    exit 3
)
echo "subshell $?"
kill -USR1 $BASHPID
state() { read -r -a stat <"/proc/$job/stat" && [ "${stat[2]}" = "$1" ]; }
start() {
    sleep 30 &
    job=$!
    # Before sleep runs it is a shell with traps of its own, and takes a signal as one.
    while read -r name <"/proc/$job/comm" && [ "$name" != sleep ]; do sleep 0.01; done
}
# With job control a stop is news to wait as well, now or never; without, wait hears of the end only.
start
kill -STOP $job
until state T; do sleep 0.01; done
kill -CONT $job
while state T; do sleep 0.01; done
kill -TERM $job
wait $job
echo "stopped job $?"
set -m
start
kill -TERM $job
wait $job
echo "job $?"
pids=()
for i in 1 2 3 4 5; do
    (exit $i) &
    pids+=($!)
done
total=0
for job in "${pids[@]}"; do
    wait $job
    ((total += $?))
done
echo "jobs $total"
coproc { while read -r line; do echo "<$line>"; done; }
helper=$COPROC_PID
echo question >&"${COPROC[1]}"
read -r answer <&"${COPROC[0]}"
echo "$answer"
exec {COPROC[1]}>&-
wait $helper
echo "helper $?"
diff <(seq 1 10) <(seq 1 2 10)
echo "diff $?"
(ulimit -c 0; bash -c 'kill -SEGV $$') 2>/dev/null
echo "crash $?"
exec 3>third
echo through three >&3
exec 3>&-
(setsid bash -c 'echo session; exec env -i /bin/echo no environment')
timeout -s INT 2 bash -c 'trap "echo int; exit 9" INT; while :; do sleep 0.05; done'
echo "timeout $?"
mapfile -t lines < <(printf '%s\n' {a..z}{0..9})
echo "${#lines[@]} ${lines[259]}"
nosuchcommand
exit 17
