/* symbol/aranges.h - which unit an address belongs to, by .debug_aranges.
 *
 * For: symbol/, tests/.  The section is optional, and may leave units out.
 */
#ifndef TIDE_SYMBOL_ARANGES_H
#define TIDE_SYMBOL_ARANGES_H

#include <libelf.h>

#include "symbol/span_table.h"

struct tide_aranges {
    uint64_t *units; /* owned: where they begin in .debug_info */
    uint32_t unit_count, unit_capacity;
    struct tide_span_table spans; /* owners are indices of units */
};

/* Fill ARANGES with what ELF says; nothing where it says nothing. */
enum tide_status tide_aranges_load(struct tide_aranges *aranges, Elf *elf);
void tide_aranges_release(struct tide_aranges *aranges);

#endif
