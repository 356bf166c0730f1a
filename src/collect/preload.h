/* collect/preload.h - how the recorder gets into a program: its environment.
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_PRELOAD_H
#define TIDE_COLLECT_PRELOAD_H

/* Where libtidemark.so is: beside the running program, or where it is installed with
 * it.  NULL when it is nowhere.  Owned by the caller. */
char *tide_preload_find(void);

/* Why LIBRARY (what tide_preload_find() gave) cannot be preloaded: a static line; NULL
 * when it can. */
const char *tide_preload_problem(const char *library);

/* A copy of ENVIRONMENT with LIBRARY before everything else in LD_PRELOAD and DIRECTORY
 * as TIDEMARK_SESSION; nothing else is changed.  NULL without memory; freed with
 * tide_preload_free(). */
char **tide_preload_environment(char *const *environment, const char *library,
                                const char *directory);
void tide_preload_free(char **environment);

#endif
