/* collect/find_program.h - which file a program's name means, as exec finds it.
 *
 * For: collect/, cli/, tests/.
 */
#ifndef TIDE_COLLECT_FIND_PROGRAM_H
#define TIDE_COLLECT_FIND_PROGRAM_H

/* Put the file that execvp(NAME) would take into *PATH, owned by the caller, and return
 * 0; else *PATH is NULL and the result is the errno of exec: ENOENT, EACCES, ENOTDIR... */
int tide_program_find(const char *name, char **path);

/* What that errno means for NAME, one line without full stop: a static text. */
const char *tide_program_problem(const char *name, int problem);

#endif
