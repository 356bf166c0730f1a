/* capture/exec_environment.c - the environment that a program is executed with. */
#include "capture/exec_environment.h"

#include <string.h>

#include "trace/ring.h"

static const char PRELOAD[] = "LD_PRELOAD=";
static const char SESSION[] = TIDE_SESSION_ENV "=";
static const char LIBRARY[] = "libtidemark";

enum { TIDE_ADDED_ENTRIES = 3 }; /* LD_PRELOAD, TIDEMARK_SESSION and the NULL */

static bool begins_with(const char *entry, const char *name)
{
    return strncmp(entry, name, strlen(name)) == 0;
}

/* The loader takes blanks and colons alike. */
static size_t element_length(const char *element)
{
    return strcspn(element, ": ");
}

static bool is_own(const char *element, size_t length)
{
    return memmem(element, length, LIBRARY, sizeof(LIBRARY) - 1) != NULL;
}

/* The library's element in LIST; NULL: there is none. */
static const char *find_own(const char *list)
{
    for (const char *at = list; at && *at;) {
        const size_t length = element_length(at);
        if (is_own(at, length))
            return at;
        at += length + (at[length] != '\0');
    }
    return NULL;
}

bool tide_exec_own_element(const char *list, char *out, size_t size)
{
    const char *const own = find_own(list);
    const size_t length = own ? element_length(own) : 0;
    if (!own || length >= size)
        return false;
    memcpy(out, own, length);
    out[length] = '\0';
    return true;
}

void tide_exec_environment_look(char *const *environment,
                                const struct tide_exec_needs *needs,
                                struct tide_exec_seen *out)
{
    *out = (struct tide_exec_seen){0};
    const char *session = NULL;
    for (; environment && environment[out->count]; out->count++) {
        const char *const entry = environment[out->count];
        if (begins_with(entry, PRELOAD)) /* the last one counts for the loader */
            out->preload = entry + sizeof(PRELOAD) - 1;
        else if (!session && begins_with(entry, SESSION))
            session = entry + sizeof(SESSION) - 1;
    }
    if (!find_own(out->preload))
        out->flags |= TIDE_EXEC_NO_PRELOAD;
    if (session && !*session)
        out->flags |= TIDE_EXEC_SANDBOX;
    else if (!session || strcmp(session, needs->session) != 0)
        out->flags |= TIDE_EXEC_NO_SESSION;
    out->bytes = (out->count + TIDE_ADDED_ENTRIES) * sizeof(char *) + sizeof(PRELOAD) +
                 strlen(needs->library) + 1 +
                 (out->preload ? strlen(out->preload) : 0) + sizeof(SESSION) +
                 strlen(needs->session);
}

bool tide_exec_session_is_off(char *const *environment)
{
    for (; environment && *environment; environment++) {
        if (strcmp(*environment, SESSION) == 0)
            return true;
    }
    return false;
}

/* Copy LENGTH bytes to AT; where the next ones go. */
static char *put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

/* Write LD_PRELOAD to AT with FIRST (may be NULL) before the others of LIST; the end of it, or
 * AT when nothing would be in it. */
static char *put_preload(char *at, const char *first, const char *list)
{
    char *end = put(at, PRELOAD, sizeof(PRELOAD) - 1);
    char *const begin = end;
    if (first)
        end = put(end, first, strlen(first));
    while (list && *list) {
        const size_t length = element_length(list);
        if (length > 0 && !is_own(list, length)) {
            if (end > begin)
                *end++ = ':';
            end = put(end, list, length);
        }
        list += length + (list[length] != '\0');
    }
    if (end == begin)
        return at;
    *end++ = '\0';
    return end;
}

char **tide_exec_environment_change(char *const *environment,
                                    const struct tide_exec_needs *needs,
                                    const struct tide_exec_seen *seen,
                                    enum tide_exec_change change, void *memory)
{
    char **const copy = memory;
    char **next = copy;
    char *const preload = (char *)(copy + seen->count + TIDE_ADDED_ENTRIES);
    const bool put_back = change == TIDE_EXEC_PUT_BACK;
    const bool sets_session = put_back && seen->flags & TIDE_EXEC_NO_SESSION;
    char *const session =
        put_preload(preload, put_back ? needs->library : NULL, seen->preload);
    if (session > preload)
        *next++ = preload;
    if (sets_session) {
        char *const end = put(session, SESSION, sizeof(SESSION) - 1);
        (void)put(end, needs->session, strlen(needs->session) + 1);
        *next++ = session;
    }
    for (size_t i = 0; i < seen->count; i++) {
        char *const entry = environment[i];
        if (!begins_with(entry, PRELOAD) &&
            !(sets_session && begins_with(entry, SESSION)))
            *next++ = entry;
    }
    *next = NULL;
    return copy;
}
