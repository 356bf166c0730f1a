/* symbol/symtab.h - functions by address, from an ELF symbol table.
 *
 * For: symbol/, tests/.
 */
#ifndef TIDE_SYMBOL_SYMTAB_H
#define TIDE_SYMBOL_SYMTAB_H

#include "symbol/elf_file.h"
#include "symbol/name_pool.h"
#include "symbol/span_table.h"

struct tide_symtab_entry {
    const char *linked; /* borrowed from the ELF file: as the linker sees it */
    const char *shown;  /* in the pool, demangled; NULL until somebody asks */
};

/* A table of all zeros is ready for use, and empty. */
struct tide_symtab {
    struct tide_symtab_entry *entries; /* owned */
    size_t count;
    struct tide_span_table spans; /* owners are indices of entries */
};

/* Fill TABLE (empty before) from FILE (borrowed: must outlive it): from its full symbol
 * table or, without one, from the dynamic one.  MORE (the same, or NULL) is a file with symbols of
 * the same module that FILE does not have. */
enum tide_status tide_symtab_load(struct tide_symtab *table,
                                  const struct tide_elf_file *file,
                                  const struct tide_elf_file *more);
void tide_symtab_release(struct tide_symtab *table);

/* The function at ADDRESS, its name in POOL; NULL when none is known. */
const char *tide_symtab_find(struct tide_symtab *table, uint64_t address,
                             struct tide_name_pool *pool);

#endif
