/* collect/inspect_elf.h - what the facts of an executable mean for recording it.
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_INSPECT_ELF_H
#define TIDE_COLLECT_INSPECT_ELF_H

#include "collect/checks.h"
#include "collect/elf_facts.h"

/* Say in OUT what FACTS, of the file PATH (no TIDE_ELF_NONE), mean. */
void tide_inspect_elf(const char *path, const struct tide_elf_facts *facts,
                      struct tide_checks *out);
/* The same of what it runs, and of memory that it divides by itself. */
void tide_inspect_runtime(const char *path, const struct tide_elf_facts *facts,
                          struct tide_checks *out);

#endif
