/* collect/inspect.c - can this program be recorded, and what will be missing?
 *
 * The recorder comes in through LD_PRELOAD, so everything hangs on the loader: whether
 * there is one, whether it is glibc's, whether it listens, and whether it finds our
 * malloc before another.  A script is judged by the program that runs it.
 */
#include "collect/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/elf_facts.h"
#include "collect/find_program.h"
#include "collect/inspect_elf.h"
#include "collect/privileges.h"

enum {
    TIDE_LINE_MOST = 255,  /* of #!: the kernel reads no further */
    TIDE_SCRIPTS_MOST = 5, /* scripts run by scripts: the kernel's limit */
};

struct look {
    struct tide_checks *out;
    bool thorough;
    int depth;
    int problem; /* exec would fail with it */
};

static void judge(struct look *look, const char *path);

static struct tide_check broken(int problem)
{
    struct tide_check check = {.name = "program", .level = TIDE_LEVEL_REFUSAL};
    if (problem == ENOENT || problem == ENOTDIR)
        check.advice = "check its name, or give its path";
    else if (problem == EACCES)
        check.advice = "make it executable (chmod +x)";
    return check;
}

/* --- Scripts -------------------------------------------------------------------------- */

/* What env will start: the first word of ARGUMENTS that is neither option nor variable;
 * the words are cut in place.  NULL: none. */
static char *env_program(char *arguments)
{
    char *rest = NULL;
    for (char *word = strtok_r(arguments, " \t", &rest); word;
         word = strtok_r(NULL, " \t", &rest)) {
        if (word[0] != '-' && !strchr(word, '='))
            return word;
    }
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* PATH is run by INTERPRETER: judge that one. */
static void judge_interpreter(struct look *look, const char *path,
                              const char *interpreter)
{
    static const struct tide_check script = {.name = "script",
                                             .level = TIDE_LEVEL_NOTE};
    char *found;
    const int problem = tide_program_find(interpreter, &found);
    if (problem) {
        const struct tide_check check = broken(problem);
        look->problem = problem;
        tide_checks_add(look->out, &check, "%s is a script for %s: %s", path,
                        interpreter, tide_program_problem(interpreter, problem));
        return;
    }
    tide_checks_add(
        look->out, &script,
        "%s is a script: %s runs it and is recorded, with all that it starts", path,
        found);
    judge(look, found);
    free(found);
}

/* LINE is what follows the #! of PATH. */
static void judge_script(struct look *look, const char *path, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    line += strspn(line, " \t");
    const size_t length = strcspn(line, " \t");
    char *const arguments = line + length + (line[length] != '\0');
    line[length] = '\0';
    const char *const started =
        strcmp(base_name(line), "env") == 0 ? env_program(arguments) : NULL;
    judge_interpreter(look, path, started ? started : line);
}

/* Neither ELF nor #!: exec leaves it to the shell. */
static void judge_text(struct look *look, const char *path, const char *start,
                       size_t length)
{
    static const struct tide_check strange = {
        .name = "program",
        .level = TIDE_LEVEL_WARNING,
        .advice = "record the program that runs it",
    };
    if (memchr(start, '\0', length))
        tide_checks_add(look->out, &strange,
                        "%s is neither an executable nor a script: only what the "
                        "system starts for it is recorded",
                        path);
    else
        judge_interpreter(look, path, "/bin/sh");
}

/* --- Files ------------------------------------------------------------------------------ */

static void judge_elf(struct look *look, const char *path,
                      const struct tide_elf_facts *facts)
{
    tide_inspect_elf(path, facts, look->out);
    if (facts->kind != TIDE_ELF_DYNAMIC)
        return;
    tide_privileges_check(path, look->out);
    if (facts->loader[0] && access(facts->loader, X_OK) != 0) {
        look->problem = errno;
        const struct tide_check check = broken(0);
        tide_checks_add(look->out, &check, "%s cannot be started: its loader %s: %s",
                        path, facts->loader,
                        tide_program_problem(facts->loader, look->problem));
    }
}

static void judge_bytes(struct look *look, const char *path, const uint8_t *bytes,
                        size_t size)
{
    char start[TIDE_LINE_MOST + 1] = "";
    const size_t length = size < TIDE_LINE_MOST ? size : TIDE_LINE_MOST;
    struct tide_elf_facts facts;
    tide_elf_look(bytes, size, look->thorough, &facts);
    if (facts.kind != TIDE_ELF_NONE) {
        judge_elf(look, path, &facts);
        return;
    }
    if (length > 0)
        memcpy(start, bytes, length);
    if (look->depth++ >= TIDE_SCRIPTS_MOST) {
        look->problem = ELOOP;
        const struct tide_check check = broken(0);
        tide_checks_add(look->out, &check, "%s: too many scripts run by scripts", path);
    } else if (start[0] == '#' && start[1] == '!') {
        judge_script(look, path, start + 2);
    } else {
        judge_text(look, path, start, length);
    }
}

static void judge(struct look *look, const char *path)
{
    static const struct tide_check unseen = {
        .name = "program",
        .level = TIDE_LEVEL_WARNING,
        .advice = "ask for permission to read it, or try",
    };
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        tide_checks_add(look->out, &unseen,
                        "%s may not be read: whether it can be recorded is not known",
                        path);
    } else if (about.st_size == 0) {
        judge_bytes(look, path, (const uint8_t *)"", 0);
    } else {
        const size_t size = (size_t)about.st_size;
        void *const bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED) {
            tide_checks_add(look->out, &unseen, "%s could not be looked at", path);
        } else {
            judge_bytes(look, path, bytes, size);
            (void)munmap(bytes, size);
        }
    }
    if (fd >= 0)
        (void)close(fd);
}

int tide_inspect(const char *name, bool thorough, struct tide_checks *out)
{
    struct look look = {.out = out, .thorough = thorough};
    char *path;
    look.problem = tide_program_find(name, &path);
    if (look.problem) {
        const struct tide_check check = broken(look.problem);
        tide_checks_add(out, &check, "%s: %s", name,
                        tide_program_problem(name, look.problem));
        return look.problem;
    }
    judge(&look, path);
    free(path);
    return look.problem;
}
