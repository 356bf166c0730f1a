/* tests/programs/closes_all.c - close what is open and use the numbers, as daemons do.
 *
 * Usage: closes_all FILE.  Says which number its first file got; changes to the root folder;
 * then nothing is to be in FILE, which stays open while it allocates, but "own".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    enum { FILES = 8 };
    if (argc < 2 || chdir("/") != 0)
        return 2;
    printf("%d\n", open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600));
    closefrom(3);
    for (int i = 0; i < FILES; i++) /* whichever number somebody thinks is his */
        if (open(argv[1], O_WRONLY | O_APPEND) < 0)
            return 2;
    if (write(3, "own", 3) != 3)
        return 2;
    usleep(50000);
    free(malloc(10));
    return 0;
}
