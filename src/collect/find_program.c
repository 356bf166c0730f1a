/* collect/find_program.c - which file a program's name means, as exec finds it. */
#include "collect/find_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static const char DEFAULT_PATH[] = "/bin:/usr/bin"; /* of glibc's execvp */

/* 0 when PATH can be executed, else the errno. */
static int try_file(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return errno;
    if (!S_ISREG(about.st_mode))
        return S_ISDIR(about.st_mode) ? EISDIR : EACCES;
    return access(path, X_OK) == 0 ? 0 : errno;
}

/* A file that may not be executed does not end the search, but is remembered. */
static int search(const char *name, const char *folders, char **path)
{
    int result = ENOENT;
    for (const char *folder = folders; folder;) {
        const size_t length = strcspn(folder, ":");
        struct tide_text candidate = {0};
        tide_text_add_bytes(&candidate, folder, length);
        tide_text_addf(&candidate, "%s%s", length > 0 ? "/" : "./", name);
        const int problem = candidate.failed ? ENOMEM : try_file(candidate.bytes);
        if (problem == 0) {
            *path = candidate.bytes;
            return 0;
        }
        /* What a closed folder holds does not count, nor does a folder. */
        if (problem != EISDIR && !candidate.failed &&
            access(candidate.bytes, F_OK) == 0)
            result = problem;
        tide_text_release(&candidate);
        folder = folder[length] == ':' ? folder + length + 1 : NULL;
    }
    return result;
}

int tide_program_find(const char *name, char **path)
{
    *path = NULL;
    if (*name == '\0')
        return ENOENT;
    if (!strchr(name, '/')) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): before there is a second thread
        const char *const folders = getenv("PATH");
        return search(name, folders ? folders : DEFAULT_PATH, path);
    }
    const int problem = try_file(name);
    if (problem == 0)
        *path = strdup(name);
    return problem == 0 && !*path ? ENOMEM : problem;
}

/* Is there a program NAME in this folder, where no shell looks? */
static bool is_here(const char *name)
{
    return *name && try_file(name) == 0;
}

const char *tide_program_problem(const char *name, int problem)
{
    if (problem == ENOENT && !strchr(name, '/'))
        return is_here(name) ? "there is no such program in PATH; to run the one of "
                               "this folder, write ./ before its name"
                             : "there is no such program in PATH";
    if (problem == ENOENT || problem == ENOTDIR)
        return "there is no such file";
    if (problem == EISDIR)
        return "this is a folder, not a program";
    if (problem == EACCES)
        return "may not be executed (permission denied)";
    return strerrordesc_np(problem);
}
