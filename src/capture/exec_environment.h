/* capture/exec_environment.h - the environment that a program is executed with.
 *
 * For: exec.c, tests/.  Nothing here allocates or calls the system, so that it can be used
 * between vfork and exec.
 */
#ifndef TIDE_CAPTURE_EXEC_ENVIRONMENT_H
#define TIDE_CAPTURE_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a recorded program has to find in its environment. */
struct tide_exec_needs {
    const char *library; /* libtidemark.so, as LD_PRELOAD names it */
    const char *session; /* the collector's folder */
};

/* What is to be changed. */
enum tide_exec_change {
    TIDE_EXEC_KEEP_ALL = 0,
    TIDE_EXEC_PUT_BACK =
        1, /* LD_PRELOAD and TIDEMARK_SESSION, where they are missing */
    TIDE_EXEC_TAKE_OUT = 2, /* the library from LD_PRELOAD: it is out of reach, and the
                               loader would complain of that */
};

struct tide_exec_seen {
    uint32_t flags;      /* enum tide_exec_flag: NO_PRELOAD, NO_SESSION, SANDBOX */
    size_t count;        /* entries */
    const char *preload; /* borrowed: value of LD_PRELOAD; NULL: there is none */
    size_t bytes;        /* the most that a changed copy takes */
};

/* Look at ENVIRONMENT, which may be NULL. */
void tide_exec_environment_look(char *const *environment,
                                const struct tide_exec_needs *needs,
                                struct tide_exec_seen *out);

/* Does ENVIRONMENT tell what is executed to record nothing?  See sandbox.c. */
bool tide_exec_session_is_off(char *const *environment);

/* A copy of ENVIRONMENT with CHANGE made, in the SEEN->bytes bytes at MEMORY, which is aligned
 * for pointers.  Entries that stay are borrowed. */
char **tide_exec_environment_change(char *const *environment,
                                    const struct tide_exec_needs *needs,
                                    const struct tide_exec_seen *seen,
                                    enum tide_exec_change change, void *memory);

/* The library's element of LD_PRELOAD's value LIST, written to OUT; false: there is none, or
 * it does not fit. */
bool tide_exec_own_element(const char *list, char *out, size_t size);

#endif
