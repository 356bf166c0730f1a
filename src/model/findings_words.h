/* model/findings_words.h - what the sentences of findings are made of.
 *
 * For: findings_words*.c.
 */
#ifndef TIDE_MODEL_FINDINGS_WORDS_H
#define TIDE_MODEL_FINDINGS_WORDS_H

#include "model/findings_parts.h"

struct tide_sentence {
    struct tide_text *text;
    const struct tide_model *model;
    const struct tide_subject *subject;
    const struct tide_found *found;
    const struct tide_verdict_on *verdict; /* of what was found */
    const char *who;
};

/* Add " of 64 bytes each", " of 18 to 40 bytes", " of 1.2 KiB on average"; nothing for one
 * block, and of what is wide. */
void tide_found_add_sizes(const struct tide_sentence *s);
/* Add "1.5 MiB in 12 blocks of 128 KiB each". */
void tide_found_add_amount(const struct tide_sentence *s);

/* --- findings_words_leaks.c --- */

void tide_say_leak_growing(const struct tide_sentence *s);
void tide_say_leak_per_thread(const struct tide_sentence *s);
void tide_say_leak_once(const struct tide_sentence *s);
void tide_say_leak(const struct tide_sentence *s);
void tide_say_growing(const struct tide_sentence *s);

#endif
