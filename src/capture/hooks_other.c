/* capture/hooks_other.c - pthread_create, thrd_create, _Fork, dlopen, dlclose: what
 * changes the recorder's world.
 *
 * dlopen looks at its caller to find the library's search path, so the hooks of it end in
 * a jump, not in a call: this file is compiled with -foptimize-sibling-calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "capture/cautions.h"
#include "capture/frame_tables.h"
#include "capture/hooks.h"
#include "capture/lifecycle.h"
#include "capture/modules.h"
#include "capture/next.h"
#include "capture/process.h"
#include "capture/real.h"
#include "capture/record.h"
#include "capture/stack.h"
#include "capture/stack_other.h"
#include "capture/trail.h"
#include "capture/watch.h"

/* From now on events carry numbers where threads meet.  This thread's lane says so before
 * the other thread exists, so that the reader holds new lanes back until here. */
static void second_thread(void)
{
    struct tide_self *self = &tide_self;
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON || self->busy || self->quiet)
        return;
    if (!self->stream && !tide_stream_of_thread())
        return;
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    if (!stream)
        return;
    if (stream->shared)
        tide_threads_begin();
    stream->limit = 0;
    tide_stream_room(stream, TIDE_RECORD_MAX);
    tide_leave(self, stream);
}

/* No handler may come into the hush: what it allocated would not be recorded. */
static void follow(struct tide_trail *trail)
{
    tide_shield();
    const struct tide_hush before = tide_hush_begin(&tide_self);
    tide_self.trail = trail;
    if (tide_self.stream)
        tide_self.stream->stack_low = tide_self.stream->stack_high = 0; /* ask again */
    tide_thread_watch(NULL);
    tide_hush_end(&tide_self, before);
    tide_unshield();
}

/* What a thread with ATTRIBUTES is to be told when it begins; NULL: nothing.  One that begins
 * early may live until all is recorded. */
static struct tide_trail *trail_for(const pthread_attr_t *attributes)
{
    const uint32_t phase = atomic_load(&tide_phase);
    if (phase == TIDE_PHASE_EARLY)
        tide_stack_bounds_init();
    return tide_trail_for_child(
        tide_self.trail,
        phase != TIDE_PHASE_INERT ? tide_stack_bytes_asked(attributes) : 0);
}

/* A thread begins in the regions of its creator.  It ends in a jump too: the thread's stack
 * is as it would be without us. */
static void *begin_in_regions(void *its_trail)
{
    struct tide_trail *const trail = its_trail;
    follow(trail);
    return trail->start(trail->argument);
}

static int begin_c11_in_regions(void *its_trail)
{
    struct tide_trail *const trail = its_trail;
    follow(trail);
    return trail->c11_start(trail->argument);
}

TIDE_HOOK int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*start)(void *), void *argument)
{
    if (!tide_real_resolve() || !tide_real.pthread_create)
        return EAGAIN;
    const int saved = errno;
    second_thread();
    struct tide_trail *const trail = trail_for(attributes);
    errno = saved;
    if (TIDE_LIKELY(!trail))
        return tide_real.pthread_create(thread, attributes, start, argument);
    trail->start = start;
    trail->argument = argument;
    const int status =
        tide_real.pthread_create(thread, attributes, begin_in_regions, trail);
    if (status != 0)
        tide_trail_give_back(trail);
    return status;
}

/* C11's: libc makes it of its own pthread_create, past the hook. */
TIDE_HOOK int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    if (!tide_real_resolve() || !tide_real.thrd_create)
        return thrd_error;
    const int saved = errno;
    second_thread();
    struct tide_trail *const trail = trail_for(NULL);
    errno = saved;
    if (TIDE_LIKELY(!trail))
        return tide_real.thrd_create(thread, start, argument);
    trail->c11_start = start;
    trail->argument = argument;
    const int status = tide_real.thrd_create(thread, begin_c11_in_regions, trail);
    if (status != thrd_success)
        tide_trail_give_back(trail);
    return status;
}

TIDE_HOOK int pthread_setname_np(pthread_t thread, const char *name)
{
    if (!tide_real_resolve() || !tide_real.pthread_setname)
        return ENOSYS;
    const int status = tide_real.pthread_setname(thread, name);
    if (status == 0) {
        const int saved = errno;
        tide_thread_named(thread, name);
        errno = saved;
    }
    return status;
}

/* fork for signal handlers: no handler of pthread_atfork() sees it. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): its name */
TIDE_HOOK pid_t _Fork(void)
{
    if (!tide_real_resolve() || !tide_real.fork_now) {
        errno = ENOSYS;
        return -1;
    }
    tide_fork_in_hook(TIDE_FORK_BEFORE);
    const pid_t child = tide_real.fork_now();
    tide_fork_in_hook(child == 0 ? TIDE_FORK_CHILD : TIDE_FORK_PARENT);
    if (child == 0)
        tide_watch_after_fork();
    return child;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

TIDE_HOOK void *dlopen(const char *file, int mode)
{
    if (!tide_real_resolve() || !tide_real.dlopen)
        return NULL;
    if (TIDE_UNLIKELY(mode & RTLD_DEEPBIND))
        tide_caution_bypass(file);
    return tide_real.dlopen(file, mode);
}

TIDE_HOOK void *dlmopen(Lmid_t space, const char *file, int mode)
{
    if (!tide_real_resolve() || !tide_real.dlmopen)
        return NULL;
    if (space != LM_ID_BASE || (mode & RTLD_DEEPBIND))
        tide_caution_bypass(file);
    return tide_real.dlmopen(space, file, mode);
}

static void look_for_gone(uintptr_t frame)
{
    struct tide_self *self = &tide_self;
    tide_frame_tables_check();
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, frame);
    if (!stream)
        return;
    if (stream->shared)
        tide_modules_check();
    tide_leave(self, stream);
}

/* The loader's own free, the last of what it does for a library that it has unmapped.  It
 * still holds its lock: nobody can have loaded another in that place. */
void tide_hook_closes(struct tide_caller caller, const void *block)
{
    const int saved = errno;
    if (tide_self.stream && tide_modules_has_map(block))
        look_for_gone(caller.frame);
    errno = saved;
}

/* While it is in there, all that the thread does takes the slower way past
 * tide_hook_closes(). */
static int close_attended(void *library)
{
    struct tide_self *self = &tide_self;
    self->closing++;
    if (self->stream)
        self->stream->limit = 0;
    const int status = tide_real.dlclose(library);
    tide_other_forget(); /* what the loader has unmapped, no hook has seen */
    self->closing--;
    return status;
}

TIDE_HOOK int dlclose(void *library)
{
    if (!tide_real_resolve() || !tide_real.dlclose)
        return -1;
    tide_stack_cfi_flush(); /* rows go before the code does, and once more after it */
    tide_next_forget();
    const int status = close_attended(library);
    const int saved = errno;
    tide_next_forget();
    look_for_gone(TIDE_CALLER.frame); /* with a loader that is another than glibc's */
    errno = saved;
    return status;
}
