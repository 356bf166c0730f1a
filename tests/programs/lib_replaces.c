/* tests/programs/lib_replaces.c - before any constructor of another library has run, another
 * file takes the place of one that many_frames has loaded: REPLACEMENT that of REPLACED.
 *
 * Not even libc is ready then: the environment comes as the loader has it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *value_of(char **environment, const char *name)
{
    const size_t length = strlen(name);
    for (; *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

__attribute__((constructor)) static void replace(int argc, char **argv,
                                                 char **environment)
{
    const char *const replaced = value_of(environment, "REPLACED");
    const char *const replacement = value_of(environment, "REPLACEMENT");
    if (argc > 0 && strstr(argv[0], "many_frames") && replaced && replacement &&
        rename(replacement, replaced) != 0)
        _exit(98);
}
