/* capture/lifecycle.c - how recording starts: the constructor, and fork.
 *
 * Before the constructor has run, events are kept in a static buffer (nested.c).  After
 * it the recorder is either ON or INERT, and never looks at the environment again.
 * Libraries whose constructors come before ours may fill the buffer; then they start it.
 */
#include "capture/lifecycle.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "capture/cautions.h"
#include "capture/environment.h"
#include "capture/exec.h"
#include "capture/hooks.h"
#include "capture/live_table.h"
#include "capture/modules.h"
#include "capture/monitor.h"
#include "capture/nested.h"
#include "capture/process.h"
#include "capture/real.h"
#include "capture/record.h"
#include "capture/reserve.h"
#include "capture/sanitizers.h"
#include "capture/session.h"
#include "capture/spawn.h"
#include "capture/trail.h"
#include "capture/watch.h"

uint32_t tide_spaces;
bool tide_heap_ignored;
bool tide_as_usual;

/* fork: the child finds the process state and its thread's stream wiped.  Nothing needs
 * to be done for safety; beginning at once lets the collector know of the child even if
 * its parent ends before it allocates. */
static void fork_begins(void)
{
    if (tide_shared_segment)
        atomic_fetch_add(&tide_shared_segment->forks, 1);
    tide_record_time(); /* what was before is before all that the child does */
    tide_fork_in_hook(TIDE_FORK_BEFORE);
}

static void fork_parent(void)
{
    tide_fork_in_hook(TIDE_FORK_PARENT);
}

static void fork_child(void)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = self->stream;
    if (!stream || atomic_load(&tide_phase) != TIDE_PHASE_ON ||
        tide_fork_in_hook(TIDE_FORK_CHILD) || stream->shared)
        return;
    const int saved = errno;
    tide_shield();
    tide_set_busy(self, TIDE_WRITING, (uintptr_t)__builtin_frame_address(0));
    tide_stream_refill(stream, TIDE_RECORD_MAX);
    self->busy = TIDE_IDLE;
    tide_unshield();
    errno = saved;
}

bool tide_fork_in_hook(enum tide_fork_moment moment)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = self->stream;
    if (!self->busy || !stream || !stream->shared)
        return false;
    const int saved = errno;
    if (moment == TIDE_FORK_CHILD)
        tide_stream_tear(self);
    else
        tide_stream_keep_on_fork(stream, moment == TIDE_FORK_BEFORE);
    errno = saved;
    return true;
}

/* Who was not started by `tidemark run` starts a collector, and lets those it starts
 * know of it. */
static bool meet_collector(void)
{
    static char own[108];
    const char *directory = secure_getenv(TIDE_SESSION_ENV);
    if (directory) /* empty: see sandbox.c */
        return *directory && tide_session_connect(directory);
    if (tide_monitors_wanted_alone())
        return false;
    if (!tide_spawn_collector(own, sizeof(own))) {
        (void)tide_environment_set(TIDE_FAILED_ENV, "1");
        return false;
    }
    /* Also where it is others that shall be recorded, and not this program. */
    return tide_environment_set(TIDE_SESSION_ENV, own) && tide_session_connect(own);
}

static bool start(void)
{
    if (getauxval(AT_SECURE) || !meet_collector())
        return false;
    tide_process = tide_private_memory(sizeof(*tide_process));
    if (!tide_process) {
        atomic_store(&tide_shared_segment->closed, 1); /* we give up */
        return false;
    }
    tide_process_see_processors();
    tide_process->mortal = tide_session_mortal;
    tide_ticks_init((uint32_t)tide_session->reserved[0]);
    tide_modules_init();
    tide_exec_prepare();
    tide_free_stacks = tide_session->free_stacks != 0;
    tide_spaces = tide_session->spaces;
    tide_heap_ignored = !(tide_spaces & TIDE_SPACE_HEAP);
    tide_stack_init(tide_session->unwind, tide_session->depth_limit);
    return true;
}

static void read_switches(bool on)
{
    const char *const inherit = secure_getenv("TIDEMARK_INHERIT");
    tide_trail_inherits = !inherit || strcmp(inherit, "off") != 0;
    const char *const live = secure_getenv("TIDEMARK_LIVE_TABLE");
    if ((live && *live && strcmp(live, "0") != 0 && strcmp(live, "off") != 0) ||
        (on && tide_session->live_table))
        tide_live_begin();
}

static void start_once(void)
{
    struct tide_self *self = &tide_self;
    const struct tide_hush before = tide_hush_begin(self);
    const bool resolved =
        tide_real_resolve(); /* a sanitizer's runtime takes its places */
    tide_reserve_begin();
    const bool on = resolved && start();
    tide_operators_begin();
    if (!getauxval(AT_SECURE)) {
        read_switches(on);
        tide_monitors_begin();
    }
    atomic_store(&tide_phase, on ? TIDE_PHASE_ON : TIDE_PHASE_INERT);
    if (on)
        pthread_atfork(fork_begins, fork_parent, fork_child);
    tide_hush_end(self, before);
    struct tide_stream *stream = on ? tide_stream_of_thread() : NULL;
    if (!stream || tide_heap_ignored)
        return;
    tide_shield();
    tide_set_busy(self, TIDE_WRITING, (uintptr_t)__builtin_frame_address(0));
    tide_early_flush(stream);
    tide_cautions_start();
    tide_sanitizer_see();
    self->busy = TIDE_IDLE;
    tide_unshield();
    if (!tide_free_stacks)
        tide_usual_begin();
}

void tide_recording_start(void)
{
    static _Atomic uint32_t started;
    const int saved = errno;
    if (!atomic_exchange(&started, 1))
        start_once();
    errno = saved;
}

__attribute__((constructor)) static void tide_constructor(void)
{
    tide_recording_start();
}

/* Who we are is asked only where it matters.  A child of vfork() that ends says so of its parent, who unsays it when
 * it hears of the end (hooks_end.c). */
void tide_recording_ends(void)
{
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON || !tide_process->pid ||
        atomic_load(&tide_process->off))
        return;
    const int saved = errno;
    tide_process_leaves(tide_ticks());
    if (tide_process->mortal && syscall(SYS_getpid) == (long)tide_process->pid) {
        tide_spawn_farewell(tide_process->mortal, tide_process->pid);
    }
    errno = saved;
}

__attribute__((destructor)) static void tide_destructor(void)
{
    tide_recording_ends();
}
