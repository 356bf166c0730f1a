/* collect/machine.c - what recording needs of this machine, and whether it is there.
 *
 * What can be tried is tried, by the functions that a run uses: a rule about versions or
 * permissions would be one more thing that can be wrong.
 */
#include "collect/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "collect/collector.h"
#include "collect/preload.h"
#include "collect/preloads.h"
#include "collect/segment.h"
#include "collect/session_folder.h"
#include "trace/ring.h"

enum {
    TIDE_FILES_FEW = 256,
    TIDE_MIB = 1 << 20,
    TIDE_DISK_FEW_MIB = 256,
};

/* --- What a run makes -------------------------------------------------------------------- */

static void check_library(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "recorder", .level = TIDE_LEVEL_OK};
    static const struct tide_check bad = {
        .name = "recorder",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "install tidemark as a whole (make install)",
    };
    char *const library = tide_preload_find();
    const char *const problem = tide_preload_problem(library);
    if (problem)
        tide_checks_add(out, &bad, "%s", problem);
    else
        tide_checks_add(out, &fine, "%s is there", library);
    free(library);
}

/* The errno, 0 when all went well. */
static int try_shared_memory(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    (void)sigaction(SIGXFSZ, &ignore, &before); /* a limit shall be an error */
    const int fd = tide_memory_file("tidemark-doctor", TIDE_SEGMENT_START);
    int problem = fd < 0 ? errno : 0;
    void *const at = fd < 0 ? MAP_FAILED
                            : mmap(NULL, TIDE_SEGMENT_START, PROT_READ | PROT_WRITE,
                                   MAP_SHARED, fd, 0);
    if (fd >= 0 && at == MAP_FAILED)
        problem = errno;
    if (at != MAP_FAILED)
        (void)munmap(at, TIDE_SEGMENT_START);
    if (fd >= 0)
        (void)close(fd);
    (void)sigaction(SIGXFSZ, &before, NULL);
    return problem;
}

static void check_shared_memory(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "memory", .level = TIDE_LEVEL_OK};
    static const struct tide_check bad = {
        .name = "memory",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "look at the limits (ulimit -a), the container's memory and its "
                  "seccomp profile: memfd_create must work",
    };
    const int problem = try_shared_memory();
    if (problem)
        tide_checks_add(out, &bad,
                        "shared memory (memfd) cannot be made: %s: nothing could be "
                        "recorded",
                        strerrordesc_np(problem));
    else
        tide_checks_add(out, &fine, "shared memory (memfd) can be made and mapped");
}

static void check_session(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "session", .level = TIDE_LEVEL_OK};
    static const struct tide_check bad = {
        .name = "session",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "set TMPDIR to a folder that can be written and has a short name",
    };
    char *const folder = tide_session_folder_make();
    if (!folder) {
        tide_checks_add(out, &bad,
                        "no session folder can be made in $XDG_RUNTIME_DIR, $TMPDIR or "
                        "/tmp: %s",
                        strerrordesc_np(errno));
        return;
    }
    const int listener = tide_handshake_listen(folder);
    if (listener < 0)
        tide_checks_add(out, &bad, "no socket can be made in %s: %s", folder,
                        strerrordesc_np(errno));
    else
        tide_checks_add(out, &fine,
                        "a session folder with a socket can be made in %.*s",
                        (int)(strrchr(folder, '/') - folder), folder);
    if (listener >= 0)
        (void)close(listener);
    tide_session_folder_remove(folder);
    free(folder);
}

static void check_disk(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "folder", .level = TIDE_LEVEL_OK};
    static const struct tide_check closed = {
        .name = "folder",
        .level = TIDE_LEVEL_WARNING,
        .advice = "name the trace with run -o NAME, or go to another folder",
    };
    static const struct tide_check full = {
        .name = "folder",
        .level = TIDE_LEVEL_WARNING,
        .advice = "make room, or name the trace elsewhere with run -o NAME",
    };
    struct statvfs disk;
    if (access(".", W_OK) != 0) {
        tide_checks_add(out, &closed, "no trace can be written in this folder: %s",
                        strerrordesc_np(errno));
        return;
    }
    if (statvfs(".", &disk) != 0)
        return;
    const uint64_t free_mib = (uint64_t)disk.f_bavail * disk.f_frsize / TIDE_MIB;
    tide_checks_add(out, free_mib < TIDE_DISK_FEW_MIB ? &full : &fine,
                    "a trace can be written in this folder; %llu MiB are free",
                    (unsigned long long)free_mib);
}

/* --- Limits ----------------------------------------------------------------------------------- */

static rlim_t most_allowed(int resource)
{
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)resource, &limit) == 0 ? limit.rlim_max
                                                                 : RLIM_INFINITY;
}

static rlim_t allowed(int resource)
{
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)resource, &limit) == 0 ? limit.rlim_cur
                                                                 : RLIM_INFINITY;
}

static void check_files(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "descriptors",
                                           .level = TIDE_LEVEL_OK};
    static const struct tide_check few = {
        .name = "descriptors",
        .level = TIDE_LEVEL_WARNING,
        .advice = "raise the hard limit (ulimit -Hn)",
    };
    const rlim_t most = most_allowed(RLIMIT_NOFILE); /* a run raises its own to it */
    if (most == RLIM_INFINITY)
        tide_checks_add(out, &fine, "any number of descriptors");
    else
        tide_checks_add(out, most < TIDE_FILES_FEW ? &few : &fine,
                        "%llu descriptors at most: enough for about %llu processes at "
                        "a time",
                        (unsigned long long)most, (unsigned long long)most / 2);
}

static void check_sizes(struct tide_checks *out)
{
    static const struct tide_check file = {
        .name = "file-size",
        .level = TIDE_LEVEL_WARNING,
        .advice = "raise the limit (ulimit -f unlimited)",
    };
    static const struct tide_check space = {
        .name = "address-space",
        .level = TIDE_LEVEL_NOTE,
        .advice = "leave some MiB of room (ulimit -v)",
    };
    static const struct tide_check fine = {.name = "limits", .level = TIDE_LEVEL_OK};
    const rlim_t file_size = allowed(RLIMIT_FSIZE), address_space = allowed(RLIMIT_AS);
    if (file_size != RLIM_INFINITY)
        tide_checks_add(out, &file,
                        "files may not grow beyond %llu KiB: a longer trace ends there",
                        (unsigned long long)file_size / 1024);
    if (address_space != RLIM_INFINITY)
        tide_checks_add(out, &space,
                        "a process may have %llu MiB of address space: the recorder "
                        "takes its rings from it, too",
                        (unsigned long long)address_space / TIDE_MIB);
    if (file_size == RLIM_INFINITY && address_space == RLIM_INFINITY)
        tide_checks_add(out, &fine, "neither files nor address space are limited");
}

/* --- The system ---------------------------------------------------------------------------- */

/* The number after KEY in the file PATH; -1 when there is none. */
static long read_number(const char *path, const char *key)
{
    char buffer[2048];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer) - 1);
    if (fd >= 0)
        (void)close(fd);
    if (got <= 0)
        return -1;
    buffer[got] = '\0';
    const char *const found = strstr(buffer, key);
    return found ? strtol(found + strlen(key), NULL, 10) : -1;
}

static void check_tracing(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "ptrace", .level = TIDE_LEVEL_OK};
    static const struct tide_check traced = {.name = "ptrace",
                                             .level = TIDE_LEVEL_NOTE};
    const long scope = read_number("/proc/sys/kernel/yama/ptrace_scope", "");
    const long tracer = read_number("/proc/self/status", "TracerPid:");
    if (tracer > 0)
        tide_checks_add(out, &traced,
                        "process %ld traces this one (a debugger?): recording works "
                        "under it, but stops when it stops the program",
                        tracer);
    else if (scope > 0)
        tide_checks_add(out, &fine,
                        "tracing is restricted (yama ptrace_scope %ld): recording does "
                        "not need it",
                        scope);
    else
        tide_checks_add(out, &fine, "nobody traces this process");
}

static void check_clock(struct tide_checks *out)
{
    static const struct tide_check good = {.name = "clock", .level = TIDE_LEVEL_OK};
    static const struct tide_check slow = {.name = "clock", .level = TIDE_LEVEL_NOTE};
    struct tide_clock clock;
    tide_clock_start(&clock);
    if (tide_ticks_kind == TIDE_TICKS_COUNTER)
        tide_checks_add(out, &good, "times come from the processor's counter");
    else
        tide_checks_add(out, &slow,
                        "the processor's counter cannot be trusted here: times come "
                        "from clock_gettime, which costs a little more");
}

static void check_system(struct tide_checks *out)
{
    static const struct tide_check fine = {.name = "system", .level = TIDE_LEVEL_OK};
    static const struct tide_check old = {
        .name = "system",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "Linux 4.14 (MADV_WIPEONFORK) and glibc 2.35 (_dl_find_object) are "
                  "the oldest that serve",
    };
    struct utsname name = {0};
    int linux_major = 0, linux_minor = 0, glibc_major = 0, glibc_minor = 0;
    (void)uname(&name);
    // NOLINTBEGIN(cert-err34-c): what is no number is an old version
    (void)sscanf(name.release, "%d.%d", &linux_major, &linux_minor);
    (void)sscanf(gnu_get_libc_version(), "%d.%d", &glibc_major, &glibc_minor);
    // NOLINTEND(cert-err34-c)
    const bool serves = linux_major * 1000 + linux_minor >= 4014 &&
                        glibc_major * 1000 + glibc_minor >= 2035;
    tide_checks_add(out, serves ? &fine : &old, "Linux %s, glibc %s", name.release,
                    gnu_get_libc_version());
}

static void check_preloads(struct tide_checks *out)
{
    static const struct tide_check none = {.name = "preload", .level = TIDE_LEVEL_OK};
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    const char *const value = getenv("LD_PRELOAD");
    const size_t before = out->count;
    tide_preloads_check(value, out);
    if (out->count == before)
        tide_checks_add(out, &none, "nothing else is preloaded (LD_PRELOAD)");
}

static void check_children(struct tide_checks *out)
{
    static const struct tide_check said = {.name = "children", .level = TIDE_LEVEL_OK};
    tide_checks_add(out, &said,
                    "programs that are started with a clean environment (env -i) are "
                    "counted, not recorded; 'run --keep-preload' records them as well");
}

void tide_machine_check(struct tide_checks *out)
{
    check_library(out);
    check_shared_memory(out);
    check_session(out);
    check_disk(out);
    check_files(out);
    check_sizes(out);
    check_preloads(out);
    check_children(out);
    check_tracing(out);
    check_clock(out);
    check_system(out);
}
