/* collect/procfs.c - what /proc says of a process. */
#include "collect/procfs.h"
#include "collect/rank.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel's fixed number for the pid namespace that the system began with
 * (PROC_PID_INIT_INO). */
#define TIDE_FIRST_PID_SPACE 0xEFFFFFFCu

enum {
    TIDE_STATUS_BYTES = 3000,         /* VmHWM stands in the first 1500 or so */
    TIDE_ENVIRON_BYTES = 1024 * 1024, /* an environment is searched so far */
    TIDE_RANK_BYTES = 256 * 1024,     /* and so far for an MPI rank */
    TIDE_LOOKS = 50,                  /* at a process that is in the middle of exec */
    TIDE_TASKS_MOST = 8,              /* threads that are asked for their children */
};

static int open_of(uint32_t pid, const char *file)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t tide_procfs_read(uint32_t pid, const char *file, char *out, size_t size)
{
    const int fd = open_of(pid, file);
    if (fd < 0)
        return -1;
    size_t length = 0;
    ssize_t got = 0;
    while (length < size && (got = read(fd, out + length, size - length)) > 0)
        length += (size_t)got;
    (void)close(fd);
    return got < 0 ? -1 : (ssize_t)length;
}

static ssize_t read_exe(uint32_t pid, char path[PATH_MAX])
{
    char link[64];
    (void)snprintf(link, sizeof(link), "/proc/%" PRIu32 "/exe", pid);
    const ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = '\0';
    return length;
}

void tide_procfs_image(uint32_t pid, struct tide_image *image)
{
    *image = (struct tide_image){0};
    char *const buffer = malloc(TIDE_NOTE_WORDS_BYTES + 1);
    if (!buffer)
        return;
    (void)tide_procfs_program(pid, &image->device, &image->inode);
    if (read_exe(pid, buffer) > 0) /* PATH_MAX is smaller than the buffer */
        image->exe = strdup(buffer);
    const ssize_t got = tide_procfs_read(pid, "cmdline", buffer, TIDE_NOTE_WORDS_BYTES);
    if (got <= 0) {
        free(buffer);
        return;
    }
    size_t length = (size_t)got;
    if (buffer[length - 1] != '\0')
        buffer[length++] = '\0';
    image->words = malloc(length); /* few are as long as the buffer */
    if (image->words) {
        memcpy(image->words, buffer, length);
        image->words_bytes = length;
    }
    free(buffer);
}

bool tide_procfs_lives(uint32_t pid)
{
    char *const path = malloc(PATH_MAX);
    if (!path)
        return true;
    const bool lives = read_exe(pid, path) >= 0 || errno != ENOENT;
    free(path);
    return lives;
}

void tide_procfs_comm(uint32_t pid, char comm[TIDE_COMM_BYTES])
{
    memset(comm, 0, TIDE_COMM_BYTES);
    const ssize_t got = tide_procfs_read(pid, "comm", comm, TIDE_COMM_BYTES);
    if (got > 0)
        comm[got - 1] = '\0'; /* the end of the line */
}

uint64_t tide_procfs_rank(uint32_t pid)
{
    char *const bytes = malloc(TIDE_RANK_BYTES);
    const ssize_t got =
        bytes ? tide_procfs_read(pid, "environ", bytes, TIDE_RANK_BYTES) : 0;
    const uint64_t rank = got > 0 ? tide_rank_in(bytes, (size_t)got) : 0;
    free(bytes);
    return rank;
}

enum tide_program_seen tide_procfs_program(uint32_t pid, uint64_t *device,
                                           uint64_t *inode)
{
    char link[64];
    struct stat found;
    *device = *inode = 0;
    (void)snprintf(link, sizeof(link), "/proc/%" PRIu32 "/exe", pid);
    if (stat(link, &found) != 0)
        return errno == EACCES ? TIDE_PROGRAM_HIDDEN : TIDE_PROGRAM_NONE;
    *device = found.st_dev;
    *inode = found.st_ino;
    return TIDE_PROGRAM_SEEN;
}

/* The children of thread TASK, added to the COUNT that are there. */
static size_t add_children(uint32_t pid, const char *task, uint32_t *children,
                           size_t count, size_t most)
{
    char file[300], text[2048];
    (void)snprintf(file, sizeof(file), "task/%s/children", task);
    const ssize_t got = tide_procfs_read(pid, file, text, sizeof(text) - 1);
    if (got <= 0)
        return count;
    text[got] = '\0';
    char *at = text, *end;
    unsigned long child;
    while (count < most && (child = strtoul(at, &end, 10)) > 0) {
        children[count++] = (uint32_t)child;
        at = end;
    }
    return count;
}

size_t tide_procfs_children(uint32_t pid, uint32_t *children, size_t most)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
    DIR *const folder = opendir(path);
    const struct dirent *item;
    size_t count = 0;
    int left = TIDE_TASKS_MOST;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    while (folder && left > 0 && count < most && (item = readdir(folder))) {
        if (item->d_name[0] == '.')
            continue;
        count = add_children(pid, item->d_name, children, count, most);
        left--;
    }
    if (folder)
        (void)closedir(folder);
    return count;
}

/* The number after WORD in a file of lines "Word:   number kB"; 0 when there is none. */
static uint64_t field_kb(const char *text, const char *word)
{
    const char *const at = strstr(text, word);
    return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

/* Read the status of PID into TEXT, of TIDE_STATUS_BYTES + 1. */
static bool read_status(uint32_t pid, char *text)
{
    const ssize_t got = tide_procfs_read(pid, "status", text, TIDE_STATUS_BYTES);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

uint64_t tide_procfs_anonymous(uint32_t pid)
{
    char text[TIDE_STATUS_BYTES + 1];
    return read_status(pid, text) ? field_kb(text, "\nRssAnon:") * 1024 : 0;
}

bool tide_procfs_rss(uint32_t pid, uint64_t *bytes, uint64_t *peak)
{
    char text[TIDE_STATUS_BYTES + 1];
    if (!read_status(pid, text))
        return false;
    *bytes = field_kb(text, "\nVmRSS:") * 1024;
    *peak = field_kb(text, "\nVmHWM:") * 1024;
    return *bytes > 0; /* a zombie has no memory */
}

/* Field NUMBER, from 3 on, of the line that the kernel keeps of PID; negative when it is
 * gone. */
static double stat_field(uint32_t pid, int number)
{
    char text[1024];
    const ssize_t got = tide_procfs_read(pid, "stat", text, sizeof(text) - 1);
    if (got <= 0)
        return -1;
    text[got] = '\0';
    const char *field = strrchr(text, ')'); /* its name may hold anything */
    for (int i = 2; field && i < number; i++)
        field = strchr(field + 1, ' ');
    return field ? strtod(field, NULL) : -1;
}

uint32_t tide_procfs_parent(uint32_t pid)
{
    const double parent = stat_field(pid, 4);
    return parent > 0 ? (uint32_t)parent : 0;
}

uint64_t tide_procfs_pid_space(uint32_t pid)
{
    char link[64];
    struct stat found;
    (void)snprintf(link, sizeof(link), "/proc/%" PRIu32 "/ns/pid", pid);
    return stat(link, &found) == 0 && found.st_ino ? found.st_ino : 1;
}

bool tide_procfs_in_container(void)
{
    const uint64_t space = tide_procfs_pid_space((uint32_t)getpid());
    return space != 1 && space != TIDE_FIRST_PID_SPACE;
}

bool tide_procfs_began(uint32_t pid)
{
    return stat_field(pid, 51) > 0; /* the end of the environment */
}

double tide_procfs_started(uint32_t pid)
{
    const double ticks = stat_field(pid, 22);
    return ticks < 0 ? -1 : ticks / (double)sysconf(_SC_CLK_TCK);
}

enum carries {
    TIDE_CARRIES_NOT,
    TIDE_CARRIES,
    TIDE_CARRIES_PERHAPS, /* in the middle of exec there is no environment to read */
};

struct search {
    struct tide_text entry; /* NAME=VALUE */
    double since;
    uint32_t except; /* a pid */
    char *buffer;    /* of TIDE_ENVIRON_BYTES */
};

static enum carries carries(const struct search *search, uint32_t pid)
{
    const ssize_t got =
        tide_procfs_read(pid, "environ", search->buffer, TIDE_ENVIRON_BYTES);
    if (got < 0)
        return TIDE_CARRIES_NOT;
    if (got == 0) {
        const bool young = tide_procfs_started(pid) >= search->since;
        return young && tide_procfs_lives(pid) ? TIDE_CARRIES_PERHAPS
                                               : TIDE_CARRIES_NOT;
    }
    /* With its final zero; that it may begin inside another variable is no matter. */
    return memmem(search->buffer, (size_t)got, search->entry.bytes,
                  search->entry.length + 1)
               ? TIDE_CARRIES
               : TIDE_CARRIES_NOT;
}

/* The best that any process of the system offers. */
static enum carries look_around(const struct search *search)
{
    enum carries best = TIDE_CARRIES_NOT;
    DIR *const folder = opendir("/proc");
    const struct dirent *item;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    while (folder && best != TIDE_CARRIES && (item = readdir(folder))) {
        char *end;
        const unsigned long pid = strtoul(item->d_name, &end, 10);
        if (*end != '\0' || pid == 0 || pid == (unsigned long)getpid() ||
            pid == search->except)
            continue;
        const enum carries found = carries(search, (uint32_t)pid);
        if (found != TIDE_CARRIES_NOT)
            best = found;
    }
    if (folder)
        (void)closedir(folder);
    return best;
}

bool tide_procfs_any_with(const char *name, const char *value, double since,
                          uint32_t except)
{
    struct search search = {.since = since, .except = except};
    tide_text_addf(&search.entry, "%s=%s", name, value);
    search.buffer = malloc(TIDE_ENVIRON_BYTES);
    enum carries found = TIDE_CARRIES_NOT;
    for (int i = 0; i < TIDE_LOOKS && !search.entry.failed && search.buffer; i++) {
        found = look_around(&search);
        if (found != TIDE_CARRIES_PERHAPS)
            break;
        (void)usleep(1000);
    }
    free(search.buffer);
    tide_text_release(&search.entry);
    return found == TIDE_CARRIES;
}
