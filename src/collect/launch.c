/* collect/launch.c - start the program that shall be recorded.
 *
 * All descriptors here are closed by exec, so the program inherits none, and success of
 * exec is seen as the end of the result pipe.
 */
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static ssize_t read_again(int fd, void *out, size_t size)
{
    ssize_t got;
    do {
        got = read(fd, out, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

static void close_pair(const int fds[2])
{
    (void)close(fds[0]);
    (void)close(fds[1]);
}

__attribute__((noreturn)) static void become(const struct tide_launch_plan *plan,
                                             int gate, int result)
{
    char go;
    if (read_again(gate, &go, 1) == 1) {
        tide_signals_restore(plan->signals);
        tide_timers_restore(plan->signals);
        if (plan->descriptors && plan->descriptors->rlim_max)
            (void)setrlimit(RLIMIT_NOFILE, plan->descriptors);
        (void)execvpe(plan->argv[0], plan->argv, plan->environment);
        const int problem = errno;
        (void)!write(result, &problem, sizeof(problem));
    }
    _exit(127);
}

enum tide_status tide_launch_prepare(const struct tide_launch_plan *plan,
                                     struct tide_launch *out)
{
    int gate[2], result[2];
    if (pipe2(gate, O_CLOEXEC) != 0)
        return TIDE_ESYSTEM;
    if (pipe2(result, O_CLOEXEC) != 0)
        goto close_gate;
    const pid_t pid = fork();
    if (pid < 0)
        goto close_result;
    if (pid == 0) {
        (void)close(gate[1]); /* so that our death opens no gate, but ends it */
        (void)close(result[0]);
        become(plan, gate[0], result[1]);
    }
    (void)close(gate[0]);
    (void)close(result[1]);
    *out = (struct tide_launch){.pid = pid, .gate = gate[1], .result = result[0]};
    return TIDE_OK;

close_result:
    close_pair(result);
close_gate:
    close_pair(gate);
    return TIDE_ESYSTEM;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

int tide_launch_go(struct tide_launch *launch)
{
    int problem = 0;
    const ssize_t sent = write(launch->gate, "g", 1);
    const ssize_t got = read_again(launch->result, &problem, sizeof(problem));
    (void)close(launch->gate);
    (void)close(launch->result);
    if (sent == 1 && got != (ssize_t)sizeof(problem))
        return 0;
    reap(launch->pid);
    return problem ? problem : ECHILD;
}

void tide_launch_cancel(struct tide_launch *launch)
{
    (void)close(launch->gate);
    (void)close(launch->result);
    reap(launch->pid);
}
