/* capture/cfi_table.c - .eh_frame_hdr: which entry of .eh_frame is for a pc. */
#include "capture/cfi_table.h"

#include <stddef.h>
#include <string.h>

#include "capture/cfi_bytes.h"

enum { TIDE_ENC_OMIT = 0xff }; /* an encoding: there is none */

struct table_entry {
    int32_t start, fde; /* both relative to the header */
};

const uint8_t *tide_cfi_search(struct tide_frame_tables *tables, uintptr_t header,
                               uintptr_t pc)
{
    const uint8_t *const begin = (const uint8_t *)header;
    struct tide_cfi_bytes in = {.at = begin + 4, .end = begin + 64};
    if (begin[0] != 1 || begin[2] == TIDE_ENC_OMIT || begin[3] != 0x3b)
        return NULL; /* 0x3b: datarel sdata4, what every linker writes */
    tide_read_encoded(&in, begin[1], header);
    const uint64_t count = tide_read_encoded(&in, begin[2], header);
    const uint8_t *const table = in.at;
    const int64_t wanted = (int64_t)(pc - (tables ? tables->elsewhere : 0) - header);
    struct table_entry entry;
    /* The file may have been written to since it was mapped. */
    const uint64_t room =
        tables ? (tables->to - (uintptr_t)table) / sizeof(entry) : count;
    uint64_t low = 0, high = count < room ? count : room;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        const uint8_t *const at = table + middle * sizeof(entry);
        tide_frame_tables_touch(tables, (uintptr_t)at);
        memcpy(&entry, at, sizeof(entry));
        if (entry.start <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (in.bad || low == 0)
        return NULL;
    memcpy(&entry, table + (low - 1) * sizeof(entry), sizeof(entry));
    return begin + entry.fde;
}
