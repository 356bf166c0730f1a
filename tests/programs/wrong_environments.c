/* tests/programs/wrong_environments.c - execute programs with environments that cannot be read.
 *
 * Prints what execve() says of each.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void say(const char *name, char *const *environment)
{
    char *const words[] = {"true", NULL};
    int status = -1;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)execve("/bin/true", words, environment);
        printf("%s: %s\n", name, strerrorname_np(errno));
        (void)fflush(stdout);
        _exit(7);
    }
    (void)waitpid(child, &status, 0);
    printf("%s: %#x\n", name, (unsigned)status);
}

static void *map(int rights)
{
    return mmap(NULL, (size_t)2 * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    char *const nowhere[] = {(char *)(uintptr_t)1, NULL};
    char *const none = map(PROT_NONE);
    char *const page = map(PROT_READ | PROT_WRITE);
    char *const hidden[] = {"A=1", none + PAGE, NULL};
    char *const other = map(PROT_READ | PROT_WRITE);
    char *const last = memcpy(other + PAGE - 4, "B=2", 4);
    char **const no_end = (void *)(page + PAGE - 2 * sizeof(char *));
    (void)munmap(page + PAGE, PAGE);
    (void)munmap(other + PAGE, PAGE);
    no_end[0] = no_end[1] = last;

    say("a wrong entry", nowhere);
    say("an entry without rights", hidden);
    say("an array without an end", no_end);
    say("an array without rights", (void *)none);
    say("an array of the kernel's", (void *)(uintptr_t)-1);
    say("an array at the beginning", (void *)sizeof(char *));
    say("an entry that ends with its page", (char *[]){last, NULL});
    say("none", NULL);
    return 0;
}
