/* cli/source_roots.c - which folders may have their sources shown.
 *
 * A trace, and the debug information of a module that it names, may call any file a source:
 * somebody's letters, or /etc/shadow.  So where sources are is not asked of them, but of
 * where the user is, of the program if it is the user's own and the very one that was
 * recorded, and of the system.  root can read everything, and so must say it.
 */
#include "cli/source_roots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "symbol/elf_file.h"

/* What everybody may read. */
static const char *const SYSTEM[] = {"/usr/include", "/usr/local/include", "/usr/src",
                                     "/usr/lib/gcc", NULL};

static bool is_own(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && about.st_uid == geteuid();
}

/* Is PATH the user's home, or a folder around it?  Not everything there is a source. */
static bool holds_home(const char *path)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables
    const char *const named = getenv("HOME");
    char *const home = named ? realpath(named, NULL) : NULL;
    const size_t length = strlen(path);
    const bool holds =
        strcmp(path, "/") == 0 || (home && strncmp(home, path, length) == 0 &&
                                   (home[length] == '/' || home[length] == '\0'));
    free(home);
    return holds;
}

/* Is PATH the top of a working copy, made by the user himself? */
static bool is_top(const char *path)
{
    static const char *const MARKS[] = {".git", ".hg", ".svn"};
    bool found = false;
    for (size_t i = 0; i < sizeof(MARKS) / sizeof(MARKS[0]); i++) {
        struct tide_text mark = {0};
        tide_text_addf(&mark, "%s/%s", path, MARKS[i]);
        found = found || (!mark.failed && is_own(mark.bytes));
        tide_text_release(&mark);
    }
    return found && is_own(path);
}

/* How much of the real path FOLDER is the project that it belongs to: the working copy
 * around it, else itself. */
static size_t project_length(const char *folder)
{
    const size_t whole = strlen(folder);
    size_t length = whole;
    char *const path = strdup(folder);
    while (path && length > 0) {
        path[length] = '\0';
        if (holds_home(path) || is_top(path))
            break;
        while (length > 0 && path[--length] != '/')
            ;
    }
    const bool found = path && length > 0 && !holds_home(path);
    free(path);
    return found ? length : whole;
}

/* Allow the project around FOLDER, a real path that is given back here, if it is the
 * user's own. */
static enum tide_status allow_project(struct tide_sources *sources, char *folder)
{
    enum tide_status status = TIDE_OK;
    if (folder && is_own(folder) && !holds_home(folder)) {
        folder[project_length(folder)] = '\0';
        status = tide_sources_allow(sources, folder, false);
    }
    free(folder);
    return status;
}

/* Is the file at PATH the user's, and the one that was recorded with BUILD_ID? */
static bool is_own_program(const char *path, const char *build_id)
{
    struct tide_build_id id;
    struct tide_elf_file *file;
    if (!tide_build_id_parse(&id, build_id) || id.length == 0 || !is_own(path) ||
        tide_elf_file_open(path, &file))
        return false;
    const bool same = tide_build_id_equal(&file->id, &id);
    tide_elf_file_close(file);
    return same;
}

/* The folder of PATH, as a real path; owned by the caller, NULL: there is none. */
static char *folder_of(const char *path)
{
    char *const real = realpath(path, NULL);
    char *const slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = '\0';
    return real;
}

/* The projects of the recorded programs. */
static enum tide_status allow_programs(struct tide_sources *sources,
                                       const struct tide_trace *trace)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < trace->module_count && !status; i++) {
        const struct tide_module *const module = &trace->modules[i];
        bool ran = false;
        for (size_t j = 0; j < trace->process_count && !ran; j++)
            ran = strcmp(trace->processes[j].exe, module->path) == 0;
        if (ran && is_own_program(module->path, module->build_id))
            status = allow_project(sources, folder_of(module->path));
    }
    return status;
}

static enum tide_status allow_usual(struct tide_sources *sources,
                                    const struct tide_trace *trace)
{
    enum tide_status status = allow_project(sources, realpath(".", NULL));
    for (size_t i = 0; SYSTEM[i] && !status; i++)
        if (access(SYSTEM[i], F_OK) == 0)
            status = tide_sources_allow(sources, SYSTEM[i], false);
    return status ? status : allow_programs(sources, trace);
}

int tide_source_roots_allow(struct tide_sources *sources,
                            const struct tide_texts *given,
                            const struct tide_trace *trace)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < given->count && !status; i++) {
        status = tide_sources_allow(sources, given->list[i], true);
        if (status == TIDE_ENOENT)
            return tide_fail("--source-root %s: there is no such folder",
                             given->list[i]);
    }
    if (!status && geteuid() != 0)
        status = allow_usual(sources, trace);
    else if (!status && given->count == 0)
        (void)tide_fail("--source: for root, say where the sources are with "
                        "--source-root DIR, because a trace can name any file");
    return status ? tide_fail("%s", tide_status_words(status)) : -1;
}
