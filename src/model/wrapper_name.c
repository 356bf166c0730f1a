/* model/wrapper_name.c - is it the name of a layer over malloc?
 *
 * Such names are those of the C library with something before them, whose case nobody
 * agrees on (xmalloc, PyMem_RawMalloc), and with a word or two behind them that say how
 * (g_malloc0_n, ztrymalloc_usable_internal).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "model/pattern.h"
#include "model/wrappers.h"

/* Does NAME, of LENGTH, end with END, whatever the case of its letters? */
static bool ends_with(const char *name, size_t length, const char *end)
{
    const size_t size = strlen(end);
    return length >= size && strncasecmp(name + length - size, end, size) == 0;
}

static bool ends_with_one(const char *name, size_t length, const char *const *ends)
{
    while (*ends && !ends_with(name, length, *ends))
        ends++;
    return *ends != NULL;
}

/* NAME's length without words that only say how it allocates. */
static size_t without_manner(const char *name, size_t length)
{
    static const char *const manners[] = {
        "_usable", "_internal", "_nofail", "_default", "_or_die",
        "_zeroed", "_aligned",  "_impl",   "_common",  "_checked",
        "_zero",   "_raw",      "zeroed",  "_array",   "zero",
        "raw",     "_nn",       "nn",      "_num",     "_chk",
        "_n",      "_z",        "z",       "_",        NULL,
    };
    for (bool shorter = true; shorter;) {
        shorter = false;
        if (length && strchr("0123456789", name[length - 1])) {
            length--;
            shorter = true;
        }
        for (const char *const *manner = manners; *manner && !shorter; manner++) {
            shorter = ends_with(name, length, *manner);
            length -= shorter ? strlen(*manner) : 0;
        }
    }
    return length;
}

static enum tide_wrapper_name judge(const char *name)
{
    static const char *const copies[] = {"strdup", "strndup",  "memdup",
                                         "wcsdup", "asprintf", NULL};
    static const char *const allocators[] = {"malloc",   "calloc", "realloc", "zalloc",
                                             "memalign", "valloc", NULL};
    static const char *const others[] = {"alloc", "allocate", "allocarray", NULL};
    static const char *const neither[] = {"dealloc", "deallocate", "prealloc",
                                          "preallocate", NULL};
    /* What compilers append: ".part.0", ".isra.0". */
    const size_t length = without_manner(name, strcspn(name, ".["));
    if (ends_with_one(name, length, copies))
        return TIDE_NAME_COPIES;
    if (ends_with_one(name, length, allocators) ||
        ends_with(name, length, "reallocarray"))
        return TIDE_NAME_WRAPS;
    return ends_with_one(name, length, others) && !ends_with_one(name, length, neither)
               ? TIDE_NAME_MAY_WRAP
               : TIDE_NAME_OTHER;
}

enum tide_wrapper_name tide_wrapper_name(const char *name)
{
    struct tide_text brief = {0};
    if (strstr(name, "::operator new(") || strstr(name, "::operator new["))
        return TIDE_NAME_WRAPS; /* of a class */
    tide_function_short(name, &brief);
    const enum tide_wrapper_name found = judge(brief.bytes ? brief.bytes : name);
    tide_text_release(&brief);
    return found;
}
