/* tests/bench/loads/empty.c - do nothing, but fork so many children: empty [FORKS]. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int forks = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < forks; i++) {
        if (fork() == 0)
            _exit(0);
        wait(NULL);
    }
    return 0;
}
