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

/* A pipe or a device: it is written as it is, if it is still what ABOUT says. */
static int open_in_place(struct tide_export_file *file, const struct stat *about)
{
    struct stat now;
    if (S_ISFIFO(about->st_mode) && about->st_uid != geteuid() && about->st_uid != 0)
        return EPERM; /* who made it would read along */
    file->fd = open(file->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    if (file->fd < 0 || fstat(file->fd, &now))
        return errno;
    const bool same = now.st_dev == about->st_dev && now.st_ino == about->st_ino;
    return same ? 0 : ELOOP;
}

/* ABOUT is called file->name. */
static int open_known(struct tide_export_file *file, const struct stat *about)
{
    if (S_ISLNK(about->st_mode))
        return ELOOP;
    if (!S_ISREG(about->st_mode))
        return open_in_place(file, about);
    if (access(file->name, W_OK))
        return errno;
    if (about->st_uid != geteuid()) /* whose mode is not ours to keep */
        return open_new(file);
    file->target = strdup(file->name);
    return file->target ? make_unfinished(file, about->st_mode & 0777) : ENOMEM;
}

/* The descriptor of ours that NAME stands for; -1: none. */
static int descriptor_named(const char *name)
{
    static const char *const WORDS[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const FOLDERS[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (strcmp(name, WORDS[i]) == 0)
            return i;
    for (size_t i = 0; i < sizeof(FOLDERS) / sizeof(FOLDERS[0]); i++) {
        const size_t length = strlen(FOLDERS[i]);
        const char *const number = name + length;
        if (strncmp(name, FOLDERS[i], length) == 0 && *number && strlen(number) < 10 &&
            number[strspn(number, "0123456789")] == '\0')
            return (int)strtol(number, NULL, 10);
    }
    return -1;
}

static int open_named(struct tide_export_file *file)
{
    struct stat about;
    const int descriptor = descriptor_named(file->name);
    if (descriptor >= 0) {
        file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return file->fd < 0 ? errno : 0;
    }
    if (lstat(file->name, &about) == 0)
        return open_known(file, &about);
    return errno == ENOENT ? open_new(file) : errno;
}

int tide_export_file_open(struct tide_export_file *file, const char *name)
{
    *file = (struct tide_export_file){.name = name, .fd = STDOUT_FILENO};
    if (!name || strcmp(name, "-") == 0) {
        file->name = "standard output";
        return 0;
    }
    file->fd = -1;
    const int error = open_named(file);
    if (error)
        tide_export_file_discard(file);
    return error;
}

const char *tide_export_file_words(int error)
{
    if (error == ELOOP)
        return "this is a symbolic link, which is not followed; name the file itself";
    if (error == EPERM)
        return "this belongs to somebody else";
    return strerrordesc_np(error);
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
