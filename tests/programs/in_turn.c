/* tests/programs/in_turn.c - children and threads, one at a time: what one holds is gone, or
 * handed over, before the next begins.
 *
 * in_turn HOW COUNT: HOW children end, or a thread is joined.  The heap never holds more than
 * LARGE and what main keeps; but with "lingers" it holds twice LARGE.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <tidemark/tidemark.h>

enum {
    LARGE = 1000 * 1000,
    KEPT = 5000,
    SMALL = 500,
    SMALLS = LARGE / SMALL, /* too small to be timed one by one */
    BEHIND = 70 * 1000,     /* is timed */
    FEW = 5,
    FEW_BYTES = 20 * 1000,
    REST_US = 400 * 1000, /* the collector looks every 100 ms */
};

static void *volatile held;

static void hold_much(void)
{
    for (int i = 0; i < SMALLS; i++)
        held = malloc(SMALL);
}

/* --- Children --- */

static void end_child(const char *how)
{
    hold_much();
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    if (strcmp(how, "_Exit") == 0)
        _Exit(0);
    _exit(0);
}

static void wait_somehow(int i, pid_t child)
{
    siginfo_t info;
    int status;
    switch (i % 5) {
    case 0:
        wait(NULL);
        break;
    case 1:
        waitpid(child, &status, 0);
        break;
    case 2:
        wait3(&status, 0, NULL);
        break;
    case 3:
        wait4(child, NULL, 0, NULL);
        break;
    default:
        waitid(P_PID, (id_t)child, &info, WEXITED);
    }
}

static void have_children(const char *how, int count)
{
    for (int i = 0; i < count; i++) {
        const pid_t child = fork();
        if (child == 0)
            end_child(how);
        wait_somehow(i, child);
        void *volatile block = malloc(SMALL); /* not before the child's end */
        free(block);
    }
}

/* The last flush of a stream waits for its reader, when all destructors have run; and a second
 * child holds as much meanwhile. */
static void have_lingering_child(void)
{
    static char buffer[LARGE], text[LARGE / 10];
    int ends[2];
    if (pipe(ends) != 0)
        exit(3);
    const pid_t first = fork();
    if (first == 0) {
        FILE *const out = fdopen(ends[1], "w");
        if (!out || setvbuf(out, buffer, _IOFBF, sizeof(buffer)) != 0 ||
            fwrite(text, 1, sizeof(text), out) != sizeof(text))
            exit(3);
        end_child("exit");
    }
    close(ends[1]);
    usleep(REST_US);
    const pid_t second = fork();
    if (second == 0) {
        hold_much();
        usleep(REST_US);
        _exit(0);
    }
    waitpid(second, NULL, 0);
    while (read(ends[0], text, sizeof(text)) > 0)
        continue;
    waitpid(first, NULL, 0);
}

static void run_commands(const char *self, int count)
{
    char line[4096];
    snprintf(line, sizeof(line), "%s once 1", self);
    for (int i = 0; i < count; i++) {
        FILE *const pipe = i % 2 ? NULL : popen(line, "r");
        if (pipe)
            pclose(pipe);
        else if (system(line) != 0)
            exit(3);
    }
}

/* --- Threads --- */

/* In so many blocks: with few of them there is no time stamp in between. */
static void *hold_for_a_while(void *number)
{
    void *blocks[SMALLS];
    const int count = (int)(intptr_t)number;
    for (int i = 0; i < count; i++)
        blocks[i] = malloc(count < SMALLS ? FEW_BYTES : SMALL);
    for (int i = 0; i < count; i++)
        free(blocks[i]);
    return NULL;
}

static int hold_in_c11(void *number)
{
    hold_for_a_while(number);
    return 0;
}

static void join_somehow(int i, pthread_t thread)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 100;
    switch (i % 4) {
    case 0:
        pthread_join(thread, NULL);
        break;
    case 1:
        while (pthread_tryjoin_np(thread, NULL) != 0)
            usleep(100);
        break;
    case 2:
        pthread_timedjoin_np(thread, NULL, &until);
        break;
    default:
        pthread_clockjoin_np(thread, NULL, CLOCK_REALTIME, &until);
    }
}

/* Each time main then enters a region: nothing of the thread's is in it. */
static void have_threads(int count)
{
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        thrd_t c11;
        void *const number = (void *)(intptr_t)(i % 2 ? SMALLS : FEW);
        if (i % 5 == 4) {
            thrd_create(&c11, hold_in_c11, number);
            thrd_join(c11, NULL);
        } else {
            pthread_create(&thread, NULL, hold_for_a_while, number);
            join_somehow(i, thread);
        }
        tide_region_begin("behind");
        void *volatile block = malloc(BEHIND);
        free(block);
        tide_region_end("behind");
    }
}

/* What was freed just before a command is not there with what that holds. */
static void free_before_command(char *self, const char *how)
{
    char line[4096];
    char *const words[] = {self, "once", "1", NULL};
    pid_t child = -1;
    int status = 0;
    snprintf(line, sizeof(line), "%s once 1", self);
    hold_for_a_while((void *)(intptr_t)SMALLS);
    if (strcmp(how, "command") == 0)
        status = system(line);
    else if (strcmp(how, "popen") == 0)
        status = pclose(popen(line, "r"));
    else if (strcmp(how, "spawn") == 0)
        status = posix_spawn(&child, self, NULL, NULL, words, environ);
    else
        status = posix_spawnp(&child, self, NULL, NULL, words, environ);
    if (status != 0 || (child > 0 && waitpid(child, &status, 0) != child))
        exit(3);
    held = malloc(SMALL);
}

int main(int argc, char **argv)
{
    const char *const how = argc > 2 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(how, "once") == 0 || strcmp(how, "twice") == 0) {
        hold_much();
        if (how[0] == 't') {
            usleep(2 * REST_US);
            hold_much();
        }
        return 0;
    }
    if (strcmp(how, "exec") == 0) {
        hold_much();
        char left[16];
        snprintf(left, sizeof(left), "%d", count - 1);
        if (count > 1)
            execl(argv[0], argv[0], "exec", left, NULL);
        return 0;
    }
    void *volatile kept = malloc(KEPT);
    if (strcmp(how, "threads") == 0)
        have_threads(count);
    else if (strcmp(how, "lingers") == 0)
        have_lingering_child();
    else if (strcmp(how, "command") == 0 || strcmp(how, "popen") == 0 ||
             strncmp(how, "spawn", 5) == 0)
        free_before_command(argv[0], how);
    else if (strcmp(how, "commands") == 0)
        run_commands(argv[0], count);
    else
        have_children(how, count);
    free(kept);
    return 0;
}
