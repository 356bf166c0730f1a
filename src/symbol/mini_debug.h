/* symbol/mini_debug.h - the symbol table that a stripped module brings along, compressed.
 *
 * For: symbol/, tests/.  Fedora, RHEL and their kin strip programs and keep the names of the
 * functions that are not exported in a section .gnu_debugdata: an ELF file as xz has it.
 */
#ifndef TIDE_SYMBOL_MINI_DEBUG_H
#define TIDE_SYMBOL_MINI_DEBUG_H

#include "symbol/elf_file.h"

/* What MODULE (borrowed) brings; NULL when it brings nothing, when that is damaged or takes more
 * memory than there is.  The caller closes it. */
struct tide_elf_file *tide_mini_debug_open(const struct tide_elf_file *module);

#endif
