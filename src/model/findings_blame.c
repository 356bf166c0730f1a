/* model/findings_blame.c - which function of a stack is to blame.
 *
 * That a vector grew, or that xmalloc called malloc, is no news; who asked for it is.  So
 * the innermost function counts that is not of a language's runtime and does not only hand
 * on what it is asked for (wrappers.h).
 */
#include <stdlib.h>
#include <string.h>

#include "model/findings_parts.h"
#include "model/grow.h"

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* A function of the C or C++ runtime. */
static bool is_runtime(const struct tide_function *function)
{
    static const char *const modules[] = {
        "libc.so", "libc-2.", "libstdc++", "libc++", "libgcc_s", "ld-linux",
    };
    const char *const base = tide_path_base(function->module);
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        if (starts_with(base, modules[i]))
            return true;
    }
    return function->library;
}

/* Is it the part of a container that makes it larger? */
static bool is_growth(const char *name)
{
    static const char *const parts[] = {
        "::_M_realloc_insert",        "::_M_realloc_append", "::_M_default_append",
        "::_M_range_insert",          "::_M_fill_insert",    "::__push_back_slow_path",
        "::__emplace_back_slow_path",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static const struct tide_function *function_at(const struct tide_paths *paths,
                                               size_t call)
{
    return &paths->functions[paths->calls[call].function];
}

/* What a function is to this file. */
enum { TIDE_UNKNOWN, TIDE_OTHER, TIDE_RUNTIME, TIDE_GROWTH, TIDE_WRAPPER };

static uint8_t look_at(const struct tide_function *function)
{
    if (is_runtime(function))
        return is_growth(function->name) ? TIDE_GROWTH : TIDE_RUNTIME;
    return function->wrapper ? TIDE_WRAPPER : TIDE_OTHER;
}

void tide_blamer_release(struct tide_blamer *blamer)
{
    free(blamer->known);
    *blamer = (struct tide_blamer){0};
}

enum tide_status tide_blame_path(struct tide_blamer *blamer,
                                 const struct tide_paths *paths, struct tide_blame *out)
{
    uint8_t *const known =
        tide_grown(blamer->known, &blamer->capacity, paths->function_count, 1);
    const struct tide_function *const outermost =
        function_at(paths, paths->call_count - 1);
    *out = (struct tide_blame){
        .loader = tide_path_is_loader(outermost->module) ||
                  strcmp(outermost->name, "[before start]") == 0,
    };
    if (!known)
        return TIDE_ENOMEM;
    blamer->known = known;
    for (size_t i = 0; i < paths->call_count; i++) {
        uint8_t *const what = &known[paths->calls[i].function];
        if (*what == TIDE_UNKNOWN)
            *what = look_at(function_at(paths, i));
        out->grows |= *what == TIDE_GROWTH;
        if (*what == TIDE_OTHER) {
            out->call = i;
            break;
        }
    }
    return TIDE_OK;
}

bool tide_blame_fits(const struct tide_blamer *blamer, const struct tide_paths *paths,
                     uint32_t function)
{
    const uint8_t known =
        function < blamer->capacity ? blamer->known[function] : TIDE_UNKNOWN;
    return (known ? known : look_at(&paths->functions[function])) == TIDE_OTHER;
}

uint32_t tide_path_call_of(const struct tide_paths *paths, uint32_t function)
{
    for (size_t i = 0; i < paths->call_count; i++)
        if (paths->calls[i].function == function)
            return (uint32_t)i;
    return UINT32_MAX;
}
