/* collect/targets.c - the processes of a run that are being recorded.
 *
 * A lane says whose it is, and that may be untrue for us: pids differ between
 * namespaces.  To take a living process for dead would tear its lanes away, so who is
 * not clearly the process meant is not judged by his pid.
 */
#include "collect/targets.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/procfs.h"

/* A child may have been forked into a namespace of its own, and told us the pid that it
 * has there.  Such pids begin at 1; hardly any gets this far without an exec, and who
 * says hello after that is known by both his pids. */
enum { TIDE_INNER_PIDS = 300 };

enum { TIDE_RISE_PARTS = 8 };
#define TIDE_SOON_NS (10ull * 1000 * 1000)

struct tide_target *tide_target_find(struct tide_target *list, uint32_t pid,
                                     uint64_t birth)
{
    for (struct tide_target *target = list; target; target = target->next) {
        if (target->pid == pid && target->birth == birth)
            return target;
    }
    return NULL;
}

static enum tide_watch choose_watch(const struct tide_target *target)
{
    if (target->share->pid_space)
        return TIDE_WATCH_SEGMENT;
    if (target->pidfd < 0 && errno == ESRCH)
        return target->pid > TIDE_INNER_PIDS ? TIDE_WATCH_NONE : TIDE_WATCH_QUIET;
    if (target->pidfd < 0)
        return TIDE_WATCH_SEGMENT;
    /* Who is older than the run is not the process that was meant. */
    const bool meant = tide_procfs_started(target->pid) >= target->share->session_began;
    return meant ? TIDE_WATCH_PIDFD : TIDE_WATCH_SEGMENT;
}

struct tide_target *tide_target_new(struct tide_share *share, uint32_t pid,
                                    uint64_t birth)
{
    struct tide_target *const target = calloc(1, sizeof(*target));
    if (!target)
        return NULL;
    target->share = share;
    target->pid = pid;
    target->birth = birth;
    target->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    target->watch = choose_watch(target);
    if (target->watch != TIDE_WATCH_PIDFD && target->pidfd >= 0) {
        (void)close(target->pidfd);
        target->pidfd = -1;
    }
    return target;
}

/* Each look is at an eighth more, so that they are few however much there is. */
void tide_target_saw(struct tide_target *target, const struct tide_rss_facts *seen,
                     uint64_t now_ns)
{
    const uint64_t risen = target->rss_peak + target->rss_peak / TIDE_RISE_PARTS;
    if (seen->peak > risen && target->next_rss_ns > now_ns + TIDE_SOON_NS)
        target->next_rss_ns = now_ns + TIDE_SOON_NS;
    target->rss = seen->bytes;
    target->rss_peak = seen->peak;
    target->lived_ticks = seen->ticks;
}

void tide_target_free(struct tide_target *target)
{
    if (!target)
        return;
    if (target->pidfd >= 0)
        (void)close(target->pidfd);
    free(target);
}

void tide_targets_look(struct tide_target *list)
{
    for (struct tide_target *target = list; target; target = target->next) {
        struct pollfd ended = {.fd = target->pidfd, .events = POLLIN};
        if (!target->gone && target->pidfd >= 0)
            target->gone = poll(&ended, 1, 0) > 0;
    }
}
