/* collect/procfs.h - what /proc says of a process.
 *
 * For: collect/, tests/.  Processes come and go: everything here may fail quietly.
 */
#ifndef TIDE_COLLECT_PROCFS_H
#define TIDE_COLLECT_PROCFS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/notes_out.h"

/* Which program PID runs.  What cannot be read stays NULL.  Owned by the caller. */
void tide_procfs_image(uint32_t pid, struct tide_image *image);

/* Does PID have a program at all?  Not when it is a zombie, or about to be one.  True
 * also when the system will not say. */
bool tide_procfs_lives(uint32_t pid);

/* The name that the kernel keeps for PID, zero-terminated; empty when it is gone. */
enum { TIDE_COMM_BYTES = 16 };
void tide_procfs_comm(uint32_t pid, char comm[TIDE_COMM_BYTES]);

/* Up to SIZE bytes of /proc/PID/FILE; -1 when it cannot be read. */
ssize_t tide_procfs_read(uint32_t pid, const char *file, char *out, size_t size);

/* Which file PID runs, by the numbers that stay when it is renamed or removed. */
enum tide_program_seen {
    TIDE_PROGRAM_SEEN,
    TIDE_PROGRAM_NONE,   /* it is gone, or a zombie */
    TIDE_PROGRAM_HIDDEN, /* it lives and we may not look: the numbers are 0 */
};
enum tide_program_seen tide_procfs_program(uint32_t pid, uint64_t *device,
                                           uint64_t *inode);

/* Up to MOST children of PID, of whichever thread. */
size_t tide_procfs_children(uint32_t pid, uint32_t *children, size_t most);

/* Has PID got through exec, so that its environment can be read? */
bool tide_procfs_began(uint32_t pid);

/* The MPI rank of PID by the environment it began with, + 1; 0: it has none. */
uint64_t tide_procfs_rank(uint32_t pid);

/* The parent of PID; 0 when it is gone. */
uint32_t tide_procfs_parent(uint32_t pid);

/* A number of the pid namespace of PID; 1: it cannot be told. */
uint64_t tide_procfs_pid_space(uint32_t pid);

/* When PID was started, in seconds since boot; negative when it is gone. */
double tide_procfs_started(uint32_t pid);

/* Resident bytes of PID, now and at most.  False when it is gone. */
bool tide_procfs_rss(uint32_t pid, uint64_t *bytes, uint64_t *peak);
/* How much of that is anonymous memory, not of files; 0: not known. */
uint64_t tide_procfs_anonymous(uint32_t pid);

/* Does any process but the caller and EXCEPT have NAME=VALUE in the environment it began
 * with?  SINCE, in seconds since boot, is when the first that can have it was started. */
bool tide_procfs_any_with(const char *name, const char *value, double since,
                          uint32_t except);

/* Is the caller in a pid namespace that ends before the system does? */
bool tide_procfs_in_container(void);

#endif
