/* base/text.h - a string that grows.
 *
 * For: everything but capture/.  A text of all zeros is ready for use.  Running out of
 * memory is remembered, not reported at each call: look at `failed` once, at the end.
 */
#ifndef TIDE_BASE_TEXT_H
#define TIDE_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct tide_text {
    char *bytes; /* owned; zero-terminated once anything was added, else NULL */
    size_t length;
    size_t capacity;
    bool failed; /* memory ran out: what is here is incomplete */
};

void tide_text_release(struct tide_text *text);
void tide_text_clear(struct tide_text *text);
void tide_text_add(struct tide_text *text, const char *string);
void tide_text_add_bytes(struct tide_text *text, const char *bytes, size_t length);
void tide_text_addf(struct tide_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tide_text_addv(struct tide_text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Add STRING (NULL: nothing), a name of any origin, as text that a terminal only shows:
 * bytes that are no shown character (characters.h) stand as \xNN.  Safe text stays as it
 * is.  All names that are printed go through here, or through view/json.h. */
void tide_text_add_safe(struct tide_text *text, const char *string);
void tide_text_add_safe_bytes(struct tide_text *text, const char *bytes, size_t length);

#endif
