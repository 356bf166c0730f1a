/* capture/process.c - the recorder's state in this process: memory, lock, notes, names. */
#include "capture/process.h"

#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "base/raw/varint.h"
#include "capture/reserve.h"
#include "capture/sandbox.h"
#include "capture/session.h"

enum { TIDE_PROCESSORS_MOST = 8192 };

struct tide_process_state *tide_process;
uint32_t tide_processors = 1;
_Atomic uint64_t tide_fixed_bytes = sizeof(struct tide_process_state);
_Atomic uint32_t tide_phase;

/* Of the process before fork, to tell the child who its parent was.  Not wiped. */
static uint64_t last_birth;
static uint32_t last_pid;
static bool ended; /* by the program's wish: its children are not recorded either */

void tide_process_see_processors(void)
{
    uint64_t mask[TIDE_PROCESSORS_MOST / 64] = {0};
    uint32_t count = 0;
    if (syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask) > 0)
        for (uint32_t i = 0; i < TIDE_PROCESSORS_MOST / 64; i++)
            count += (uint32_t)__builtin_popcountll(mask[i]);
    tide_processors = count ? count : UINT16_MAX;
}

static void set_mask(int how, const uint64_t *mask, uint64_t *before)
{
    syscall(SYS_rt_sigprocmask, how, mask, before, sizeof(*mask));
}

/* All but SIGSYS: a sandbox may leave a call of ours to the program's handler, and where that
 * cannot come the kernel ends the program. */
void tide_shield(void)
{
    const uint64_t most = ~(1ull << (SIGSYS - 1));
    uint64_t before = 0;
    if (tide_self.shielded == 0) {
        set_mask(SIG_BLOCK, &most, &before);
        tide_self.signal_mask = before;
    }
    tide_self.shielded++;
}

void tide_unshield(void)
{
    if (--tide_self.shielded == 0) {
        const uint64_t before = tide_self.signal_mask;
        set_mask(SIG_SETMASK, &before, NULL);
    }
}

/* 0 free, 1 taken, 2 taken and somebody may sleep: the futex lock that wakes only when it
 * must.  Sleepers cost next to nothing while the holder waits for the collector; they
 * look again by themselves, should a sandbox have swallowed the call that wakes them. */
void tide_lock(_Atomic uint32_t *lock)
{
    tide_shield();
    uint32_t seen = 0;
    if (atomic_compare_exchange_strong(lock, &seen, 1))
        return;
    while (atomic_exchange(lock, 2) != 0)
        tide_wait_while(lock, 2);
}

void tide_unlock(_Atomic uint32_t *lock)
{
    if (atomic_exchange(lock, 0) == 2)
        syscall(SYS_futex, lock, FUTEX_WAKE, 1, NULL, NULL, 0);
    tide_unshield();
}

void *tide_private_memory(uint64_t bytes)
{
    void *const memory = tide_reserve_memory(bytes);
    if (!memory)
        return NULL;
    if (syscall(SYS_madvise, memory, bytes, MADV_WIPEONFORK) != 0) {
        tide_reserve_release(memory, bytes);
        return NULL;
    }
    syscall(SYS_madvise, memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

void *tide_lasting_memory(uint64_t bytes)
{
    void *const memory = tide_reserve_memory(bytes);
    if (memory)
        atomic_fetch_add(&tide_fixed_bytes, bytes);
    return memory;
}

void tide_lasting_release(void *memory, uint64_t bytes)
{
    tide_reserve_release(memory, bytes);
    atomic_fetch_sub(&tide_fixed_bytes, bytes);
}

/* Children forked from here on, by whomever, need not find out for themselves. */
/* The first reason stays.  A collector that takes nothing may have said that it will not. */
static void set_off(enum tide_drop why)
{
    const bool said = why == TIDE_DROP_COLLECTOR && tide_session &&
                      atomic_load(&tide_session->stopped);
    uint32_t on = 0;
    atomic_compare_exchange_strong(&tide_process->off, &on,
                                   1 + (uint32_t)(said ? TIDE_DROP_STOPPED : why));
}

void tide_process_stop(enum tide_drop why)
{
    set_off(why);
    atomic_store(&tide_shared_segment->closed, 1);
}

void tide_process_end(void)
{
    ended = true;
    set_off(TIDE_DROP_SHUT_OFF);
}

void tide_process_drop(enum tide_drop why)
{
    struct tide_stream *notes = tide_process->notes_stream;
    const bool off = atomic_load(&tide_process->off);
    if (notes)
        tide_stream_lose(notes, off ? tide_process_off_reason() : why, 1);
}

enum tide_drop tide_process_off_reason(void)
{
    const uint32_t off = atomic_load(&tide_process->off);
    return off ? (enum tide_drop)(off - 1) : TIDE_DROP_COLLECTOR;
}

void tide_process_leaves(uint64_t ticks)
{
    const struct tide_stream *const notes = tide_process->notes_stream;
    if (notes && notes->shared)
        atomic_store(&notes->shared->left, ticks);
}

/* --- Notes ------------------------------------------------------------------------ */

void tide_process_note_locked(uint64_t kind, const uint8_t *payload, uint32_t bytes)
{
    struct tide_stream *notes = tide_process->notes_stream;
    if (!notes || atomic_load(&tide_process->off))
        return;
    if (!tide_stream_make_room(notes, bytes + 2 * TIDE_VARINT_MAX)) {
        tide_process_stop(TIDE_DROP_COLLECTOR);
        return;
    }
    uint8_t *out = notes->ring + notes->pos;
    out = tide_put_varint(out, kind);
    out = tide_put_varint(out, bytes);
    memcpy(out, payload, bytes);
    tide_stream_publish(notes, out + bytes);
}

void tide_process_note(uint64_t kind, const uint8_t *payload, uint32_t bytes)
{
    tide_lock(&tide_process->lock);
    tide_process_note_locked(kind, payload, bytes);
    tide_unlock(&tide_process->lock);
}

uint32_t tide_process_tell_name_now(const struct tide_name *name)
{
    uint8_t payload[TIDE_NAME_BYTES + 2 * TIDE_VARINT_MAX];
    _Atomic uint64_t *const told = &tide_process->names_told[(name->id - 1) / 64];
    const uint64_t bit = 1ull << (name->id - 1) % 64;
    const uint32_t attribute = tide_process_tell_name(name->attribute);
    tide_lock(&tide_process->lock);
    if (!(atomic_load(told) & bit)) {
        if (attribute) {
            uint8_t *const end =
                tide_put_varint(tide_put_varint(payload, name->id), attribute);
            tide_process_note_locked(TIDE_NOTE_VALUE, payload,
                                     (uint32_t)(end - payload));
        }
        uint8_t *out = tide_put_varint(payload, name->id);
        out = tide_put_varint(out, name->length);
        memcpy(out, name->text, name->length);
        out += name->length;
        tide_process_note_locked(TIDE_NOTE_NAME, payload, (uint32_t)(out - payload));
        atomic_fetch_or(told, bit);
    }
    tide_unlock(&tide_process->lock);
    return name->id;
}

void tide_process_tell_attribute(const struct tide_name *name, uint64_t type)
{
    uint8_t payload[2 * TIDE_VARINT_MAX];
    const uint64_t number = (uint64_t)(name->id - 1) * 4 + (type - 1) % 4;
    _Atomic uint64_t *const told = &tide_process->attributes_told[number / 64];
    const uint64_t bit = 1ull << number % 64;
    if (atomic_load_explicit(told, memory_order_relaxed) & bit)
        return;
    tide_lock(&tide_process->lock);
    if (!(atomic_load(told) & bit)) {
        uint8_t *out = tide_put_varint(payload, name->id);
        out = tide_put_varint(out, type);
        tide_process_note_locked(TIDE_NOTE_ATTRIBUTE, payload,
                                 (uint32_t)(out - payload));
        atomic_fetch_or(told, bit);
    }
    tide_unlock(&tide_process->lock);
}

/* --- Beginning -------------------------------------------------------------------- */

static struct tide_stream *open_notes(void)
{
    struct tide_stream *notes = tide_stream_new();
    if (!notes)
        return NULL;
    notes->keep_ring = true;
    return tide_stream_take_lane(notes, TIDE_LANE_NOTES) ? notes : NULL;
}

static void note_process(bool forked)
{
    uint8_t payload[5 * TIDE_VARINT_MAX];
    uint8_t *out = tide_put_varint(payload, tide_process->pid);
    out = tide_put_varint(out, forked ? last_pid : (uint64_t)syscall(SYS_getppid));
    out = tide_put_varint(out, tide_process->birth);
    out = tide_put_varint(out, forked ? last_birth : 0);
    out = tide_put_varint(out, forked ? TIDE_PROCESS_FORKED : 0);
    tide_process_note_locked(TIDE_NOTE_PROCESS, payload, (uint32_t)(out - payload));
}

/* A child that shall not be recorded: it has one thread, this one. */
static void stay_out(void)
{
    atomic_store(&tide_phase, TIDE_PHASE_INERT);
    tide_self.stream = NULL;
    tide_session_leave();
}

/* No lane to be had.  The others in this segment may fare better, unless it is the
 * collector that does not answer: then nobody else shall wait for it. */
static void starve(void)
{
    if (tide_session_silent)
        tide_process_stop(TIDE_DROP_COLLECTOR);
    if (!atomic_load(&tide_shared_segment->closed))
        atomic_fetch_add(&tide_shared_segment->starved, 1);
    set_off(TIDE_DROP_MEMORY);
}

static bool begin(void)
{
    if (tide_process->pid)
        return tide_process->notes_stream != NULL;
    const bool forked = last_birth != 0;
    if (forked && (ended || tide_session->follow != TIDE_FOLLOW_ALL)) {
        stay_out();
        return false;
    }
    const long pid = syscall(SYS_getpid);
    if (pid <= 0) { /* a sandbox does not let us ask */
        stay_out();
        return false;
    }
    tide_process->birth = tide_ticks();
    tide_process->pid = (uint32_t)pid;
    tide_process->notes_stream = open_notes();
    if (forked) /* not before the collector can see the lane */
        atomic_fetch_add(&tide_shared_segment->births, 1);
    if (!tide_process->notes_stream) {
        starve();
        return false;
    }
    note_process(forked);
    last_birth = tide_process->birth;
    last_pid = tide_process->pid;
    return true;
}

bool tide_process_begin(void)
{
    tide_lock(&tide_process->lock);
    const bool begun = begin();
    tide_unlock(&tide_process->lock);
    return begun;
}
