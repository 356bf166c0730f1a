/* symbol/debuginfod.h - debug files from servers, for those who ask for them.
 *
 * For: symbol/, cli/, tests/.  The only place that reaches out of this machine.  Servers,
 * cache and time-outs are as libdebuginfod finds them in the environment
 * (DEBUGINFOD_URLS); the library is loaded when it is asked for, so tidemark does without.
 */
#ifndef TIDE_SYMBOL_DEBUGINFOD_H
#define TIDE_SYMBOL_DEBUGINFOD_H

#include "symbol/elf_file.h"

struct tide_debuginfod; /* opaque: see debuginfod.c */

/* On failure *OUT is NULL and *WHY is one line. */
enum tide_status tide_debuginfod_open(struct tide_debuginfod **out, const char **why);
void tide_debuginfod_close(struct tide_debuginfod *debuginfod);

/* The debug file of ID, if a server has it; else NULL.  The caller closes it.  When no
 * server answers at all, none is asked again.  DEBUGINFOD may be NULL: nobody is asked. */
struct tide_elf_file *tide_debuginfod_fetch(struct tide_debuginfod *debuginfod,
                                            const struct tide_build_id *id);

/* Did no server answer? */
bool tide_debuginfod_silent(const struct tide_debuginfod *debuginfod);
/* Another process found that none does.  NULL is fine. */
void tide_debuginfod_fell_silent(struct tide_debuginfod *debuginfod);

#endif
