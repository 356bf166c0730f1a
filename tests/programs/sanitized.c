/* tests/programs/sanitized.c - good runs and four mistakes, for sanitizers to find.
 *
 * Built plain here; test_doctor.py builds it with each sanitizer.  `make` is called 1000
 * times, in the mistakes "use" (after free) and "twice" (freed) once more, in
 * "leak" ten times: one of them may still stand in a register.  "copies" is
 * a run of one thread: ten blocks from each call whose name follows, and their frees.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shared;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *work(void *argument)
{
    for (int i = 0; i < 100; i++)
        free(calloc(3, 20));
    if (argument)
        shared++;
    return NULL;
}

static void work_hard(int race)
{
    static void *blocks[1000];
    pthread_t thread;
    for (int i = 0; i < 1000; i++)
        blocks[i] = make(24);
    blocks[3] = realloc(blocks[3], 500);
    pthread_create(&thread, NULL, work, race ? &shared : NULL);
    if (race)
        shared++;
    pthread_join(thread, NULL);
    for (int i = 0; i < 1000; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
}

static void *copy(const char *how)
{
    char *made = NULL;
    if (strcmp(how, "strdup") == 0)
        return strdup("tide");
    if (strcmp(how, "strndup") == 0)
        return strndup("tide mark", 4);
    if (strcmp(how, "realpath") == 0)
        return realpath("/.", NULL);
    if (strcmp(how, "asprintf") == 0 && asprintf(&made, "%s", how) > 0)
        return made;
    return NULL;
}

int main(int argc, char **argv)
{
    const char *const how = argc > 1 ? argv[1] : "good";
    volatile int number = INT_MAX;
    if (strcmp(how, "copies") != 0)
        work_hard(strcmp(how, "race") == 0);
    printf("%s\n", how);
    fflush(stdout);
    if (strcmp(how, "use") == 0) {
        char *volatile block = make(10);
        free(block);
        const volatile char *const stale = block;
        return stale[3] == 0 ? 0 : 1;
    }
    if (strcmp(how, "twice") == 0) {
        char *volatile block = make(10);
        free(block);
        free(block);
    }
    for (int i = 0; i < 10 && strcmp(how, "leak") == 0; i++)
        memset(make(1234), 1, 10);
    for (int i = 0; i < 10 * (argc - 2); i++) {
        void *volatile block = copy(argv[2 + i / 10]);
        free(block);
    }
    if (strcmp(how, "overflow") == 0)
        printf("%d\n", number + argc);
    return 0;
}
