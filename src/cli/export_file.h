/* cli/export_file.h - the file that an export goes to.
 *
 * For: cli/ only.  It gets its name when it is complete, so that nobody finds half of it,
 * and what had the name before stays until then.  Devices and pipes are written as they
 * are, and so are standard output and what /dev/fd names.  No symbolic link is followed:
 * in a folder that others write to, it may be anybody's.
 */
#ifndef TIDE_CLI_EXPORT_FILE_H
#define TIDE_CLI_EXPORT_FILE_H

#include <stdbool.h>

struct tide_export_file {
    const char *name; /* borrowed: what messages call it */
    int fd;           /* owned, but for standard output */
    char *path;   /* owned: what it is called until it is complete; NULL: in place */
    char *target; /* owned: what it will be called */
};

/* NAME may be NULL or "-": standard output.  Returns 0 or errno; then nothing is owed. */
int tide_export_file_open(struct tide_export_file *file, const char *name);
/* Why it could not be opened or kept: what ERROR, as returned here, means. */
const char *tide_export_file_words(int error);
/* It is complete: give it its name.  Returns 0 or errno; in either case it is closed. */
int tide_export_file_keep(struct tide_export_file *file);
/* Close it and leave nothing behind. */
void tide_export_file_discard(struct tide_export_file *file);

#endif
