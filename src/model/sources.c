/* model/sources.c - lines of source files, where they are at hand.
 *
 * A report asks for few files many times, so the last ones are kept.
 */
#include "model/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plain_file.h"

enum {
    TIDE_SOURCE_MOST = 16 << 20, /* bytes of a file */
    TIDE_SOURCES_KEPT = 16,      /* files */
    TIDE_SOURCES_BYTES = 64 << 20,
};

struct kept {
    char *name;          /* owned; NULL: empty */
    char *text;          /* owned; NULL: it could not be read */
    const char *problem; /* why */
    size_t length;
    bool changed;
};

/* A folder whose files may be shown. */
struct root {
    char *path; /* owned: real, without links; "" is / */
    bool hidden;
};

struct tide_sources {
    uint64_t unix_ns;   /* files that are younger were changed */
    struct root *roots; /* owned */
    size_t root_count;
    struct kept files[TIDE_SOURCES_KEPT];
    size_t next;  /* who makes room */
    size_t bytes; /* of all texts */
};

struct tide_sources *tide_sources_new(uint64_t unix_ns)
{
    struct tide_sources *const sources = calloc(1, sizeof(*sources));
    if (sources)
        sources->unix_ns = unix_ns;
    return sources;
}

static void forget(struct tide_sources *sources, struct kept *kept)
{
    sources->bytes -= kept->length;
    free(kept->name);
    free(kept->text);
    *kept = (struct kept){0};
}

void tide_sources_free(struct tide_sources *sources)
{
    if (!sources)
        return;
    for (size_t i = 0; i < TIDE_SOURCES_KEPT; i++)
        forget(sources, &sources->files[i]);
    for (size_t i = 0; i < sources->root_count; i++)
        free(sources->roots[i].path);
    free(sources->roots);
    free(sources);
}

/* --- Folders ----------------------------------------------------------------------- */

enum tide_status tide_sources_allow(struct tide_sources *sources, const char *folder,
                                    bool hidden)
{
    struct stat about;
    if (stat(folder, &about) || !S_ISDIR(about.st_mode))
        return TIDE_ENOENT;
    char *const path = realpath(folder, NULL);
    struct root *const grown =
        reallocarray(sources->roots, sources->root_count + 1, sizeof(*sources->roots));
    if (grown)
        sources->roots = grown;
    if (!path || !grown) {
        free(path);
        return TIDE_ENOMEM;
    }
    if (strcmp(path, "/") == 0)
        *path = '\0';
    grown[sources->root_count++] = (struct root){.path = path, .hidden = hidden};
    return TIDE_OK;
}

/* May the file at REAL, a path without links, be shown? */
static bool is_allowed(const struct tide_sources *sources, const char *real)
{
    for (size_t i = 0; i < sources->root_count; i++) {
        const struct root *const root = &sources->roots[i];
        const size_t length = strlen(root->path);
        if (strncmp(real, root->path, length) == 0 && real[length] == '/' &&
            (root->hidden || !strstr(real + length, "/.")))
            return true;
    }
    return false;
}

/* Was FD opened at REAL, and not where somebody moved that meanwhile? */
static bool is_there(int fd, const char *real)
{
    char link[32];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    char *const now = realpath(link, NULL);
    const bool there = now && strcmp(now, real) == 0;
    free(now);
    return there;
}

/* --- Files ------------------------------------------------------------------------- */

static const char *words_of(int problem)
{
    if (problem == TIDE_ENOTPLAIN)
        return "is not a plain file";
    return problem == ENOENT || problem == ENOTDIR ? "is not here" : "cannot be read";
}

/* Read the file FD, LENGTH bytes long, into KEPT. */
static const char *read_text(int fd, size_t length, struct kept *kept)
{
    kept->text = malloc(length + 1);
    if (!kept->text)
        return "cannot be read";
    while (kept->length < length) {
        const ssize_t got = pread(fd, kept->text + kept->length, length - kept->length,
                                  (off_t)kept->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break; /* it became shorter meanwhile */
        kept->length += (size_t)got;
    }
    return NULL;
}

/* The file at REAL, which may be shown. */
static const char *read_file(const char *real, uint64_t unix_ns, struct kept *kept)
{
    struct stat about;
    const char *problem = "is too large";
    const int fd = tide_plain_file_open(real, O_NOFOLLOW, &about);
    if (fd < 0)
        return words_of(errno);
    if (!is_there(fd, real))
        problem = "cannot be read";
    else if (about.st_size <= TIDE_SOURCE_MOST)
        problem = read_text(fd, (size_t)about.st_size, kept);
    (void)close(fd);
    const uint64_t written =
        about.st_mtim.tv_sec > 0 ? (uint64_t)about.st_mtim.tv_sec : 0;
    kept->changed = written > unix_ns / 1000000000u;
    return problem;
}

static const char *read_named(const struct tide_sources *sources, struct kept *kept)
{
    char *const real = realpath(kept->name, NULL);
    if (!real)
        return words_of(errno);
    const char *const problem = is_allowed(sources, real)
                                    ? read_file(real, sources->unix_ns, kept)
                                    : "is below no --source-root";
    free(real);
    return problem;
}

/* FILE, read now or before; NULL without memory. */
static const struct kept *find_file(struct tide_sources *sources, const char *file)
{
    for (size_t i = 0; i < TIDE_SOURCES_KEPT; i++) {
        const struct kept *const kept = &sources->files[i];
        if (kept->name && strcmp(kept->name, file) == 0)
            return kept;
    }
    if (sources->bytes > TIDE_SOURCES_BYTES)
        for (size_t i = 0; i < TIDE_SOURCES_KEPT; i++)
            forget(sources, &sources->files[i]);
    struct kept *const kept = &sources->files[sources->next];
    sources->next = (sources->next + 1) % TIDE_SOURCES_KEPT;
    forget(sources, kept);
    kept->name = strdup(file);
    if (!kept->name)
        return NULL;
    kept->problem = read_named(sources, kept);
    sources->bytes += kept->length;
    return kept;
}

/* --- Lines ------------------------------------------------------------------------- */

/* The lines of KEPT from number FIRST on, so many as OUT has room for, up to LAST. */
static void take_lines(const struct kept *kept, uint32_t first, uint32_t last,
                       struct tide_snippet *out)
{
    const char *at = kept->text, *const end = kept->text + kept->length;
    for (uint32_t number = 1; at < end && number <= last; number++) {
        const char *const found = memchr(at, '\n', (size_t)(end - at));
        const char *const stop = found ? found : end;
        if (number >= first) {
            struct tide_source_line *const line = &out->lines[out->count++];
            *line = (struct tide_source_line){at, (size_t)(stop - at)};
            if (line->length && stop[-1] == '\r')
                line->length--;
        }
        at = found ? found + 1 : end;
    }
}

void tide_sources_find(struct tide_sources *sources, const char *file, uint32_t line,
                       struct tide_snippet *out)
{
    *out = (struct tide_snippet){.problem = "has no known line"};
    if (!line || line > UINT32_MAX - TIDE_SNIPPET_AROUND)
        return;
    const struct kept *const kept = find_file(sources, file);
    out->problem = kept ? kept->problem : "cannot be read";
    if (out->problem)
        return;
    out->changed = kept->changed;
    out->first = line > TIDE_SNIPPET_AROUND ? line - TIDE_SNIPPET_AROUND : 1;
    take_lines(kept, out->first, line + TIDE_SNIPPET_AROUND, out);
    if (out->first + out->count <= line) {
        out->problem = "has no such line";
        out->count = 0;
    }
}
