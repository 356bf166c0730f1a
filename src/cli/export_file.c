/* cli/export_file.c - the file that an export goes to. */
#include "cli/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { TIDE_EXPORT_MODE = 0666 };

/* --- Ctrl-C leaves nothing behind ---------------------------------------------------- */

static const int ENDING_SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
static const char *volatile unfinished; /* path; NULL: none */

/* Others are held back meanwhile: some senders, such as timeout(1), send twice. */
static void on_ending_signal(int number)
{
    const char *const path = unfinished;
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    if (path)
        (void)unlink(path);
    (void)sigaction(number, &usual, NULL);
    (void)raise(number); /* it comes when we return */
}

static void watch_for_signals(const char *path)
{
    struct sigaction action = {.sa_handler = on_ending_signal};
    (void)sigfillset(&action.sa_mask);
    unfinished = path;
    for (size_t i = 0; i < sizeof(ENDING_SIGNALS) / sizeof(ENDING_SIGNALS[0]); i++) {
        struct sigaction before;
        (void)sigaction(ENDING_SIGNALS[i], NULL, &before);
        if (before.sa_handler == SIG_DFL)
            (void)sigaction(ENDING_SIGNALS[i], &action, NULL);
    }
}

/* --- Open ---------------------------------------------------------------------------- */

/* Make the file that will become file->target, with MODE. */
static int make_unfinished(struct tide_export_file *file, mode_t mode)
{
    struct tide_text path = {0};
    tide_text_addf(&path, "%s.XXXXXX", file->target);
    if (path.failed) {
        tide_text_release(&path);
        return ENOMEM;
    }
    file->path = path.bytes;
    watch_for_signals(file->path);
    file->fd = mkostemp(file->path, O_CLOEXEC);
    if (file->fd < 0)
        return errno;
    return fchmod(file->fd, mode) ? errno : 0;
}

/* Nothing is called file->name yet. */
static int open_new(struct tide_export_file *file)
{
    const mode_t mask = umask(0);
    (void)umask(mask);
    file->target = strdup(file->name);
    return file->target ? make_unfinished(file, TIDE_EXPORT_MODE & ~mask) : ENOMEM;
}

/* ABOUT is called file->name. */
static int open_known(struct tide_export_file *file, const struct stat *about)
{
    if (!S_ISREG(about->st_mode)) {
        file->fd = open(file->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return file->fd < 0 ? errno : 0;
    }
    if (access(file->name, W_OK))
        return errno;
    file->target = realpath(file->name, NULL); /* a link stays one */
    return file->target ? make_unfinished(file, about->st_mode & 07777) : errno;
}

int tide_export_file_open(struct tide_export_file *file, const char *name)
{
    struct stat about;
    *file = (struct tide_export_file){.name = name, .fd = STDOUT_FILENO};
    if (!name || strcmp(name, "-") == 0) {
        file->name = "standard output";
        return 0;
    }
    int error = 0;
    file->fd = -1;
    if (stat(name, &about) == 0)
        error = open_known(file, &about);
    else
        error = errno == ENOENT ? open_new(file) : errno;
    if (error)
        tide_export_file_discard(file);
    return error;
}

/* --- Close --------------------------------------------------------------------------- */

static int close_file(struct tide_export_file *file)
{
    const bool own = file->fd >= 0 && file->fd != STDOUT_FILENO;
    const int result = own ? close(file->fd) : 0;
    file->fd = -1;
    return result ? errno : 0;
}

int tide_export_file_keep(struct tide_export_file *file)
{
    int error = close_file(file);
    if (!error && file->path && rename(file->path, file->target))
        error = errno;
    if (!error) { /* it is nobody's to remove any more */
        unfinished = NULL;
        free(file->path);
        file->path = NULL;
    }
    tide_export_file_discard(file);
    return error;
}

void tide_export_file_discard(struct tide_export_file *file)
{
    (void)close_file(file);
    if (file->path)
        (void)unlink(file->path);
    unfinished = NULL;
    free(file->path);
    free(file->target);
    file->path = NULL;
    file->target = NULL;
}
