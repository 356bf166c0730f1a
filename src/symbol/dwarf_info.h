/* symbol/dwarf_info.h - functions, inlined functions and lines, from debug information.
 *
 * For: symbol/.
 */
#ifndef TIDE_SYMBOL_DWARF_INFO_H
#define TIDE_SYMBOL_DWARF_INFO_H

#include "symbol/elf_file.h"
#include "symbol/name_pool.h"
#include "symbol/symbolizer.h"

struct tide_dwarf_info; /* opaque */

/* Read the debug information of FILE (borrowed, as POOL: both must outlive it).  ROOT
 * is where dwz files are looked for.  TIDE_ELIMIT: decompressed, it takes more memory than
 * there is. */
enum tide_status tide_dwarf_info_open(const struct tide_elf_file *file,
                                      const char *root, struct tide_name_pool *pool,
                                      struct tide_dwarf_info **out);
void tide_dwarf_info_close(struct tide_dwarf_info *info);

/* What stands at ADDRESS.  *OUT points at COUNT locations in the pool's arena,
 * innermost first; COUNT is 0 when nothing is known.  The last one has no function
 * when only the line is known. */
enum tide_status tide_dwarf_info_find(struct tide_dwarf_info *info, uint64_t address,
                                      struct tide_location **out, size_t *count);

#endif
