/* tests/programs/starts_unrecorded.c - start children whose environment does not name the recorder.
 *
 * usage: starts_unrecorded HOW COUNT PROGRAM
 *
 * COUNT children, one after the other, each executes PROGRAM in the way HOW.  With "keeping-"
 * before HOW they keep the environment; with "failing-" each tries a file that does not exist
 * first.  Prints how many of them ended with status 0.  With "system" and "popen" PROGRAM is
 * a command of the shell.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const CLEAN[] = {"PATH=/usr/bin:/bin", NULL};
static char **given;
static bool fails_first;

static void by_execve(char *program)
{
    char *const words[] = {program, NULL};
    if (fails_first)
        (void)execve("/no/such/program", words, given);
    (void)execve(program, words, given);
}

static void by_execv(char *program)
{
    char *const words[] = {program, NULL};
    environ = given;
    (void)execv(program, words);
}

static void by_execvp(char *program)
{
    char *const words[] = {program, NULL};
    environ = given;
    (void)execvp(program, words);
}

static void by_execvpe(char *program)
{
    char *const words[] = {program, NULL};
    (void)execvpe(program, words, given);
}

static void by_execl(char *program)
{
    environ = given;
    (void)execl(program, program, "a", "b", "c", (char *)NULL);
}

static void by_execlp(char *program)
{
    environ = given;
    (void)execlp(program, program, "a", (char *)NULL);
}

static void by_execle(char *program)
{
    (void)execle(program, program, "a", (char *)NULL, given);
}

static void by_fexecve(char *program)
{
    char *const words[] = {program, NULL};
    (void)fexecve(open(program, O_RDONLY | O_CLOEXEC), words, given);
}

static void by_execveat(char *program)
{
    char *const words[] = {program, NULL};
    (void)execveat(AT_FDCWD, program, words, given, 0);
}

static const struct way {
    const char *name;
    void (*exec)(char *program);
} WAYS[] = {
    {"execve", by_execve},   {"execv", by_execv},     {"execvp", by_execvp},
    {"execvpe", by_execvpe}, {"execl", by_execl},     {"execlp", by_execlp},
    {"execle", by_execle},   {"fexecve", by_fexecve}, {"execveat", by_execveat},
};

static pid_t forked(const char *how, char *program)
{
    const pid_t child = fork();
    for (size_t i = 0; child == 0 && i < sizeof(WAYS) / sizeof(WAYS[0]); i++) {
        if (strcmp(WAYS[i].name, how) == 0)
            WAYS[i].exec(program);
    }
    if (child == 0)
        _exit(127);
    return child;
}

static pid_t vforked(char *program)
{
    char *const words[] = {program, NULL};
    const pid_t child = vfork();
    if (child == 0) {
        (void)execve(program, words, given);
        _exit(127);
    }
    return child;
}

static pid_t spawned(const char *how, char *program)
{
    char *const words[] = {program, NULL};
    pid_t child = -1;
    if (fails_first)
        (void)posix_spawn(&child, "/no/such/program", NULL, NULL, words, given);
    const int problem = strcmp(how, "posix_spawnp") == 0
                            ? posix_spawnp(&child, program, NULL, NULL, words, given)
                            : posix_spawn(&child, program, NULL, NULL, words, given);
    return problem ? -1 : child;
}

static pid_t start(const char *how, char *program)
{
    if (strncmp(how, "posix_spawn", 11) == 0)
        return spawned(how, program);
    return strcmp(how, "vfork") == 0 ? vforked(program) : forked(how, program);
}

static bool by_shell(const char *how, const char *command)
{
    environ = (char **)CLEAN;
    if (strcmp(how, "system") == 0)
        return system(command) == 0;
    FILE *const stream = popen(command, "r");
    return stream && pclose(stream) == 0;
}

static bool is_good(const char *how, char *program)
{
    int status = -1;
    if (strcmp(how, "system") == 0 || strcmp(how, "popen") == 0)
        return by_shell(how, program);
    const pid_t child = start(how, program);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const char *how = argv[1];
    given = (char **)CLEAN;
    if (strncmp(how, "keeping-", 8) == 0) {
        how += 8;
        given = environ;
    }
    if (strncmp(how, "failing-", 8) == 0) {
        how += 8;
        fails_first = true;
    }
    int good = 0;
    for (int left = atoi(argv[2]); left > 0; left--)
        good += is_good(how, argv[3]);
    return printf("%d\n", good) < 0;
}
