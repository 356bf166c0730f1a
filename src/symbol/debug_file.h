/* symbol/debug_file.h - where a module's debug information lives.
 *
 * For: symbol/, tests/.  Only files on this machine; for others see debuginfod.h.
 */
#ifndef TIDE_SYMBOL_DEBUG_FILE_H
#define TIDE_SYMBOL_DEBUG_FILE_H

#include <elfutils/libdw.h>

#include "symbol/elf_file.h"

#define TIDE_DEBUG_ROOT "/usr/lib/debug"

/* ROOT/.build-id/ab/cdef.debug, if it is there and says that it is ID's; else NULL.
 * The caller closes it, here and below. */
struct tide_elf_file *tide_debug_file_by_id(const char *root,
                                            const struct tide_build_id *id);

/* The file that MODULE's .gnu_debuglink names: beside the module, in .debug beside it,
 * or at the same place under ROOT.  It must have the module's build-id or, where one of
 * them has none, the checksum that stands in the link. */
struct tide_elf_file *tide_debug_file_by_link(const char *root,
                                              const struct tide_elf_file *module);

/* The file that FILE's .gnu_debugaltlink names: what dwz took out of several debug
 * files, since it stood in each.  SAFE is false when there is such a link, no such
 * file, and libdw would do itself harm looking for it: it opens whatever is there. */
struct tide_elf_file *tide_debug_file_alternate(const char *root,
                                                const struct tide_elf_file *file,
                                                Dwarf *dwarf, bool *safe);

#endif
