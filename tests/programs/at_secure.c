/* tests/programs/at_secure.c - does the kernel tell the loader to distrust us?
 *
 * Prints AT_SECURE, and leaves a file named "started" in the current folder if it may.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(void)
{
    const int fd = open("started", O_CREAT | O_WRONLY, 0600);
    if (fd >= 0)
        close(fd);
    printf("%lu\n", getauxval(AT_SECURE));
    return 0;
}
