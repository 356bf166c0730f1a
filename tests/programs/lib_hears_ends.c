/* tests/programs/lib_hears_ends.c - stands behind the recorder and hooks what it hooks: says
 * which calls of in_turn come this far, and passes them on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *line)
{
    if (strcmp(program_invocation_short_name, "in_turn") == 0 &&
        write(STDOUT_FILENO, line, strlen(line)) < 0)
        syscall(SYS_exit_group, 9);
}

pid_t wait(int *status)
{
    say("wait\n");
    return ((pid_t(*)(int *))dlsym(RTLD_NEXT, "wait"))(status);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    say("waitpid\n");
    return ((pid_t(*)(pid_t, int *, int))dlsym(RTLD_NEXT, "waitpid"))(pid, status,
                                                                      options);
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
    say("wait3\n");
    return ((pid_t(*)(int *, int, struct rusage *))dlsym(RTLD_NEXT, "wait3"))(
        status, options, usage);
}

void _exit(int status)
{
    say("_exit\n");
    for (;;)
        syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
    say("_Exit\n");
    for (;;)
        syscall(SYS_exit_group, status);
}
