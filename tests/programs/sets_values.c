/* tests/programs/sets_values.c - values that the program sets: of every type, nested, in a
 * second thread and in a child; and addresses inside blocks that it names.
 *
 * Says what it did.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tidemark/tidemark.h>

enum { ROUNDS = 10, CELLS = 40, CELL = 24, LOOKS = 7 };

static void *volatile kept;

/* BYTES, COUNT times. */
__attribute__((noinline)) static void churn(size_t bytes, int count)
{
    for (int i = 0; i < count; i++) {
        kept = malloc(bytes);
        free(kept);
    }
}

static void *in_a_thread(void *unused)
{
    churn(100, 3); /* without: threads inherit none */
    tide_set_int("region.number", 77);
    churn(100, 4);
    return unused;
}

static void nested(void)
{
    tide_begin_string("mode", "outer");
    churn(200, 1);
    tide_begin_string("mode", "inner");
    churn(200, 2);
    tide_end("mode");
    churn(200, 4);
    tide_end("mode");
    churn(200, 8);
    tide_end("mode"); /* there is none */
    tide_begin_int("deep", 1);
    tide_begin_int("deep", 2);
    tide_unset("deep");
    churn(200, 16);
}

static void addresses(void)
{
    const size_t extents[] = {CELLS};
    char *const cells = malloc((size_t)CELLS * CELL);
    char *const plain = malloc(1000);
    const volatile uintptr_t beyond = (uintptr_t)plain + 1064, gone = (uintptr_t)plain;
    tide_label_shape(cells, "cells", CELL, extents, 1);
    for (int i = 0; i < LOOKS; i++)
        tide_set_address("looked.at", cells + (size_t)i * CELL + 5);
    tide_set_address("looked.at", plain + 999);
    tide_set_address("looked.at", (const void *)beyond); /* nobody's */
    free(plain);
    tide_set_address("looked.at", (const void *)gone); /* nobody's any more */
    tide_unset("looked.at");
    free(cells);
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < ROUNDS; i++) {
        tide_set_int("region.number", i % 2 ? -5 : 1234567890123);
        tide_set_double("dt", i * 0.25);
        tide_set_string("stage", i < 3 ? "warm, up" : "steady");
        churn(50, 1 + i);
    }
    tide_set_int("size", 1); /* a name that queries have already */
    const pid_t child = fork();
    if (child == 0) {
        churn(300, 5);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        return 1;
    if (pthread_create(&thread, NULL, in_a_thread, NULL) == 0)
        pthread_join(thread, NULL);
    nested();
    addresses();
    printf(
        "{\"rounds\": %d, \"cells\": %d, \"looks\": %d, \"pid\": %d, \"child\": %d}\n",
        ROUNDS, CELLS, LOOKS, (int)getpid(), (int)child);
    return 0;
}
