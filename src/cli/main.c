/* cli/main.c - the program: find the verb, call it.
 *
 * The first word is a verb; else the line is one of `run`: `tidemark -o x ./prog` is
 * `tidemark run -o x ./prog`.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/verbs.h"

static void list_commands(FILE *out)
{
    (void)fputs("tidemark - where did the memory go?\n"
                "\n"
                "usage: tidemark [OPTION...] PROGRAM [ARGUMENT...]   record a program\n"
                "       tidemark VERB [OPTION...]   where VERB is one of\n"
                "\n",
                out);
    for (size_t i = 0; tide_verbs[i]; i++) {
        if (tide_verbs[i]->summary)
            (void)fprintf(out, "  %-10s %s\n", tide_verbs[i]->name,
                          tide_verbs[i]->summary);
    }
    (void)fputs(
        "\n"
        "'tidemark VERB --help' explains a verb.\n"
        "\n"
        "  -h, --help     this text\n"
        "  -V, --version  the version\n"
        "\n"
        "Options before PROGRAM are those of run.  If a program has the name of a verb,\n"
        "or nearly so, record it with 'tidemark run PROGRAM'.\n"
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
    static char self[] = "help", option[] = "--help";
    const struct tide_command *const command = tide_verb_find(name);
    const char *const meant = command ? NULL : tide_verb_nearest(name);
    if (meant)
        return tide_fail("there is no verb '%s'; did you mean '%s'?", name, meant);
    if (!command)
        return tide_fail("there is no verb '%s'; 'tidemark --help' lists them", name);
    char *words[] = {self, option, NULL};
    return command->run(2, words);
}

static int version(void)
{
    (void)puts("tidemark " TIDE_VERSION);
    return 0;
}

static bool is_one_of(const char *word, const char *one, const char *other)
{
    return strcmp(word, one) == 0 || strcmp(word, other) == 0;
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
    static char run[] = "run";
    const struct tide_command *const command = tide_verb_find(argv[1]);
    if (command)
        return finish(command->run(argc - 1, argv + 1));
    if (strcmp(argv[1], "help") == 0 || is_one_of(argv[1], "--help", "-h"))
        return finish(help(argv[2]));
    if (is_one_of(argv[1], "--version", "-V"))
        return finish(version());
    if (strcmp(argv[1], "--") == 0) /* nothing else can be meant */
        argv[0] = run;
    return finish(tide_cmd_run.run(argc, argv));
}
