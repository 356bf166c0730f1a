/* capture/igprof.c - igprof_dump_now(), for programs that ask IgProf for a profile.
 *
 * What was recorded up to here goes to the trace; `tidemark export` makes a profile of it in
 * a process aside, with an environment of its own.  Only the thread that asks waits for it.
 * A profile that cannot be written is said once; the program goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/api.h"
#include "capture/lifecycle.h"
#include "capture/process.h"
#include "capture/raw_lines.h"
#include "capture/session.h"
#include "capture/spawn.h"

enum { TIDE_DUMP_PATH = 4096, TIDE_DUMP_NUMBER = 24, TIDE_DUMP_PROGRAM = 100 };

static _Atomic uint32_t dump_lock;
static _Atomic long dump_pid;      /* whose lock that is: not a forked child's */
static char trace[TIDE_DUMP_PATH]; /* guarded by dump_lock */
static char path[TIDE_DUMP_PATH];  /* the same: in use while a name is made */
static char usual[TIDE_DUMP_PATH]; /* the same: a name of our own */
static char pid[TIDE_DUMP_NUMBER]; /* the same */

static __attribute__((noinline)) void complain(const char *file, const char *why)
{
    static _Atomic uint32_t complained;
    struct tide_lines lines = {.file = 2};
    if (atomic_exchange(&complained, 1))
        return;
    tide_lines_text(&lines, "tidemark: igprof_dump_now: ");
    tide_lines_name(&lines, file);
    tide_lines_text(&lines, ": ");
    tide_lines_text(&lines, why);
    tide_lines_text(&lines, "\n");
    tide_lines_flush(&lines);
}

/* Text at *OUT becomes that of LINES. */
static void copy_lines(struct tide_lines *lines, char *out, size_t size)
{
    const size_t length = lines->used < size ? lines->used : size - 1;
    memcpy(out, lines->bytes, length);
    out[length] = '\0';
}

/* igprof.PROGRAM.PID.SECONDS.gz, as IgProf calls it. */
static __attribute__((noinline)) const char *usual_name(void)
{
    struct tide_lines name = {.file = -1};
    struct timespec now = {0};
    const long length =
        syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *const slash = strrchr(path, '/');
    char *const program = path + (slash ? slash + 1 - path : 0);
    program[strnlen(program, TIDE_DUMP_PROGRAM)] = '\0';
    clock_gettime(CLOCK_REALTIME, &now);
    tide_lines_text(&name, "igprof.");
    tide_lines_text(&name, program);
    tide_lines_text(&name, ".");
    tide_lines_text(&name, pid);
    tide_lines_text(&name, ".");
    tide_lines_number(&name, (uint64_t)now.tv_sec);
    tide_lines_text(&name, ".");
    for (long unit = 100000000; unit >= 1000; unit /= 10) /* all six digits */
        tide_lines_number(&name, (uint64_t)(now.tv_nsec / unit % 10));
    tide_lines_text(&name, ".gz");
    copy_lines(&name, usual, sizeof(usual));
    return usual;
}

/* The folders that FILE is to lie in. */
static void make_folders(const char *file)
{
    const size_t length = strnlen(file, sizeof(path));
    if (length == sizeof(path))
        return;
    memcpy(path, file, length + 1);
    for (char *slash = strchr(path + 1, '/'); *path && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        syscall(SYS_mkdirat, AT_FDCWD, path, 0777);
        *slash = '/';
    }
}

/* The shell runs COMMAND as it is, and reads of the profile. */
static int export_to_command(const char *program, const char *command)
{
    char shell[] = "sh", option[] = "-c";
    char script[] = "\"$0\" export --to igprof --pid \"$1\" -- \"$2\" 2>/dev/null |"
                    " eval \"$3\"";
    char *const arguments[] = {shell,
                               option,
                               script,
                               (char *)(uintptr_t)program,
                               pid,
                               trace,
                               (char *)(uintptr_t)command,
                               NULL};
    return tide_spawn_run("/bin/sh", arguments, false);
}

static int export_to_file(const char *program, const char *file)
{
    char export[] = "export", to[] = "--to", igprof[] = "igprof", of[] = "--pid";
    char output[] = "-o", rest[] = "--";
    char *const arguments[] = {
        (char *)(uintptr_t)program, export, to,    igprof, of, pid, output,
        (char *)(uintptr_t)file,    rest,   trace, NULL};
    make_folders(file);
    return tide_spawn_run(program, arguments, true);
}

static bool know_trace(void)
{
    const long length = tide_session_trace(trace, sizeof(trace) - 1);
    trace[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static __attribute__((noinline)) void find_pid(void)
{
    struct tide_lines number = {.file = -1};
    tide_lines_number(&number, tide_process->pid);
    copy_lines(&number, pid, sizeof(pid));
}

static void dump(const char *file)
{
    const char *const program = tide_spawn_program();
    find_pid();
    const bool named = file && *file;
    const char *const name = named ? file : usual_name();
    if (!program || !know_trace())
        complain(name,
                 "not written: the trace or the program tidemark is out of reach");
    else if (!tide_session_flush())
        complain(name, "not written: there is no word from the collector");
    else if ((*name == '|' ? export_to_command(program, name + 1)
                           : export_to_file(program, name)) != 0)
        complain(name, "could not be written");
}

/* What it gets is IgProf's: no name, or "", is a name of its own, and "|COMMAND" gets the
 * profile on its standard input. */
TIDE_HOOK void igprof_dump_now(const char *file);
TIDE_HOOK void igprof_dump_now(const char *file)
{
    const int saved = errno;
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON || atomic_load(&tide_process->off)) {
        complain(file ? file : "", "not written: this process is not being recorded");
        errno = saved;
        return;
    }
    tide_recorder_snapshot(file && *file ? file : "igprof_dump_now");
    const struct tide_hush before = tide_hush_begin(&tide_self);
    const long own = syscall(SYS_getpid);
    if (atomic_exchange(&dump_pid, own) != own)
        atomic_store(&dump_lock, 0);
    tide_lock(&dump_lock);
    dump(file);
    tide_unlock(&dump_lock);
    tide_hush_end(&tide_self, before);
    errno = saved;
}
