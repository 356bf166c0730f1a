/* view/utf8.h - characters in bytes: is it one, may it be shown, how wide is it?
 *
 * For: view/, tests/.  Own tables instead of the C library's: the answers must not
 * depend on setlocale(), and nothing a name holds may move the cursor.
 */
#ifndef TIDE_VIEW_UTF8_H
#define TIDE_VIEW_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at the start of the LENGTH bytes at BYTES; returns how many bytes it
 * takes, 0 when they are not UTF-8 (overlong, surrogate, cut, above U+10FFFF). */
size_t tide_utf8_decode(const char *bytes, size_t length, uint32_t *character);

/* False for what a terminal obeys instead of showing: controls, marks that change the
 * direction of text, invisible separators, private and unassigned planes. */
bool tide_utf8_shown(uint32_t character);

/* Columns that a shown character takes: 0 (combining), 1 or 2. */
int tide_utf8_columns(uint32_t character);

/* Columns of TEXT, which must be safe already (see tide_name_safe). */
int tide_columns(const char *text);
/* The longest beginning of TEXT that takes at most COLUMNS columns, in bytes. */
size_t tide_columns_prefix(const char *text, int columns);
/* Where the longest end of TEXT that takes at most COLUMNS columns starts. */
size_t tide_columns_suffix(const char *text, int columns);

#endif
