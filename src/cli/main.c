/* cli/main.c - the program: find the verb, call it.
 *
 * The first word is a verb, or the program to record: `tidemark ./prog` is `tidemark run
 * ./prog`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/before_run.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "collect/find_program.h"

static const struct tide_command *const COMMANDS[] = {
    &tide_cmd_run,   &tide_cmd_report,  &tide_cmd_query,   &tide_cmd_diff,
    &tide_cmd_check, &tide_cmd_resolve, &tide_cmd_info,    &tide_cmd_export,
    &tide_cmd_pack,  &tide_cmd_doctor,  &tide_cmd_collect,
};
enum { TIDE_COMMANDS = sizeof(COMMANDS) / sizeof(COMMANDS[0]) };

static const struct tide_command *find_command(const char *name)
{
    for (size_t i = 0; i < TIDE_COMMANDS; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0)
            return COMMANDS[i];
    }
    return NULL;
}

static const char *nearest_command(const char *name)
{
    const char *names[TIDE_COMMANDS];
    size_t count = 0;
    for (size_t i = 0; i < TIDE_COMMANDS; i++) {
        if (COMMANDS[i]->summary)
            names[count++] = COMMANDS[i]->name;
    }
    return tide_nearest(name, names, count);
}

static void list_commands(FILE *out)
{
    (void)fputs("tidemark - where did the memory go?\n"
                "\n"
                "usage: tidemark PROGRAM [ARGUMENT...]   record a program\n"
                "       tidemark VERB [OPTION...]        where VERB is one of\n"
                "\n",
                out);
    for (size_t i = 0; i < TIDE_COMMANDS; i++) {
        if (COMMANDS[i]->summary)
            (void)fprintf(out, "  %-9s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    }
    (void)fputs("\n"
                "'tidemark VERB --help' explains one of them.\n"
                "\n"
                "  --help     this text\n"
                "  --version  the version\n"
                "\n"
                "example: tidemark ./prog && tidemark report\n",
                out);
}

/* tidemark help [VERB] */
static int help(const char *name)
{
    if (!name) {
        list_commands(stdout);
        return 0;
    }
    const struct tide_command *const command = find_command(name);
    if (!command)
        return tide_fail("there is no verb '%s'; 'tidemark --help' lists them", name);
    tide_print_help(command);
    return 0;
}

static int run_option(const char *word, const char *next)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return help(next);
    if (strcmp(word, "--version") == 0) {
        (void)puts("tidemark " TIDE_VERSION);
        return 0;
    }
    (void)tide_fail("unknown option %s; options follow their verb, as in "
                    "'tidemark run -o NAME ./prog'",
                    word);
    return 2;
}

/* Is WORD a mistyped verb?  Nothing else was found under that name. */
static const char *verb_meant(const char *word)
{
    char *path;
    const int problem = tide_program_find(word, &path);
    free(path);
    return problem == ENOENT && !strchr(word, '/') ? nearest_command(word) : NULL;
}

/* Record the command line that begins at argv[1]. */
static int run_program(int argc, char **argv)
{
    static char verb[] = "run", end[] = "--";
    char **const words = calloc((size_t)argc + 2, sizeof(*words));
    if (!words)
        return tide_fail("out of memory");
    words[0] = verb;
    words[1] = end;
    memcpy(words + 2, argv + 1, ((size_t)argc - 1) * sizeof(*words));
    const int status = tide_cmd_run.run(argc + 1, words);
    free(words);
    return status;
}

/* A full disk behind `tidemark report > file` must not look like success. */
static int finish(int status)
{
    if (fflush(stdout) || ferror(stdout)) {
        if (status == 0)
            return tide_fail("standard output: cannot write");
    }
    return status;
}

/* Where 0, 1 or 2 is closed, the next file to be opened would get its number, and our
 * messages.  What stands there instead refuses them, and is closed for the program. */
static void guard_standard_descriptors(void)
{
    int fd;
    do {
        fd = open("/", O_PATH | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd);
}

int main(int argc, char **argv)
{
    guard_standard_descriptors();
    if (argc < 2) {
        list_commands(stdout);
        return finish(0);
    }
    const struct tide_command *const command = find_command(argv[1]);
    if (command)
        return finish(command->run(argc - 1, argv + 1));
    if (strcmp(argv[1], "help") == 0)
        return finish(help(argv[2]));
    if (strcmp(argv[1], "--") == 0 && argc > 2)
        return finish(run_program(argc - 1, argv + 1));
    if (argv[1][0] == '-')
        return finish(run_option(argv[1], argv[2]));
    const char *const meant = verb_meant(argv[1]);
    if (meant) {
        (void)tide_fail("%s: there is no such program in PATH; did you mean 'tidemark "
                        "%s'?",
                        argv[1], meant);
        return TIDE_EXIT_NOT_FOUND;
    }
    return finish(run_program(argc, argv));
}
