/* capture/hooks_exec.c - exec and posix_spawn: a program begins, and may not be recorded.
 *
 * Whether it can be shows in its environment, which is known here.  Each hook goes on to its
 * own next one: who stands behind us may have hooked only that.  execl and its kin have their
 * arguments put together on the stack, as libc does it, and go on to execv and its kin.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/exec.h"
#include "capture/hooks.h"
#include "capture/real.h"
#include "capture/sandbox.h"

/* alloca() gives memory of the calling function: this cannot be one. */
#define MEMORY_OF(exec) ((exec).bytes ? alloca((exec).bytes) : NULL)

static int no_such_call(void)
{
    errno = ENOSYS;
    return -1;
}

TIDE_HOOK int execve(const char *path, char *const words[], char *const given[])
{
    struct tide_exec exec;
    tide_exec_look(&exec, given);
    char *const *const used = tide_exec_environment(&exec, given, MEMORY_OF(exec));
    tide_exec_post(&exec, AT_FDCWD, path);
    const int status = tide_real_resolve() && tide_real.execve
                           ? tide_real.execve(path, words, used)
                           : (int)tide_program_call(SYS_execve, path, words, used);
    tide_exec_failed(&exec);
    return status;
}

TIDE_HOOK int execv(const char *path, char *const words[])
{
    if (!tide_real_resolve() || !tide_real.execv || !tide_real.execve)
        return no_such_call();
    struct tide_exec exec;
    tide_exec_look(&exec, environ);
    char *const *const used = tide_exec_environment(&exec, environ, MEMORY_OF(exec));
    tide_exec_post(&exec, AT_FDCWD, path);
    const int status =
        exec.bytes ? tide_real.execve(path, words, used) : tide_real.execv(path, words);
    tide_exec_failed(&exec);
    return status;
}

TIDE_HOOK int execvpe(const char *file, char *const words[], char *const given[])
{
    if (!tide_real_resolve() || !tide_real.execvpe)
        return no_such_call();
    struct tide_exec exec;
    tide_exec_look(&exec, given);
    char *const *const used = tide_exec_environment(&exec, given, MEMORY_OF(exec));
    tide_exec_post(&exec, TIDE_EXEC_SEARCHED, file);
    const int status = tide_real.execvpe(file, words, used);
    tide_exec_failed(&exec);
    return status;
}

TIDE_HOOK int execvp(const char *file, char *const words[])
{
    if (!tide_real_resolve() || !tide_real.execvp || !tide_real.execvpe)
        return no_such_call();
    struct tide_exec exec;
    tide_exec_look(&exec, environ);
    char *const *const used = tide_exec_environment(&exec, environ, MEMORY_OF(exec));
    tide_exec_post(&exec, TIDE_EXEC_SEARCHED, file);
    const int status = exec.bytes ? tide_real.execvpe(file, words, used)
                                  : tide_real.execvp(file, words);
    tide_exec_failed(&exec);
    return status;
}

TIDE_HOOK int fexecve(int fd, char *const words[], char *const given[])
{
    if (!tide_real_resolve() || !tide_real.fexecve)
        return no_such_call();
    struct tide_exec exec;
    tide_exec_look(&exec, given);
    char *const *const used = tide_exec_environment(&exec, given, MEMORY_OF(exec));
    tide_exec_post(&exec, fd, NULL);
    const int status = tide_real.fexecve(fd, words, used);
    tide_exec_failed(&exec);
    return status;
}

TIDE_HOOK int execveat(int folder, const char *path, char *const words[],
                       char *const given[], int flags)
{
    struct tide_exec exec;
    tide_exec_look(&exec, given);
    char *const *const used = tide_exec_environment(&exec, given, MEMORY_OF(exec));
    tide_exec_post(&exec, folder, flags & AT_EMPTY_PATH ? NULL : path);
    const int status =
        tide_real_resolve() && tide_real.execveat
            ? tide_real.execveat(folder, path, words, used, flags)
            : (int)tide_program_call(SYS_execveat, folder, path, words, used, flags);
    tide_exec_failed(&exec);
    return status;
}

/* --- Arguments one by one --------------------------------------------------------------- */

/* FIRST and those of LIST, which ends with a NULL. */
static size_t count_words(const char *first, va_list list)
{
    size_t count = first ? 1 : 0;
    while (first && va_arg(list, char *))
        count++;
    return count;
}

/* COUNT words and the NULL, to WORDS.  LIST goes on behind them. */
static void put_words(char **words, size_t count, const char *first, va_list *list)
{
    memcpy(words, &first, sizeof(first)); /* exec takes them without const */
    for (size_t i = 1; i <= count; i++)
        words[i] = va_arg(*list, char *);
}

TIDE_HOOK int execl(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    const size_t count = count_words(first, list);
    va_end(list);
    char **const words = alloca((count + 1) * sizeof(*words));
    va_start(list, first);
    put_words(words, count, first, &list);
    va_end(list);
    return execv(path, words);
}

TIDE_HOOK int execlp(const char *file, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    const size_t count = count_words(first, list);
    va_end(list);
    char **const words = alloca((count + 1) * sizeof(*words));
    va_start(list, first);
    put_words(words, count, first, &list);
    va_end(list);
    return execvp(file, words);
}

TIDE_HOOK int execle(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    const size_t count = count_words(first, list);
    va_end(list);
    char **const words = alloca((count + 1) * sizeof(*words));
    va_start(list, first);
    put_words(words, count, first, &list);
    char *const *const given = va_arg(list, char *const *);
    va_end(list);
    return execve(path, words, given);
}

/* --- Children that begin with a program -------------------------------------------------- */

/* NOLINTBEGIN(readability-function-size): so many arguments posix_spawn() has */
typedef int (*spawner)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const[], char *const[]);

/* When it comes back, the child runs the program already. */
static int spawn(spawner next, pid_t *child, const char *name,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[],
                 char *const given[])
{
    pid_t pid = 0;
    struct tide_exec exec;
    tide_exec_look(&exec, given);
    char *const *const used = tide_exec_environment(&exec, given, MEMORY_OF(exec));
    tide_hook_stamp();
    const int problem = next(&pid, name, actions, attributes, words, used);
    tide_exec_spawned(&exec, name, problem ? 0 : (uint32_t)pid);
    if (child && problem == 0)
        *child = pid;
    return problem;
}

TIDE_HOOK int posix_spawn(pid_t *child, const char *path,
                          const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const words[],
                          char *const given[])
{
    if (!tide_real_resolve() || !tide_real.spawn)
        return ENOSYS;
    return spawn(tide_real.spawn, child, path, actions, attributes, words, given);
}

TIDE_HOOK int posix_spawnp(pid_t *child, const char *file,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const words[],
                           char *const given[])
{
    if (!tide_real_resolve() || !tide_real.spawn_in_path)
        return ENOSYS;
    return spawn(tide_real.spawn_in_path, child, file, actions, attributes, words,
                 given);
}
/* NOLINTEND(readability-function-size) */
