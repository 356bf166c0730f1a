/* tests/soak/soak_calls.c - see soak_calls.h. */
#include "soak_calls.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 256, PAGE = 4096 };

struct count {
    _Atomic uint64_t begun, begun_bytes, done, done_bytes;
};

/* A place for one block or one map.  Who has locked it alone may touch the rest. */
struct slot {
    atomic_flag locked;
    bool is_map;
    pid_t maker;
    void *block;
    size_t size;
};

struct call {
    enum soak_kind kind;
    size_t bytes;
    int copies;
};

_Thread_local struct soak_thread soak_me;
volatile int soak_copies;
bool soak_wild;
static struct count *counts;
static struct slot slots[SLOTS];

bool soak_counts_open(const char *path)
{
    const int fd = path ? open(path, O_RDWR) : -1;
    if (fd < 0)
        return false;
    counts = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return counts != MAP_FAILED;
}

uint64_t soak_roll(uint64_t *dice, uint64_t sides)
{
    *dice = *dice * 6364136223846793005u + 1442695040888963407u;
    return (*dice >> 33) % sides;
}

/* --- Calls ---------------------------------------------------------------------------- */

static void count_begun(enum soak_kind kind, size_t bytes)
{
    atomic_fetch_add(&counts[kind].begun, 1);
    atomic_fetch_add(&counts[kind].begun_bytes, bytes);
}

static bool is_outer(enum soak_kind kind)
{
    return kind == SOAK_CALLOC || kind == SOAK_REALLOC;
}

static struct call begin(enum soak_kind kind, size_t bytes)
{
    soak_me.in_call++;
    soak_me.in_outer += is_outer(kind);
    count_begun(kind, bytes);
    return (struct call){kind, bytes, soak_copies};
}

static void end(struct call call)
{
    if (call.copies == soak_copies) {
        atomic_fetch_add(&counts[call.kind].done_bytes, call.bytes);
        atomic_fetch_add(&counts[call.kind].done, 1);
    } else {
        count_begun(call.kind,
                    call.bytes); /* half a call: seen or not, both are right */
    }
    soak_me.in_outer -= is_outer(call.kind);
    soak_me.in_call--;
}

#define WRAPPER __attribute__((noinline))

WRAPPER void *soak_malloc(size_t size)
{
    const struct call call = begin(SOAK_MALLOC, size);
    void *volatile block = malloc(size);
    end(call);
    return block;
}

WRAPPER static void *soak_calloc(size_t size)
{
    const struct call call = begin(SOAK_CALLOC, size);
    void *volatile block = calloc(1, size);
    end(call);
    return block;
}

WRAPPER static void *soak_realloc(void *old, size_t size)
{
    const struct call call = begin(SOAK_REALLOC, size);
    void *volatile block = realloc(old, size);
    end(call);
    return block;
}

WRAPPER static void *soak_reallocarray(void *old, size_t size)
{
    const struct call call = begin(SOAK_REALLOCARRAY, size);
    void *volatile block = reallocarray(old, 1, size);
    end(call);
    return block;
}

WRAPPER static void *soak_memalign(size_t size)
{
    const struct call call = begin(SOAK_MEMALIGN, size);
    void *volatile block = memalign(64, size);
    end(call);
    return block;
}

WRAPPER static void *soak_posix_memalign(size_t size)
{
    const struct call call = begin(SOAK_POSIX_MEMALIGN, size);
    void *block = NULL;
    if (posix_memalign(&block, 256, size) != 0)
        block = NULL;
    end(call);
    return block;
}

WRAPPER static void *soak_aligned_alloc(size_t size)
{
    const struct call call = begin(SOAK_ALIGNED_ALLOC, size);
    void *volatile block = aligned_alloc(16, size);
    end(call);
    return block;
}

WRAPPER void soak_free(void *block)
{
    const struct call call = begin(SOAK_FREE, 0);
    free(block);
    end(call);
}

WRAPPER static void *soak_mmap(size_t bytes)
{
    const struct call call = begin(SOAK_MMAP, bytes);
    void *volatile at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end(call);
    return at;
}

WRAPPER static void *soak_mremap(void *old, size_t had, size_t bytes)
{
    const struct call call = begin(SOAK_MREMAP, bytes);
    void *volatile at = mremap(old, had, bytes, MREMAP_MAYMOVE);
    end(call);
    return at;
}

WRAPPER static void soak_munmap(void *at, size_t bytes)
{
    const struct call call = begin(SOAK_MUNMAP, bytes);
    munmap(at, bytes);
    end(call);
}

WRAPPER void soak_handler_mmap(size_t bytes)
{
    const struct call call = begin(SOAK_HANDLER_MMAP, bytes);
    void *volatile at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end(call);
    soak_munmap(at, bytes);
}

void *soak_library(enum soak_kind kind, void *(*make)(size_t), size_t size)
{
    const struct call call = begin(kind, size);
    void *block = make(size);
    end(call);
    return block;
}

/* --- Blocks that all threads share ------------------------------------------------------ */

static void *make_block(size_t size)
{
    switch (soak_roll(&soak_me.dice, soak_wild ? 3 : 7)) {
    case 0:
        return soak_calloc(size);
    case 1:
        return soak_realloc(NULL, size);
    case 2:
        return soak_malloc(size);
    case 3:
        return soak_reallocarray(NULL, size);
    case 4:
        return soak_memalign(size);
    case 5:
        return soak_posix_memalign(size);
    default:
        return soak_aligned_alloc(size);
    }
}

static void fill(struct slot *slot)
{
    uint64_t *dice = &soak_me.dice;
    slot->is_map = soak_roll(dice, 50) == 0;
    slot->maker = getpid();
    if (slot->is_map) {
        slot->size = PAGE * (1 + soak_roll(dice, 30));
        slot->block = soak_mmap(slot->size);
    } else {
        slot->size = 1 + soak_roll(dice, soak_roll(dice, 100) ? 2000 : 200000);
        slot->block = make_block(slot->size);
    }
    if (!slot->block || slot->block == MAP_FAILED)
        _exit(99);
    *(volatile char *)slot->block = 1;
}

/* A map that was inherited is not remapped: reports count what a process mapped itself. */
static void change(struct slot *slot)
{
    if (slot->is_map && slot->maker != getpid())
        return;
    if (slot->is_map) {
        const size_t bytes = PAGE * (1 + soak_roll(&soak_me.dice, 30));
        slot->block = soak_mremap(slot->block, slot->size, bytes);
        slot->size = bytes;
    } else {
        slot->size = 1 + soak_roll(&soak_me.dice, 3000);
        slot->block = soak_wild || slot->size % 2
                          ? soak_realloc(slot->block, slot->size)
                          : soak_reallocarray(slot->block, slot->size);
    }
}

static void empty(struct slot *slot)
{
    void *block = slot->block;
    slot->block = NULL;
    if (slot->is_map)
        soak_munmap(block, slot->size);
    else
        soak_free(block);
}

void soak_step(void)
{
    struct slot *slot = &slots[soak_roll(&soak_me.dice, SLOTS)];
    const uint64_t wish = soak_roll(&soak_me.dice, 4);
    soak_me.in_call++; /* the slot counts as part of the call */
    if (!atomic_flag_test_and_set(&slot->locked)) {
        soak_me.held = slot;
        if (!slot->block)
            fill(slot);
        else if (wish == 0)
            change(slot);
        else
            empty(slot);
        soak_me.held = NULL;
        atomic_flag_clear(&slot->locked);
    }
    soak_me.in_call--;
}

/* What the slot held when a call was torn is not known: let it be. */
void soak_landed(void)
{
    struct slot *slot = soak_me.held;
    soak_me.at_ease = false;
    soak_me.held = NULL;
    soak_me.in_call = soak_me.in_outer = 0;
    if (slot) {
        slot->block = NULL;
        atomic_flag_clear(&slot->locked);
    }
}
