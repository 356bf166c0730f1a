/* view/utf8.h - how wide characters are.
 *
 * For: view/, tests/.  Own tables instead of the C library's: the answers must not
 * depend on setlocale().
 */
#ifndef TIDE_VIEW_UTF8_H
#define TIDE_VIEW_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/raw/characters.h"

/* Columns that a shown character takes: 0 (combining), 1 or 2. */
int tide_utf8_columns(uint32_t character);

/* Columns of TEXT, which must be safe already (see tide_name_safe). */
int tide_columns(const char *text);
/* The longest beginning of TEXT that takes at most COLUMNS columns, in bytes. */
size_t tide_columns_prefix(const char *text, int columns);
/* Where the longest end of TEXT that takes at most COLUMNS columns starts. */
size_t tide_columns_suffix(const char *text, int columns);

#endif
