/* tests/programs/opens_early.h - what lib_opens_early.c has opened. */
#ifndef TIDE_PROGRAMS_OPENS_EARLY_H
#define TIDE_PROGRAMS_OPENS_EARLY_H

enum { GAP_BYTES = 8 << 20 }; /* the kernel aligns large files to 2 MiB */

extern void *opened_early, *gap_early;

#endif
