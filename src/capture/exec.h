/* capture/exec.h - tell the collector of programs that are about to be executed.
 *
 * For: hooks_exec.c.  A program that does not load the recorder cannot say so; who executes
 * it can.  May be called between vfork and exec and in signal handlers: no lock, no memory
 * but the caller's; the collector is waited for only while all slots are taken.
 */
#ifndef TIDE_CAPTURE_EXEC_H
#define TIDE_CAPTURE_EXEC_H

#include <stddef.h>
#include <stdint.h>

#include "capture/exec_environment.h"

struct tide_exec_slot;

/* One call of exec or posix_spawn. */
struct tide_exec {
    uint64_t ticks; /* before the call; 0: nothing is to be told */
    uint32_t flags; /* enum tide_exec_flag */
    uint32_t pid;   /* of the caller; 0: not asked */
    enum tide_exec_change change;
    struct tide_exec_seen seen;
    size_t
        bytes; /* of the caller's memory that tide_exec_environment() takes; 0: none */
    struct tide_exec_slot *slot; /* borrowed; where it was posted */
    uint32_t serial;
};

/* Once, at start, when recording begins. */
void tide_exec_prepare(void);

/* A program is going to be executed with ENVIRONMENT. */
void tide_exec_look(struct tide_exec *exec, char *const *environment);

/* The environment to use instead, in EXEC->bytes of MEMORY. */
char *const *tide_exec_environment(const struct tide_exec *exec,
                                   char *const *environment, void *memory);

/* This process is about to become the program NAME in FOLDER (a descriptor or AT_FDCWD, as the
 * call has them); NULL: the program open as FOLDER.  Nothing is told where the kernel will not
 * find it. */
enum { TIDE_EXEC_SEARCHED = -1 }; /* as FOLDER: libc will look for NAME along PATH */
void tide_exec_post(struct tide_exec *exec, int folder, const char *name);

/* It has not: exec has come back.  Keeps errno. */
void tide_exec_failed(struct tide_exec *exec);

/* libc is about to start a shell, with the program's environment, and will not say which
 * process it is. */
void tide_exec_shell(void);

/* The child PID was started as NAME. */
void tide_exec_spawned(struct tide_exec *exec, const char *name, uint32_t pid);

#endif
