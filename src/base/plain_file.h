/* base/plain_file.h - open a file whose name came from somewhere else.
 *
 * For: everything but capture/.  Traces name modules, debug files and sources, and say what
 * they like.  To open a FIFO waits for its other end, to open a device may do something,
 * and the files of /proc and /sys are no files: so nothing is opened before it is known
 * to be a plain file that is stored somewhere.
 */
#ifndef TIDE_BASE_PLAIN_FILE_H
#define TIDE_BASE_PLAIN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Open the plain file at PATH to read it; ABOUT says what it is.  MORE: further flags of
 * open(), such as O_NOFOLLOW.  -1: errno says why; TIDE_ENOTPLAIN: it is something else,
 * and was not opened. */
int tide_plain_file_open(const char *path, int more, struct stat *about);
#define TIDE_ENOTPLAIN ENODEV

/* Is there no plain file at PATH but something else? */
bool tide_plain_file_barred(const char *path);

#endif
