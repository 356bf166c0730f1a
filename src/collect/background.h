/* collect/background.h - become a process that nobody waits for.
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_BACKGROUND_H
#define TIDE_COLLECT_BACKGROUND_H

#include <stddef.h>
#include <sys/resource.h>

/* Descriptors that we were started with, beyond the first three: some pipe's reader may
 * wait for their end. */
struct tide_inherited {
    int *fds; /* owned */
    size_t count;
};

void tide_inherited_find(struct tide_inherited *inherited);
void tide_inherited_release(struct tide_inherited *inherited);

/* Leave terminal, folder and INHERITED descriptors; stdio goes nowhere from here on. */
void tide_background_leave(struct tide_inherited *inherited);

/* A process costs us two descriptors: take as many as there are to be had.  The limit was
 * BEFORE, which stays as it is if that is not known. */
void tide_descriptors_take(struct rlimit *before);

#endif
