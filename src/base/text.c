/* base/text.c - a string that grows.
 *
 * Invariant: bytes is NULL and length and capacity are 0, or length < capacity and
 * bytes[length] is 0.  After a failure nothing more is added, so that what is there is
 * a beginning of what was meant.
 */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/raw/characters.h"

enum { TIDE_TEXT_FIRST = 64 };

void tide_text_release(struct tide_text *text)
{
    free(text->bytes);
    *text = (struct tide_text){0};
}

void tide_text_clear(struct tide_text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->bytes)
        text->bytes[0] = '\0';
}

/* Make room for EXTRA bytes and the zero after them; remember when there is none. */
static bool reserve(struct tide_text *text, size_t extra)
{
    if (text->failed)
        return false;
    if (extra < text->capacity - text->length)
        return true;

    const size_t most = SIZE_MAX / 2;
    if (extra >= most - text->length) {
        text->failed = true;
        return false;
    }
    const size_t needed = text->length + extra + 1;
    size_t capacity = text->capacity ? text->capacity : TIDE_TEXT_FIRST;
    while (capacity < needed)
        capacity *= 2;

    char *const bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void tide_text_add_bytes(struct tide_text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
        return;
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void tide_text_add(struct tide_text *text, const char *string)
{
    tide_text_add_bytes(text, string, strlen(string));
}

void tide_text_addv(struct tide_text *text, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int needed = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (needed < 0) {
        text->failed = true;
        return;
    }
    const size_t length = (size_t)needed;
    if (!reserve(text, length))
        return;
    (void)vsnprintf(text->bytes + text->length, length + 1, format, arguments);
    text->length += length;
}

void tide_text_addf(struct tide_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tide_text_addv(text, format, arguments);
    va_end(arguments);
}

/* How many of the LENGTH bytes at STRING are shown ASCII: names are mostly that. */
static size_t plain_length(const char *string, size_t length)
{
    size_t plain = 0;
    while (plain < length && string[plain] >= ' ' && string[plain] <= '~')
        plain++;
    return plain;
}

/* Add the character at BYTES, or the byte that is none, as it may be shown; how many bytes
 * that was. */
static size_t add_character(struct tide_text *text, const char *bytes, size_t length)
{
    uint32_t character;
    const size_t size = tide_utf8_decode(bytes, length, &character);
    if (size > 0 && tide_utf8_shown(character)) {
        tide_text_add_bytes(text, bytes, size);
        return size;
    }
    const size_t taken = size > 0 ? size : 1;
    for (size_t i = 0; i < taken; i++)
        tide_text_addf(text, "\\x%02x", (unsigned char)bytes[i]);
    return taken;
}

void tide_text_add_safe_bytes(struct tide_text *text, const char *bytes, size_t length)
{
    while (length > 0) {
        size_t taken = plain_length(bytes, length);
        if (taken > 0)
            tide_text_add_bytes(text, bytes, taken);
        else
            taken = add_character(text, bytes, length);
        bytes += taken;
        length -= taken;
    }
}

void tide_text_add_safe(struct tide_text *text, const char *string)
{
    tide_text_add_safe_bytes(text, string, string ? strlen(string) : 0);
}
