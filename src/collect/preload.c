/* collect/preload.c - how the recorder gets into a program: its environment. */
#include "collect/preload.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/text.h"
#include "trace/ring.h"

#if defined(__x86_64__)
#    define TIDE_MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#    define TIDE_MULTIARCH "aarch64-linux-gnu"
#else
#    define TIDE_MULTIARCH "."
#endif

static const char LIBRARY[] = "libtidemark.so";
static const char PRELOAD[] = "LD_PRELOAD";

/* From the folder of the program. */
static const char *const PLACES[] = {
    "",
    "/../lib/tidemark",
    "/../lib/" TIDE_MULTIARCH "/tidemark",
    "/../lib64/tidemark",
};

/* The folder of the running program, without a slash at its end; NULL when unknown. */
static char *own_folder(void)
{
    char *path = realpath("/proc/self/exe", NULL);
    if (!path) /* no /proc: as we were called */
        path = realpath(
            (const char *)getauxval(AT_EXECFN), /* NOLINT(performance-no-int-to-ptr) */
            NULL);
    char *const slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    return path;
}

char *tide_preload_find(void)
{
    char *const folder = own_folder();
    char *found = NULL;
    for (size_t i = 0; folder && !found && i < sizeof(PLACES) / sizeof(PLACES[0]);
         i++) {
        struct tide_text path = {0};
        tide_text_addf(&path, "%s%s/%s", folder, PLACES[i], LIBRARY);
        if (!path.failed && access(path.bytes, R_OK) == 0)
            found = realpath(path.bytes, NULL);
        tide_text_release(&path);
    }
    free(folder);
    return found;
}

const char *tide_preload_problem(const char *library)
{
    if (!library)
        return "libtidemark.so is neither beside tidemark nor installed with it";
    if (strpbrk(library, ": "))
        return "libtidemark.so cannot be preloaded from a folder with a blank or a "
               "colon in its name";
    return NULL;
}

static const char *value_of(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '='
               ? entry + length + 1
               : NULL;
}

/* NAME=FIRST, or NAME=FIRST:REST when there is a rest. */
static char *entry_of(const char *name, const char *first, const char *rest)
{
    struct tide_text entry = {0};
    tide_text_addf(&entry, "%s=%s", name, first);
    if (rest && *rest)
        tide_text_addf(&entry, ":%s", rest);
    if (!entry.failed)
        return entry.bytes;
    tide_text_release(&entry);
    return NULL;
}

static const char *find_value(char *const *environment, const char *name)
{
    for (; *environment; environment++) {
        const char *const value = value_of(*environment, name);
        if (value)
            return value;
    }
    return NULL;
}

/* The others of ENVIRONMENT, copied to OUT; false without memory. */
static bool copy_others(char *const *environment, char **out)
{
    for (; *environment; environment++) {
        if (value_of(*environment, PRELOAD) || value_of(*environment, TIDE_SESSION_ENV))
            continue;
        *out = strdup(*environment);
        if (!*out)
            return false;
        out++;
    }
    return true;
}

char **tide_preload_environment(char *const *environment, const char *library,
                                const char *directory)
{
    size_t count = 0;
    while (environment[count])
        count++;
    char **const copy = calloc(count + 3, sizeof(*copy));
    if (!copy)
        return NULL;
    copy[0] = entry_of(PRELOAD, library, find_value(environment, PRELOAD));
    copy[1] = copy[0] ? entry_of(TIDE_SESSION_ENV, directory, NULL) : NULL;
    if (copy[1] && copy_others(environment, copy + 2))
        return copy;
    tide_preload_free(copy);
    return NULL;
}

void tide_preload_free(char **environment)
{
    for (char **entry = environment; entry && *entry; entry++)
        free(*entry);
    free(environment);
}
