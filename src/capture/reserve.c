/* capture/reserve.c - where the recorder maps its own memory.
 *
 * The kernel puts what is mapped without an address into the hole that the program has just
 * made.  Programs know of their holes: they map there with MAP_FIXED, or let a stack grow into
 * them.  So the recorder says where: halfway between the break and this library, terabytes
 * away from what grows down from the one and up from the other, one mapping behind the other.
 * Nothing is held there ahead of use: it would count against limits of the program (address
 * space, locked memory), and nobody else comes there.  Who does is found by
 * MAP_FIXED_NOREPLACE, and stepped over.
 *
 * Where there is no such distance (32-bit layouts), or a sanitizer has all of it, a range that
 * the kernel chose is held from the start.
 */
#include "capture/reserve.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/self.h"
#include "trace/ring.h"

#ifndef MAP_FIXED_NOREPLACE
#    define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
    TIDE_PLACE_TRIES = 16,
    TIDE_NOWHERE = 1, /* no mapping begins there */
};

#define TIDE_GIB        (1ull << 30)
#define TIDE_FAR        (64 * TIDE_GIB) /* from both ends */
#define TIDE_HELD_BYTES (64ull << 20)

static _Atomic uint64_t
    next; /* where the next mapping goes.  Forked children go on from it */
static uint64_t held_end; /* of the range that is held; 0: none is */
static uint64_t limit = UINT64_MAX;

/* Private memory, counted once it is touched. */
static long map_at(uint64_t at, uint64_t bytes, int protection, int fixed)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed;
    return syscall(SYS_mmap, at, bytes, protection, flags, -1, 0);
}

/* Halfway.  Where the loader was called as a program, the break may stand beside it. */
static uint64_t choose(void)
{
    const uint64_t here = (uintptr_t)&next;
    const uint64_t end = (uint64_t)syscall(SYS_brk, 0);
    const uint64_t low = here < end ? here : end, high = here < end ? end : here;
    if (high - low >= 2 * TIDE_FAR)
        return (low + (high - low) / 2) & ~(TIDE_GIB - 1);
    return low >= 2 * TIDE_FAR ? low / 2 & ~(TIDE_GIB - 1) : 0;
}

static void hold(void)
{
    const long at = map_at(0, TIDE_HELD_BYTES, PROT_NONE, 0);
    held_end = at == -1 ? 0 : (uint64_t)at + TIDE_HELD_BYTES;
    atomic_store(&next, at == -1 ? TIDE_NOWHERE : (uint64_t)at);
}

void tide_reserve_begin(void)
{
    struct rlimit asked;
    if (syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &asked) == 0 &&
        asked.rlim_cur != RLIM_INFINITY)
        limit = asked.rlim_cur;
    const uint64_t chosen = choose();
    atomic_store(&next, chosen ? chosen : TIDE_NOWHERE);
    void *const trial = tide_reserve_memory(TIDE_PAGE);
    if (trial)
        tide_reserve_release(trial, TIDE_PAGE);
    else
        hold();
}

uint64_t tide_reserve_limit(void)
{
    return limit;
}

/* Somebody is at AT, where BYTES were wanted: go on at the next GiB. */
static void step_over(uint64_t at, uint64_t bytes)
{
    uint64_t present = at + bytes;
    atomic_compare_exchange_strong(&next, &present, (at + TIDE_GIB) & ~(TIDE_GIB - 1));
}

/* A kernel before 4.17 takes the address for no more than a wish. */
static bool is_there(long got, uint64_t at, uint64_t bytes)
{
    if (got != -1 && (uint64_t)got != at) {
        syscall(SYS_munmap, got, bytes);
        errno = EEXIST;
    }
    return (uint64_t)got == at;
}

void *tide_reserve_map(uint64_t bytes, int protection, int flags, int file,
                       uint64_t offset)
{
    const uint64_t whole = (bytes + TIDE_PAGE - 1) & ~(uint64_t)(TIDE_PAGE - 1);
    if (TIDE_UNLIKELY(atomic_load(&next) == 0)) /* another library's constructor asks */
        tide_reserve_begin();
    flags |= held_end ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    for (int i = 0; i < TIDE_PLACE_TRIES; i++) {
        const uint64_t at = atomic_fetch_add(&next, whole);
        if (held_end && at + whole > held_end)
            return NULL;
        const long got = syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
        if (is_there(got, at, bytes))
            return (void *)at;
        if (errno != EEXIST)
            return NULL;
        step_over(at, whole);
    }
    return NULL;
}

void *tide_reserve_memory(uint64_t bytes)
{
    return tide_reserve_map(bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* mremap() knows no MAP_FIXED_NOREPLACE: the place is taken before. */
void *tide_reserve_again(void *from, uint64_t bytes)
{
    void *const place =
        tide_reserve_map(bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!place)
        return NULL;
    if (syscall(SYS_mremap, from, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != -1)
        return place;
    tide_reserve_release(place, bytes);
    return NULL;
}

bool tide_reserve_cover(void *at, uint64_t bytes)
{
    return map_at((uintptr_t)at, bytes, PROT_READ | PROT_WRITE, MAP_FIXED) != -1;
}

/* What is held stays so. */
void tide_reserve_release(void *at, uint64_t bytes)
{
    if (held_end)
        map_at((uintptr_t)at, bytes, PROT_NONE, MAP_FIXED);
    else
        syscall(SYS_munmap, at, bytes);
}
