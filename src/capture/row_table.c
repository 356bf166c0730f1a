/* capture/row_table.c - rows of the frame tables, remembered by pc. */
#include "capture/row_table.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process.h"
#include "capture/stack.h"

enum {
    TIDE_KEY_TAKEN = 1,    /* a slot being filled: no pc is 1 */
    TIDE_ROWS_EIGHTHS = 5, /* of a table that is to grow are taken */
};

_Atomic(struct tide_row_table *) tide_rows;

static size_t bytes_of(uint32_t log2)
{
    return sizeof(struct tide_row_table) + (sizeof(struct tide_row_slot) << log2);
}

static struct tide_row_table *make_table(uint32_t log2)
{
    struct tide_row_table *const table = tide_lasting_memory(bytes_of(log2));
    if (table)
        table->log2 = log2;
    return table;
}

bool tide_stack_cfi_init(void)
{
    struct tide_row_table *const table = make_table(TIDE_ROWS_LOG2);
    if (!table)
        return false;
    atomic_store(&tide_rows, table);
    return true;
}

/* A larger one takes the place of TABLE.  Others may still look into it, so it stays
 * where it is, but its memory goes: they find nothing there, or put a row into it that
 * nobody will find. */
static void outgrow(struct tide_row_table *table)
{
    const int before = errno;
    const uint32_t log2 = table->log2 + 1;
    struct tide_row_table *const larger = make_table(log2);
    struct tide_row_table *present = table;
    if (larger && atomic_compare_exchange_strong(&tide_rows, &present, larger)) {
        atomic_fetch_sub(&tide_fixed_bytes, bytes_of(table->log2));
        /* Its first page says how large it is. */
        syscall(SYS_madvise, (char *)table + TIDE_PAGE,
                bytes_of(table->log2) - TIDE_PAGE, MADV_DONTNEED);
    } else if (larger) {
        tide_lasting_release(larger, bytes_of(log2));
    }
    errno = before;
}

/* Is ROW what its kind promises?  See TIDE_PLAIN_ROW. */
static bool is_usual(struct tide_cfi_row row)
{
    if (row.cfa == TIDE_CFA_RBP)
        return row.cfa_offset == 16 && row.rbp_offset == -16;
    return row.cfa_offset >= 8 && row.cfa_offset % 8 == 0 &&
           (row.rbp == TIDE_RBP_SAME ||
            (row.rbp_offset <= -8 && row.rbp_offset >= -row.cfa_offset &&
             row.rbp_offset % 8 == 0));
}

/* The second offset has not as many bits as the first, which may lead over arrays of a GiB. */
static bool fits(int32_t rbp_offset)
{
    return rbp_offset >> (TIDE_SECOND_BITS - 1) == rbp_offset >> 31;
}

static uint64_t pack(struct tide_cfi_row row)
{
    const uint64_t kind = row.cfa | (uint64_t)row.rbp << 4;
    const bool good = is_usual(row);
    if (!fits(row.rbp_offset))
        return TIDE_CFA_UNKNOWN;
    if (kind == TIDE_PLAIN_ROW) {
        if (!good) /* no compiler writes it: as good as none */
            return TIDE_CFA_UNKNOWN;
        row.rbp_offset = -8;
    }
    return kind | (good ? 0 : TIDE_ODD_ROW) | (uint64_t)(uint32_t)row.cfa_offset << 8 |
           (uint64_t)row.rbp_offset << (64 - TIDE_SECOND_BITS);
}

/* Find the row for PC and remember it. */
static TIDE_COLD uint64_t learn(uint64_t key, uintptr_t pc)
{
    const uint64_t row = pack(tide_cfi_find_row(pc));
    struct tide_row_table *const table = atomic_load(&tide_rows);
    const uint32_t home = tide_row_home(table, key);
    for (uint32_t i = 0; i <= TIDE_ROW_PROBES; i++) {
        /* A full neighbourhood gives up one of its places: some are of unloaded code. */
        const bool full = i == TIDE_ROW_PROBES;
        struct tide_row_slot *slot =
            tide_row_at(table, home + (full ? (uint32_t)(pc % TIDE_ROW_PROBES) : i));
        uint64_t old = full ? atomic_load(&slot->key) : 0;
        if (old == TIDE_KEY_TAKEN ||
            !atomic_compare_exchange_strong(&slot->key, &old, TIDE_KEY_TAKEN))
            continue;
        atomic_store(&slot->row, row);
        /* Not if the table was outgrown meanwhile: the row is gone with its memory. */
        uint64_t mine = TIDE_KEY_TAKEN;
        atomic_compare_exchange_strong(&slot->key, &mine, key);
        break;
    }
    if (table->log2 < TIDE_ROWS_LOG2_MOST &&
        atomic_fetch_add(&table->taken, 1) == (uint32_t)TIDE_ROWS_EIGHTHS
                                                  << (table->log2 - 3))
        outgrow(table);
    return row;
}

uint64_t tide_row_look_on(struct tide_row_table *table, uint64_t key, uintptr_t pc)
{
    const uint32_t home = tide_row_home(table, key);
    uint64_t row;
    for (uint32_t i = 0; i < TIDE_ROW_PROBES; i++) {
        const struct tide_row_slot *slot = tide_row_at(table, home + i);
        if (tide_row_in(slot, key, &row))
            return row;
        if (atomic_load_explicit(&slot->key, memory_order_relaxed) == 0)
            break;
    }
    return learn(key, pc);
}

/* The upper bits of a pc are 0, so a key tells its generation.  Others go on finding the
 * rows of the generation just past meanwhile. */
void tide_rows_forget(uint64_t next)
{
    const uint64_t top = 1ull << 63;
    const uint64_t half = next << TIDE_EPOCH_SHIFT & top;
    struct tide_row_table *const table = atomic_load(&tide_rows);
    for (uint32_t i = 0; i < 1u << table->log2; i++) {
        struct tide_row_slot *const slot = &table->slots[i];
        uint64_t key = atomic_load(&slot->key);
        if (key > TIDE_KEY_TAKEN && (key & top) == half)
            atomic_compare_exchange_strong(&slot->key, &key, 0);
    }
}
