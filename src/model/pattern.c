/* model/pattern.c - which names are meant.
 */
#include "model/pattern.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { TIDE_WORD_MAX = 1024 };

static bool word_means(const char *word, const char *name)
{
    if (strpbrk(word, "*?["))
        return fnmatch(word, name, 0) == 0;
    return strstr(name, word) != NULL;
}

bool tide_pattern_means(const char *pattern, const char *name)
{
    if (!pattern)
        return true;
    for (const char *at = pattern;; at++) {
        const size_t length = strcspn(at, "|");
        char word[TIDE_WORD_MAX];
        if (length > 0 && length < sizeof(word)) {
            memcpy(word, at, length);
            word[length] = '\0';
            if (word_means(word, name))
                return true;
        }
        at += length;
        if (!*at)
            return false;
    }
}

static bool starts_with_one(const char *text, const char *const *list)
{
    for (; *list; list++) {
        if (strncmp(text, *list, strlen(*list)) == 0)
            return true;
    }
    return false;
}

/* Where the name of a function begins: the name of a template has the type that it
 * returns in front ("unsigned int& std::swap<...>(...)"). */
static const char *without_type(const char *name)
{
    static const char ANONYMOUS[] = "(anonymous namespace)";
    const char *start = name;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        if (strncmp(at, ANONYMOUS, sizeof(ANONYMOUS) - 1) == 0)
            at += sizeof(ANONYMOUS) - 2;
        else if (strncmp(at, "operator", 8) == 0 || (*at == '(' && depth == 0))
            break;
        else if (*at == ' ' && depth == 0)
            start = at + 1;
        else
            depth += (*at == '<') - (*at == '>');
    }
    return start;
}

bool tide_is_library_function(const char *name)
{
    static const char *const starts[] = {"std::",    "__gnu_cxx::", "operator new",
                                         "core::",   "alloc::",     "<core::",
                                         "<alloc::", NULL};
    static const char *const allocators[] = {
        "malloc",        "calloc",        "realloc",        "memalign", "aligned_alloc",
        "valloc",        "reallocarray",  "posix_memalign", "pvalloc",  "__rust_alloc",
        "__libc_malloc", "__libc_calloc", "__libc_realloc",
    };
    for (size_t i = 0; i < sizeof(allocators) / sizeof(allocators[0]); i++) {
        if (strcmp(name, allocators[i]) == 0)
            return true;
    }
    return starts_with_one(without_type(name), starts);
}
