/* collect/checks.c - what was looked at before a recording, and what it means. */
#include "collect/checks.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/text.h"

static bool make_room(struct tide_checks *checks)
{
    if (checks->count < checks->capacity)
        return true;
    const size_t wider = checks->capacity ? 2 * checks->capacity : 16;
    struct tide_check *const moved =
        realloc(checks->list, wider * sizeof(*checks->list));
    if (!moved)
        return false;
    checks->list = moved;
    checks->capacity = wider;
    return true;
}

void tide_checks_add(struct tide_checks *checks, const struct tide_check *check,
                     const char *format, ...)
{
    struct tide_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    tide_text_addv(&text, format, arguments);
    va_end(arguments);
    if (text.failed || !make_room(checks)) {
        tide_text_release(&text);
        checks->failed = true;
        return;
    }
    struct tide_check *const added = &checks->list[checks->count++];
    *added = *check;
    added->text = text.bytes;
}

void tide_checks_release(struct tide_checks *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        free(checks->list[i].text);
    free(checks->list);
    *checks = (struct tide_checks){0};
}

enum tide_level tide_checks_verdict(const struct tide_checks *checks)
{
    enum tide_level worst = TIDE_LEVEL_OK;
    for (size_t i = 0; i < checks->count; i++) {
        if (checks->list[i].level > worst)
            worst = checks->list[i].level;
    }
    return worst;
}

const char *tide_level_word(enum tide_level level)
{
    static const char *const words[TIDE_LEVELS] = {"ok", "note", "warning", "refusal"};
    return words[level];
}
