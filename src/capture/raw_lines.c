/* capture/raw_lines.c - text for people, from inside the recorder.
 */
#include "capture/raw_lines.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/raw/characters.h"
#include "capture/process.h"
#include "capture/self.h"

enum { TIDE_DIGITS = 24, TIDE_NO_CHARACTER = 0x110000 };

/* Which of the signals that a write may cause wait for this thread. */
static uint64_t waiting_signals(void)
{
    uint64_t waiting = 0;
    syscall(SYS_rt_sigpending, &waiting, sizeof(waiting));
    return waiting & (1ull << (SIGPIPE - 1) | 1ull << (SIGXFSZ - 1));
}

static void write_out(const struct tide_lines *lines)
{
    size_t done = 0;
    while (done < lines->used) {
        const long wrote =
            syscall(SYS_write, lines->file, lines->bytes + done, lines->used - done);
        if (wrote <= 0 && !(wrote < 0 && errno == EINTR))
            return;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* A pipe that nobody reads, or a limit on files, is no reason for the program to end: the
 * signal is ours, so we take it. */
void tide_lines_flush(struct tide_lines *lines)
{
    const struct timespec at_once = {0};
    if (lines->file >= 0 && lines->used > 0) {
        tide_shield();
        const uint64_t before = waiting_signals();
        write_out(lines);
        const uint64_t ours = waiting_signals() & ~before;
        if (ours)
            syscall(SYS_rt_sigtimedwait, &ours, NULL, &at_once, sizeof(ours));
        tide_unshield();
    }
    lines->used = 0;
}

static void add(struct tide_lines *lines, const char *text, size_t length)
{
    while (length > 0) {
        const size_t room = sizeof(lines->bytes) - lines->used;
        const size_t part = length < room ? length : room;
        memcpy(lines->bytes + lines->used, text, part);
        lines->used += part;
        text += part;
        length -= part;
        if (lines->used == sizeof(lines->bytes))
            tide_lines_flush(lines);
    }
}

void tide_lines_text(struct tide_lines *lines, const char *text)
{
    add(lines, text, strlen(text));
}

/* The digits of VALUE end at END; where they begin. */
static char *digits(char *end, uint64_t value, unsigned base)
{
    do {
        *--end = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    return end;
}

void tide_lines_number(struct tide_lines *lines, uint64_t value)
{
    tide_lines_column(lines, value, 0);
}

void tide_lines_signed(struct tide_lines *lines, int64_t value)
{
    if (value < 0)
        add(lines, "-", 1);
    tide_lines_number(lines, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void tide_lines_hex(struct tide_lines *lines, uint64_t value)
{
    char buffer[TIDE_DIGITS], *const end = buffer + sizeof(buffer);
    const char *const begin = digits(end, value, 16);
    add(lines, "0x", 2);
    add(lines, begin, (size_t)(end - begin));
}

void tide_lines_column(struct tide_lines *lines, uint64_t value, unsigned width)
{
    char buffer[TIDE_DIGITS], *const end = buffer + sizeof(buffer);
    const char *const begin = digits(end, value, 10);
    const size_t length = (size_t)(end - begin);
    for (size_t i = length; i < width; i++)
        add(lines, " ", 1);
    add(lines, begin, length);
}

/* The lowest COUNT digits of VALUE in hexadecimal. */
static void add_hex(struct tide_lines *lines, uint32_t value, unsigned count)
{
    while (count-- > 0)
        add(lines, &"0123456789abcdef"[value >> 4 * count & 15], 1);
}

/* LEFT is what is left of the text at AT: how much of it is one character, or one byte of
 * none.  SHOWN: it may stand for itself. */
static size_t next_character(const char *at, size_t left, uint32_t *character,
                             bool *shown)
{
    const size_t size = tide_utf8_decode(at, left, character);
    *shown = size > 0 && tide_utf8_shown(*character);
    if (size == 0)
        *character = TIDE_NO_CHARACTER;
    return size ? size : 1;
}

void tide_lines_name(struct tide_lines *lines, const char *name)
{
    size_t left = strlen(name);
    while (left > 0) {
        uint32_t character;
        bool shown;
        const size_t size = next_character(name, left, &character, &shown);
        if (shown)
            add(lines, name, size);
        for (size_t i = 0; !shown && i < size; i++) {
            add(lines, "\\x", 2);
            add_hex(lines, (unsigned char)name[i], 2);
        }
        name += size;
        left -= size;
    }
}

/* A character that is not shown, as JSON has it: two halves, if it is beyond 16 bits. */
static void add_unshown(struct tide_lines *lines, uint32_t character)
{
    const bool large = character > 0xffff;
    add(lines, "\\u", 2);
    add_hex(lines, large ? 0xd800 + ((character - 0x10000) >> 10) : character, 4);
    if (large) {
        add(lines, "\\u", 2);
        add_hex(lines, 0xdc00 + ((character - 0x10000) & 0x3ff), 4);
    }
}

void tide_lines_quoted(struct tide_lines *lines, const char *text)
{
    size_t left = strlen(text);
    add(lines, "\"", 1);
    while (left > 0) {
        uint32_t character;
        bool shown;
        const size_t size = next_character(text, left, &character, &shown);
        if (character == TIDE_NO_CHARACTER) {
            add(lines, "\\\\x", 3);
            add_hex(lines, (unsigned char)*text, 2);
        } else if (!shown) {
            add_unshown(lines, character);
        } else {
            if (character == '"' || character == '\\')
                add(lines, "\\", 1);
            add(lines, text, size);
        }
        text += size;
        left -= size;
    }
    add(lines, "\"", 1);
}

static void name_field(struct tide_lines *lines, const char *name)
{
    add(lines, ",", 1);
    tide_lines_quoted(lines, name);
    add(lines, ":", 1);
}

void tide_lines_field(struct tide_lines *lines, const char *name, uint64_t value)
{
    name_field(lines, name);
    tide_lines_number(lines, value);
}

void tide_lines_signed_field(struct tide_lines *lines, const char *name, int64_t value)
{
    name_field(lines, name);
    tide_lines_signed(lines, value);
}
