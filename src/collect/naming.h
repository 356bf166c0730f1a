/* collect/naming.h - what a new trace is called.
 *
 * For: collect/, tests/.  A pattern may hold %p (pid of the program), %h (host), %e (name
 * of the program's file), %r (MPI rank, 0 without), %n (a number that makes the name
 * new) and %% (a %).  ".tide" is added when it is missing.
 *
 * Nothing is ever overwritten and no link is followed: a name that is taken gets a
 * number, NAME.2.tide and so on.
 */
#ifndef TIDE_COLLECT_NAMING_H
#define TIDE_COLLECT_NAMING_H

#include <stdint.h>

#include <tidemark/status.h>

#include "trace/writer.h"

struct tide_name_facts {
    const char *pattern; /* NULL: PROGRAM.PID.tide */
    const char *program; /* as it was called */
    uint32_t pid;
};

/* What is wrong with PATTERN, one line; "" when nothing is. */
struct tide_name_fault {
    char text[96];
};
struct tide_name_fault tide_name_check(const char *pattern);

/* The name for the NUMBERth try, from 1 on; NULL without memory.  Owned by the caller. */
char *tide_name_expand(const struct tide_name_facts *facts, unsigned number);

/* Create a trace under the first name that is free, *NAME (owned by the caller; also
 * set, to the name refused, on failure).  errno says more on failure. */
enum tide_status tide_name_create(const struct tide_name_facts *facts,
                                  const struct tide_writer_start *start, char **name,
                                  struct tide_writer **out);

/* The name that was wanted where a trace is called NAME because it was taken; NULL: it was
 * not, or the pattern holds the number itself.  Owned by the caller. */
char *tide_name_taken(const struct tide_name_facts *facts, const char *name);

#endif
