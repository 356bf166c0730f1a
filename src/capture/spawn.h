/* capture/spawn.h - start a collector when there is none (LD_PRELOAD alone was given), and
 * other programs that the target must not notice.
 *
 * For: lifecycle.c, igprof.c.
 */
#ifndef TIDE_CAPTURE_SPAWN_H
#define TIDE_CAPTURE_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start a collector for this process and those it will start; its session's directory
 * goes to DIRECTORY.  The collector is nobody's child.  False: there is no tidemark to
 * be found, or it did not answer. */
bool tide_spawn_collector(char *directory, size_t size);

/* Is this process given the children of others, as the first one of a container is? */
bool tide_spawn_given_children(void);

/* Have a process aside, which nobody can wait for, call AT_END once this one has ended, in
 * whatever way; it has a copy of the memory as of now, and of shared memory what is there
 * then.  It ends before when it finds, for some seconds, that it is not WANTED.  False: it
 * could not begin. */
bool tide_spawn_waiter(void (*at_end)(void), bool (*wanted)(void));

/* The path of the program tidemark; NULL: there is none beside the library. */
const char *tide_spawn_program(void);

/* Execute PATH with ARGUMENTS in a process aside, without LD_PRELOAD, and wait for it; QUIET:
 * without its standard error.  Its status as wait() has it; -1: it could not begin.  By one
 * thread at a time. */
int tide_spawn_run(const char *path, char *const arguments[], bool quiet);

/* COLLECTOR may be killed when we, PID, have ended: have it write everything first, and close
 * the trace when nobody else is recorded.  Waits for it, five seconds at most. */
void tide_spawn_farewell(uint32_t collector, uint32_t pid);

#endif
