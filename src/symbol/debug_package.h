/* symbol/debug_package.h - the split units of a program, packed into one file (.dwp).
 *
 * For: symbol/.  A program of -gsplit-dwarf has the rest of its units in .dwo files, which libdw
 * finds; `dwp` and `llvm-dwp` put them into PROGRAM.dwp, which this libdw does not read.
 */
#ifndef TIDE_SYMBOL_DEBUG_PACKAGE_H
#define TIDE_SYMBOL_DEBUG_PACKAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct tide_debug_package; /* opaque */

/* The package at PATH; NULL when there is none, or it is damaged. */
struct tide_debug_package *tide_debug_package_open(const char *path);
void tide_debug_package_close(struct tide_debug_package *package);

/* The unit of PACKAGE (NULL: there is none) that SKELETON speaks of; false when it is not there.
 * *SPLIT lives as long as PACKAGE and the file of SKELETON. */
bool tide_debug_package_find(struct tide_debug_package *package, Dwarf_Die *skeleton,
                             Dwarf_Die *split);

#endif
