/* symbol/name_weight.h - how much a mangled C++ name is when nothing is abbreviated.
 *
 * For: symbol/demangle.c, tests/.
 */
#ifndef TIDE_SYMBOL_NAME_WEIGHT_H
#define TIDE_SYMBOL_NAME_WEIGHT_H

#include <stddef.h>
#include <stdint.h>

/* Also what is given for names beyond it, and without memory. */
#define TIDE_NAME_WEIGHT_MAX (1u << 17)

/* The number of parts of NAME, of LENGTH bytes, with every substitution spelled out; 0
 * when it is not a mangled C++ name.  Takes time in proportion to LENGTH, and as much
 * stack as demangling does. */
uint32_t tide_name_weight(const char *name, size_t length);

#endif
