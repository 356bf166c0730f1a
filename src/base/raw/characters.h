/* base/raw/characters.h - characters in bytes: is it one, may it be shown?
 *
 * For: everybody.  The one rule of what a terminal may get of a name, for all that the
 * tools and the recorder print.  Own tables instead of the C library's: the answers must
 * not depend on setlocale().
 */
#ifndef TIDE_BASE_RAW_CHARACTERS_H
#define TIDE_BASE_RAW_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at the start of the LENGTH bytes at BYTES; returns how many bytes it
 * takes, 0 when they are not UTF-8 (overlong, surrogate, cut, above U+10FFFF). */
size_t tide_utf8_decode(const char *bytes, size_t length, uint32_t *character);

/* False for what a terminal obeys instead of showing: controls, marks that change the
 * direction of text, invisible separators, private and unassigned planes. */
bool tide_utf8_shown(uint32_t character);

#endif
