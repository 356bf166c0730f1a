/* model/pattern.c - which names are meant.
 */
#include "model/pattern.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { TIDE_WORD_MAX = 1024 };

static const char ANONYMOUS[] = "(anonymous namespace)";

static bool word_means(const char *word, const char *name)
{
    if (strpbrk(word, "*?["))
        return fnmatch(word, name, 0) == 0;
    return strstr(name, word) != NULL;
}

/* --- Names as people write them ------------------------------------------------------ */

/* Where the arguments of a template at TEXT end; TEXT when there are none. */
static const char *skip_arguments(const char *text)
{
    const char *at = text;
    int depth = 0;
    do {
        depth += (*at == '<') - (*at == '>');
        at += *at != '\0';
    } while (depth > 0 && *at);
    return depth == 0 && *text == '<' ? at : text;
}

/* Does a name end at REST, but for its parameters? */
static bool ends_at(const char *rest)
{
    rest = skip_arguments(rest);
    return *rest == '\0' || *rest == '(' || strncmp(rest, " [", 2) == 0;
}

/* Are both at a string, which the demangler spells out?  Then they are behind it. */
static bool pass_string(const char **name, const char **wanted)
{
    static const char SHORT[] = "std::string", LONG[] = "std::__cxx11::basic_string";
    const size_t used = sizeof(SHORT) - 1;
    const char *const arguments = *name + sizeof(LONG) - 1;
    if (strncmp(*wanted, SHORT, used) != 0 ||
        strncmp(*name, LONG, sizeof(LONG) - 1) != 0 ||
        strncmp(arguments, "<char,", 6) != 0 || (*wanted)[used] == '_')
        return false;
    *name = skip_arguments(arguments);
    *wanted += used;
    return true;
}

/* Does WANTED go on at NAME up to its end?  Arguments that it does not have are passed
 * over, and so is the blank between two brackets. */
static bool goes_on(const char *name, const char *wanted)
{
    while (*wanted) {
        if (pass_string(&name, &wanted))
            continue;
        if (*name == '<' && *wanted != '<') {
            const char *const behind = skip_arguments(name);
            if (behind == name)
                return false;
            name = behind;
            continue;
        }
        name += *wanted == '>' && strncmp(name, " >", 2) == 0;
        if (*name != *wanted)
            return false;
        name++;
        wanted++;
    }
    return ends_at(name);
}

bool tide_function_is(const char *name, const char *wanted)
{
    for (const char *at = name; *at && *wanted; at++) {
        const bool begins = at == name || at[-1] == ':' || at[-1] == ' ';
        if (begins && goes_on(at, wanted))
            return true;
    }
    return false;
}

/* Where the name of a function begins: the name of a template has the type that it
 * returns in front ("unsigned int& std::swap<...>(...)"). */
static const char *without_type(const char *name)
{
    const char *start = name;
    int depth = 0;
    for (const char *at = name; *at; at++) {
        if (strncmp(at, ANONYMOUS, sizeof(ANONYMOUS) - 1) == 0)
            at += sizeof(ANONYMOUS) - 2;
        else if (strncmp(at, "operator", 8) == 0 || strncmp(at, " [", 2) == 0 ||
                 (*at == '(' && depth == 0))
            break;
        else if (*at == ' ' && depth == 0)
            start = at + 1;
        else
            depth += (*at == '<') - (*at == '>');
    }
    return start;
}

void tide_function_short(const char *name, struct tide_text *out)
{
    const char *at = without_type(name);
    tide_text_add(out, "");
    while (*at && strncmp(at, " [", 2) != 0) {
        const char *const behind = skip_arguments(at);
        if (strncmp(at, ANONYMOUS, sizeof(ANONYMOUS) - 1) == 0) {
            tide_text_add(out, ANONYMOUS);
            at += sizeof(ANONYMOUS) - 1;
        } else if (strncmp(at, "operator", 8) == 0) {
            const size_t call = strncmp(at + 8, "()", 2) == 0 ? 10 : 0;
            tide_text_add_bytes(out, at, call + strcspn(at + call, "("));
            break;
        } else if (*at == '(') {
            break;
        } else if (behind != at) {
            at = behind;
        } else {
            tide_text_add_bytes(out, at++, 1);
        }
    }
}

/* --- Patterns ------------------------------------------------------------------------ */

static bool function_word_means(const char *word, const char *name)
{
    return word_means(word, name) || tide_function_is(name, word);
}

static bool any_word_means(const char *pattern, const char *name,
                           bool (*means)(const char *word, const char *name))
{
    if (!pattern)
        return true;
    for (const char *at = pattern;; at++) {
        const size_t length = strcspn(at, "|");
        char word[TIDE_WORD_MAX];
        if (length > 0 && length < sizeof(word)) {
            memcpy(word, at, length);
            word[length] = '\0';
            if (means(word, name))
                return true;
        }
        at += length;
        if (!*at)
            return false;
    }
}

bool tide_pattern_means(const char *pattern, const char *name)
{
    return any_word_means(pattern, name, word_means);
}

bool tide_pattern_means_function(const char *pattern, const char *name)
{
    return any_word_means(pattern, name, function_word_means);
}

/* --- Libraries ----------------------------------------------------------------------- */

static bool starts_with_one(const char *text, const char *const *list)
{
    for (; *list; list++) {
        if (strncmp(text, *list, strlen(*list)) == 0)
            return true;
    }
    return false;
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
