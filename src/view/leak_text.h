/* view/leak_text.h - what tells a leak from what is only kept, in words.
 *
 * For: view/, tests/.
 */
#ifndef TIDE_VIEW_LEAK_TEXT_H
#define TIDE_VIEW_LEAK_TEXT_H

#include "base/text.h"
#include "model/leak.h"
#include "view/units.h"

/* "grows with the run, born from 0.10 s to 9.98 s, 1.20 MiB/s" of BLOCKS. */
void tide_words_leak(struct tide_text *out, const struct tide_leak *leak,
                     uint64_t blocks, enum tide_units units);

#endif
