/* capture/environment.c - set a variable of the program without its heap.
 *
 * The array of pointers and the new entry are one map of our own.  libc frees only an array
 * that its own setenv() made, and takes ours for what it found at the start: setenv() copies
 * it, unsetenv() moves pointers inside it, clearenv() forgets it.  The program may keep
 * pointers to the entry and may write over it, so the map stays.
 */
#include "capture/environment.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "capture/process.h"

static bool is_of(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

bool tide_environment_set(const char *name, const char *value)
{
    const size_t length = strlen(name), rest = strlen(value) + 1;
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    const size_t array_bytes = (count + 2) * sizeof(*environ);
    char **const array = tide_lasting_memory(array_bytes + length + 1 + rest);
    if (!array)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_of(environ[i], name, length))
            array[kept++] = environ[i];
    char *const entry = (char *)array + array_bytes;
    memcpy(entry, name, length); /* NOLINT(bugprone-not-null-terminated-result) */
    entry[length] = '=';
    memcpy(entry + length + 1, value, rest);
    array[kept] = entry; /* the map is zeros: the array ends behind it */
    environ = array;
    return true;
}
