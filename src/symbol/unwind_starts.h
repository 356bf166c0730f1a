/* symbol/unwind_starts.h - where the functions of an ELF file begin, by its unwind tables.
 *
 * For: symbol/, tests/.  A stripped file has no names, but it keeps .eh_frame, which has an
 * entry for each function: so two addresses are known to be of one function.
 */
#ifndef TIDE_SYMBOL_UNWIND_STARTS_H
#define TIDE_SYMBOL_UNWIND_STARTS_H

#include "symbol/elf_file.h"

/* A table of all zeros is ready for use, and empty. */
struct tide_unwind_starts {
    const uint8_t *table; /* borrowed from the ELF file: pairs of words, by address */
    size_t count;
    uint64_t base;         /* what the words are added to */
    const uint8_t *frames; /* borrowed: .eh_frame */
    size_t frame_bytes;
    uint64_t frame_base; /* its address */
};

/* Fill STARTS (empty before) from FILE (borrowed: must outlive it). */
void tide_unwind_starts_load(struct tide_unwind_starts *starts,
                             const struct tide_elf_file *file);

/* Where the function at ADDRESS begins; 0 when that is not known. */
uint64_t tide_unwind_starts_find(const struct tide_unwind_starts *starts,
                                 uint64_t address);

#endif
