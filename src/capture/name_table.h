/* capture/name_table.h - names of regions, labels, pools and marks, each kept once.
 *
 * For: capture/.  A name has its number for the life of the process, and of those that it
 * forks.  Finding it takes no lock and no system call.  A region that is a value of an
 * attribute (Caliper's function=solve) has a name of its own, beside that of a plain
 * region with the same text.
 */
#ifndef TIDE_CAPTURE_NAME_TABLE_H
#define TIDE_CAPTURE_NAME_TABLE_H

#include <stdint.h>

enum {
    TIDE_NAMES_MAX = 65536, /* a power of two; three quarters of it are given out */
    TIDE_NAME_BYTES = 1023, /* what is longer is cut */
};

struct tide_name {
    uint64_t hash;
    uint32_t id; /* from 1 to TIDE_NAMES_MAX */
    uint32_t length;
    const struct tide_name *attribute; /* that it is a value of; NULL: none */
    char text[];
};

/* The one with this TEXT; NULL when there is no room, or TEXT is NULL. */
const struct tide_name *tide_name_of(const char *text);
/* The name with this TEXT as a value of ATTRIBUTE (NULL: of none); NULL when there is no room. */
const struct tide_name *tide_name_under(const struct tide_name *attribute,
                                        const char *text);

/* The one that was given the number ID; NULL: none was. */
const struct tide_name *tide_name_numbered(uint32_t id);

#endif
