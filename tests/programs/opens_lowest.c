/* tests/programs/opens_lowest.c - write to the lowest free descriptors, as daemons do.
 *
 * Usage: opens_lowest FOLDER.  Opens three files, FOLDER/0 to FOLDER/2, says in each which
 * descriptors it had before and which number it got, allocates, and says it again.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        _exit(9);
}

int main(int argc, char **argv)
{
    int fds[3];
    char line[200] = "open:";
    if (argc < 2)
        return 2;
    for (int fd = 0; fd < 64; fd++)
        if (fcntl(fd, F_GETFD) != -1)
            snprintf(line + strlen(line), sizeof(line) - strlen(line), " %d", fd);
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%d", argv[1], i);
        fds[i] = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        snprintf(path, sizeof(path), "%s; got %d\n", line, fds[i]);
        put(fds[i], path);
    }
    for (int i = 0; i < 50000; i++) {
        void *volatile block = malloc((size_t)(i % 500));
        free(block);
    }
    for (int i = 0; i < 3; i++)
        put(fds[i], "end\n");
    return 7;
}
