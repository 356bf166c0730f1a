/* view/runtime.c - which functions are the inside of a language's library. */
#include "view/runtime.h"

#include <string.h>

#include "view/names.h"

/* Does TEXT start with one of the COUNT words at LIST? */
static bool starts_with_one(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

bool tide_is_runtime(const struct tide_function *function)
{
    static const char *const MODULES[] = {"libc.so",  "libc-2.",  "libstdc++", "libc++",
                                          "libgcc_s", "ld-linux", "libpthread"};
    static const char *const NAMES[] = {"std::",   "__gnu_cxx::", "operator new",
                                        "core::",  "alloc::",     "<core::",
                                        "<alloc::"};
    const char *const module = tide_name_base(function->module);
    const char *const name = tide_name_start(function->name);
    return starts_with_one(module, MODULES, sizeof(MODULES) / sizeof(MODULES[0])) ||
           starts_with_one(name, NAMES, sizeof(NAMES) / sizeof(NAMES[0]));
}
