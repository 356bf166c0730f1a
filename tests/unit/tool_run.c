/* tests/unit/tool_run.c - run compilers and binutils, in a folder that is thrown
 * away. */
#include "tool_run.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

bool tide_tool_found(const char *name)
{
    const char *folder = getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
    while (folder && *folder) {
        const size_t length = strcspn(folder, ":");
        char *const path = tide_path("%.*s/%s", (int)length, folder, name);
        const bool found = access(path, X_OK) == 0;
        free(path);
        if (found)
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

static void become(const char *const argv[], int out)
{
    if (out >= 0)
        (void)dup2(out, STDOUT_FILENO);
    size_t count = 0;
    while (argv[count])
        count++;
    char **const copies = calloc(count + 1, sizeof(*copies)); /* exec takes no const */
    for (size_t i = 0; copies && i < count; i++)
        copies[i] = strdup(argv[i]);
    if (copies && copies[0])
        (void)execvp(copies[0], copies);
    _exit(127);
}

static void read_all(int fd, struct tide_text *output)
{
    char buffer[1024];
    ssize_t got;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
        if (output)
            tide_text_add_bytes(output, buffer, (size_t)got);
    }
}

int tide_tool_run(const char *const argv[], struct tide_text *output)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0)
        become(argv, ends[1]);
    close(ends[1]);
    read_all(ends[0], output);
    close(ends[0]);
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

char *tide_scratch_new(void)
{
    char *const path = tide_path("/tmp/tide-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

void tide_scratch_remove(char *path)
{
    const char *const argv[] = {"rm", "-rf", "--", path, NULL};
    if (path)
        (void)tide_tool_run(argv, NULL);
    free(path);
}

char *tide_path(const char *format, ...)
{
    char *path = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&path, format, arguments);
    va_end(arguments);
    assert_true(length >= 0);
    return path;
}
