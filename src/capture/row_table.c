/* capture/row_table.c - rows of the frame tables, remembered by pc. */
#include "capture/row_table.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process.h"
#include "capture/stack.h"

enum { TIDE_KEY_TAKEN = 1 }; /* a slot being filled: no pc is 1 */

struct tide_row_slot *tide_rows;

bool tide_stack_cfi_init(void)
{
    const uint64_t bytes = sizeof(struct tide_row_slot) << TIDE_ROWS_LOG2;
    const long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == -1)
        return false;
    tide_fixed_bytes += bytes;
    tide_rows = (struct tide_row_slot *)at;
    return true;
}

static uint64_t pack(struct tide_cfi_row row)
{
    const uint64_t mask = (1ull << TIDE_OFFSET_BITS) - 1;
    const bool usual = row.cfa == TIDE_CFA_RSP && row.rbp == TIDE_RBP_SAME;
    if (usual && row.cfa_offset >= 8 && row.cfa_offset % 8 == 0)
        return (uint64_t)TIDE_PLAIN_ROW | (uint64_t)row.cfa_offset << 8;
    if (usual) /* no compiler writes it: as good as none */
        return TIDE_CFA_UNKNOWN;
    return (uint64_t)row.cfa | (uint64_t)row.rbp << 4 |
           ((uint64_t)row.cfa_offset & mask) << 8 |
           ((uint64_t)row.rbp_offset & mask) << (8 + TIDE_OFFSET_BITS);
}

uint64_t tide_row_learn(uint64_t key, uintptr_t pc, uint32_t home)
{
    const uint64_t row = pack(tide_cfi_find_row(pc));
    const uint32_t mask = (1u << TIDE_ROWS_LOG2) - 1;
    for (uint32_t i = 0; i <= TIDE_ROW_PROBES; i++) {
        /* A full neighbourhood gives up one of its places: some are of unloaded code. */
        const bool full = i == TIDE_ROW_PROBES;
        struct tide_row_slot *slot =
            &tide_rows[(home + (full ? pc % TIDE_ROW_PROBES : i)) & mask];
        uint64_t old = full ? atomic_load(&slot->key) : 0;
        if (old == TIDE_KEY_TAKEN ||
            !atomic_compare_exchange_strong(&slot->key, &old, TIDE_KEY_TAKEN))
            continue;
        atomic_store(&slot->row, row);
        atomic_store(&slot->key, key);
        break;
    }
    return row;
}

/* The upper bits of a pc are 0, so a key tells its generation.  Others go on finding the
 * rows of the generation just past meanwhile. */
void tide_rows_forget(uint64_t next)
{
    const uint64_t top = 1ull << 63;
    const uint64_t half = next << TIDE_EPOCH_SHIFT & top;
    for (uint32_t i = 0; i < 1u << TIDE_ROWS_LOG2; i++) {
        uint64_t key = atomic_load(&tide_rows[i].key);
        if (key > TIDE_KEY_TAKEN && (key & top) == half)
            atomic_compare_exchange_strong(&tide_rows[i].key, &key, 0);
    }
}
