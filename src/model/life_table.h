/* model/life_table.h - the blocks that are alive in a stream, with all that is known.
 *
 * For: model/, tests/.  The account keeps what totals need, in 20 bytes a block; here a
 * block keeps its own story, for those who ask for blocks one by one.
 */
#ifndef TIDE_MODEL_LIFE_TABLE_H
#define TIDE_MODEL_LIFE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

/* One block, from its birth on. */
struct tide_life {
    uint64_t id; /* 1, 2, 3... in the order of birth */
    uint64_t address;
    uint64_t size;   /* bytes asked for; mmap: committed by the call */
    uint64_t usable; /* bytes that the allocator gave */
    uint64_t left;   /* bytes that live: size, less what was unmapped; 0 once dead */
    uint64_t birth_ticks;
    uint64_t
        moved_from;     /* id of the block that realloc or mremap made it of, 0: none */
    uint32_t process;   /* index into the trace's processes */
    uint32_t stack;     /* node */
    uint32_t tid;       /* of the thread that made it, 0: not known */
    uint32_t label;     /* id of the name that its birth counts under + 1, 0: none */
    uint32_t label_now; /* the same of the name that it has */
    uint32_t note;      /* the watcher's: see tide_block_watch.birth */
    bool renamed;       /* it lost a name, under which its birth counts */
    uint8_t space;      /* enum tide_space */
    uint8_t kind;       /* heap: enum tide_alloc_kind; mmap: enum tide_map_call */
};

/* A place of the table: an entry, and enough of its hash to pass by others unseen. */
struct tide_life_slot {
    uint32_t entry; /* 0: empty */
    uint32_t hash;
};

/* All zeros is ready for use after tide_lives_init(). */
struct tide_lives {
    struct tide_life *list; /* owned; entry 0 is nobody; id 0: unused */
    size_t count, capacity;
    uint32_t spare;               /* unused entries, linked by label */
    struct tide_life_slot *slots; /* owned: entries by process and address */
    size_t mask, used;
    uint64_t seed;
};

enum tide_status tide_lives_init(struct tide_lives *lives);
void tide_lives_release(struct tide_lives *lives);

/* An entry for LIFE, which nobody finds by its address yet. */
enum tide_status tide_lives_add(struct tide_lives *lives, const struct tide_life *life,
                                uint32_t *out);
/* The entry is free for others; it must not be found by address any more. */
void tide_lives_drop(struct tide_lives *lives, uint32_t entry);

/* ENTRY is the block at its address, where there is none. */
enum tide_status tide_lives_put(struct tide_lives *lives, uint32_t entry);
/* The entry of the block at ADDRESS of PROCESS, 0: there is none. */
uint32_t tide_lives_find(const struct tide_lives *lives, uint32_t process,
                         uint64_t address);
/* The same, and it is found there no more. */
uint32_t tide_lives_take(struct tide_lives *lives, uint32_t process, uint64_t address);

/* ADDRESS will be asked for soon: have the place where it is looked for at hand; or, when
 * it is at hand, the entry that stands there. */
void tide_lives_expect(const struct tide_lives *lives, uint32_t process,
                       uint64_t address);
void tide_lives_expect_entry(const struct tide_lives *lives, uint32_t process,
                             uint64_t address);

/* The call that made LIFE: "malloc", "mmap". */
const char *tide_life_kind(const struct tide_life *life);

#endif
