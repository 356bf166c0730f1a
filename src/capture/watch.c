/* capture/watch.c - from the hooks to those who listen.
 *
 * Callbacks of the program may allocate and free; what they do is told to nobody.  The
 * recorder's own listeners (tallies, histograms) neither allocate nor lock, so a signal
 * handler that interrupts them may be told as well.
 */
#include "capture/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "capture/lifecycle.h"
#include "capture/live_table.h"
#include "capture/monitor.h"
#include "capture/registry.h"
#include "capture/stack.h"
#include "capture/stream.h"

bool tide_attended;

static _Atomic int reasons;      /* to be attended */
static _Atomic int pauses;       /* of the whole process */
static _Atomic uint32_t working; /* the recorder would work as usual */
static _Atomic uint64_t threads; /* numbers given out */

/* Two may do this at once: whoever stores last has seen both changes. */
static void look_again(void)
{
    bool attended, usual;
    do {
        attended = atomic_load(&reasons) > 0;
        usual = atomic_load(&working) && !attended;
        __atomic_store_n(&tide_attended, attended, __ATOMIC_SEQ_CST);
        __atomic_store_n(&tide_as_usual, usual, __ATOMIC_SEQ_CST);
    } while (attended != (atomic_load(&reasons) > 0) ||
             usual != (atomic_load(&working) && !attended));
}

/* The C library calls this in a child, whoever forks; for _Fork its hook does. */
static TIDE_COLD void follow_forks(void)
{
    static _Atomic uint32_t followed;
    if (atomic_exchange(&followed, 1))
        return;
    const struct tide_hush before = tide_hush_begin(&tide_self);
    pthread_atfork(NULL, NULL, tide_watch_after_fork);
    tide_hush_end(&tide_self, before);
}

void tide_attend(int more)
{
    follow_forks();
    atomic_fetch_add(&reasons, more);
    look_again();
}

void tide_usual_begin(void)
{
    atomic_store(&working, 1);
    look_again();
}

bool tide_pause_all(int more)
{
    int now = atomic_load(&pauses);
    do {
        if (now + more < 0)
            return false;
    } while (!atomic_compare_exchange_weak(&pauses, &now, now + more));
    return true;
}

bool tide_is_paused(void)
{
    return tide_self.paused || atomic_load_explicit(&pauses, memory_order_relaxed) > 0;
}

uint64_t tide_thread_number(void)
{
    struct tide_self *const self = &tide_self;
    if (!self->thread)
        self->thread = atomic_fetch_add(&threads, 1) + 1;
    return self->thread;
}

/* --- Telling --------------------------------------------------------------------------- */

enum whom { TIDE_CALLBACKS = 1, TIDE_OWN = 2, TIDE_EVERYBODY = 3 };

static void call_alloc(const struct tide_listener *listener,
                       const struct tide_happening *happening, unsigned whom)
{
    if (listener->alloc_heard && (whom & TIDE_OWN))
        listener->alloc_heard(listener->user, happening);
    else if (listener->alloc_called && (whom & TIDE_CALLBACKS) && !happening->failed)
        listener->alloc_called(happening->requested, happening->used, happening->block,
                               listener->user);
}

static void call_free(const struct tide_listener *listener,
                      const struct tide_happening *happening, unsigned whom)
{
    if (listener->free_heard && (whom & TIDE_OWN))
        listener->free_heard(listener->user, happening);
    else if (listener->free_called && (whom & TIDE_CALLBACKS))
        listener->free_called(happening->used, happening->block, listener->user);
}

/* The calls of tell() that this thread is in: one, or some more in handlers that come between.
 * A handler, or a callback, may also leave by longjmp and never come back. */
enum { TIDE_TELLING_MAX = 3 };
static _Thread_local struct {
    struct tide_reader reader[TIDE_TELLING_MAX];
    uintptr_t frame[TIDE_TELLING_MAX];
    uint32_t depth; /* may count beyond them */
    int cancel;     /* of the thread, before the callback that it is in */
} telling __attribute__((tls_model("initial-exec")));

/* The recorder's own are told without a hush: a handler that comes in between counts. */
static void tell_one(const struct tide_listener *listener,
                     const struct tide_happening *happening, bool alloc, unsigned whom)
{
    struct tide_self *const self = &tide_self;
    const bool callback = listener->alloc_called || listener->free_called;
    if (atomic_load_explicit(&listener->removed, memory_order_acquire) ||
        (listener->thread && listener->thread != happening->thread))
        return;
    int cancel = 0;
    if (callback) { /* malloc is no place to be cancelled in, whatever the callback calls */
        self->hushed |= TIDE_HUSH_CALLBACK;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        telling.cancel = cancel;
    }
    if (alloc)
        call_alloc(listener, happening, whom);
    else
        call_free(listener, happening, whom);
    if (callback) {
        pthread_setcancelstate(cancel, NULL);
        self->hushed &= (uint8_t)~TIDE_HUSH_CALLBACK;
    }
}

void tide_watch_leave_jumped(struct tide_caller caller)
{
    static struct tide_stream nobody; /* no bounds known: any stack will do */
    struct tide_self *const self = &tide_self;
    const struct tide_stream *const stream = self->stream ? self->stream : &nobody;
    while (telling.depth > 0 && telling.depth <= TIDE_TELLING_MAX) {
        const uintptr_t frame = telling.frame[telling.depth - 1];
        if (frame != caller.frame && /* who stands in its place now is another */
            tide_stack_find(stream, caller, frame) != TIDE_FOUND_NOT)
            break;
        telling.depth--;
        tide_registry_leave(&telling.reader[telling.depth]);
    }
    if (telling.depth > 0 || !(self->hushed & TIDE_HUSH_CALLBACK))
        return;
    self->hushed &= (uint8_t)~TIDE_HUSH_CALLBACK;
    pthread_setcancelstate(telling.cancel, NULL);
}

static void tell_all(const struct tide_reader *reader,
                     const struct tide_happening *happening, bool alloc, unsigned whom)
{
    for (uint32_t i = 0; reader->list && i < reader->list->count; i++)
        tell_one(reader->list->list[i], happening, alloc, whom);
}

/* By pointer: to read a copy of what was written by words a moment ago is slow. */
static __attribute__((noinline)) void tell(struct tide_happening *happening, bool alloc,
                                           unsigned whom)
{
    if (tide_registry_is_empty())
        return;
    if (TIDE_UNLIKELY(telling.depth))
        tide_watch_leave_jumped(TIDE_CALLER);
    if (tide_self.hushed || tide_is_paused())
        return;
    const int saved = errno;
    const uint32_t depth = telling.depth;
    happening->thread = tide_thread_number();
    happening->shard = (uint32_t)happening->thread;
    const struct tide_reader reader = tide_registry_enter(happening->shard);
    if (depth < TIDE_TELLING_MAX) {
        telling.reader[depth] = reader;
        telling.frame[depth] = (uintptr_t)__builtin_frame_address(0);
    }
    atomic_signal_fence(memory_order_seq_cst);
    telling.depth = depth + 1;
    tell_all(&reader, happening, alloc, whom);
    telling.depth = depth;
    atomic_signal_fence(memory_order_seq_cst);
    tide_registry_leave(&reader);
    errno = saved;
}

/* The live table hears of what happens in callbacks, too, and of frees in a pause. */
void tide_watch_alloc(const void *block, size_t requested, size_t used)
{
    if (tide_live_kept)
        tide_live_born(block, (struct tide_live_size){requested, used});
    tell(&(struct tide_happening){.block = block, .requested = requested, .used = used},
         true, TIDE_EVERYBODY);
}

void tide_watch_failed(size_t requested)
{
    tell(&(struct tide_happening){.requested = requested, .failed = true}, true,
         TIDE_OWN);
}

void tide_watch_free(const void *block, size_t used)
{
    if (tide_live_kept)
        tide_live_dies(block);
    tide_watch_freed(block, used);
}

void tide_watch_freed(const void *block, size_t used)
{
    tell(&(struct tide_happening){.block = block, .used = used}, false, TIDE_EVERYBODY);
}

/* Callbacks may keep tables by address, so they hear of the free before the address can be
 * somebody else's.  For counts it is the other way around: whether there is anything to
 * count is known after the call. */
void tide_watch_move_begin(struct tide_watch_move *move)
{
    if (tide_live_kept)
        move->lifted = tide_live_lift(move->old);
    tell(&(struct tide_happening){.block = move->old, .used = move->old_used}, false,
         TIDE_CALLBACKS);
}

/* What was allocated in a pause is in no table, and is not when it moves in one. */
static void keep_moved(const struct tide_watch_move *move)
{
    const struct tide_live_size size = {move->requested, move->used};
    if (!move->block)
        tide_live_put_back(move->lifted, move->gone);
    else if (move->lifted || !tide_is_paused())
        tide_live_set_down(move->lifted, move->block, size);
}

void tide_watch_move_end(const struct tide_watch_move *move)
{
    if (tide_live_kept)
        keep_moved(move);
    struct tide_happening old = {.block = move->old, .used = move->old_used};
    struct tide_happening new = {
        .block = move->block, .requested = move->requested, .used = move->used};
    if (!move->block && move->gone) {
        tell(&old, false, TIDE_OWN);
    } else if (!move->block) {
        struct tide_happening back = old;
        back.requested = back.used;
        tell(&back, true, TIDE_CALLBACKS);
        tide_watch_failed(move->requested);
    } else if (move->block == move->old) {
        tell(&old, false, TIDE_OWN);
        tell(&new, true, TIDE_EVERYBODY);
    } else { /* both stood while it was copied */
        tell(&new, true, TIDE_EVERYBODY);
        tell(&old, false, TIDE_OWN);
    }
}

void tide_watch_after_fork(void)
{
    tide_registry_after_fork();
    tide_count_after_fork();
    tide_monitors_after_fork();
}
