/* tests/programs/region_rules.c - regions, loops, phases, and who inherits what.
 *
 * Each block is of a size of its own and never freed.  Prints, as JSON, how many bytes it
 * made in which region, by path.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <tidemark/tidemark.h>
#include <unistd.h>

static void *volatile kept[256];
static int kept_count;
static int printed;

__attribute__((noinline)) static void make(const char *path, size_t bytes)
{
    kept[kept_count++] = malloc(bytes);
    printf("%s\"%s\": %zu", printed++ ? ", " : "{", path, bytes);
}

__attribute__((noinline)) static void function(int early)
{
    TIDE_FUNCTION();
    make("outer/function", 1000);
    if (early)
        return;
    TIDE_SCOPED_REGION("scope");
    make("outer/function/scope", 1001);
}

static void *grandchild(void *unused)
{
    make("outer/threads/child", 1010);
    return unused;
}

static int c11_child(void *argument)
{
    make("outer/threads", 1013);
    tide_region_begin("own");
    make("outer/threads/own", 1014);
    return *(int *)argument;
}

static void *child(void *unused)
{
    pthread_t thread;
    make("outer/threads", 1011);
    tide_region_end("threads"); /* not its to end: a mismatch */
    make("outer/threads", 1012);
    tide_region_begin("child");
    pthread_create(&thread, NULL, grandchild, NULL);
    pthread_join(thread, NULL);
    tide_region_end("child");
    return unused;
}

static void *stranger(void *unused)
{
    make("", 1020);
    tide_region_begin("own");
    make("own", 1021);
    return unused; /* and never ends it */
}

static void *phased(void *unused)
{
    make("phase", 1030);
    tide_region_begin("inside");
    make("phase/inside", 1031);
    tide_phase_begin("second");
    make("phase/second/inside", 1032);
    return unused;
}

static void in_thread(void *(*what)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, what, NULL) == 0)
        pthread_join(thread, NULL);
}

static void in_c11_thread(void)
{
    thrd_t thread;
    int argument = 5, result = 0;
    if (thrd_create(&thread, c11_child, &argument) != thrd_success ||
        thrd_join(thread, &result) != thrd_success || result != 5)
        abort();
}

static void in_child(void)
{
    fflush(stdout);
    if (fork() == 0) {
        kept[kept_count++] = malloc(1040);
        tide_region_end("forks");
        kept[kept_count++] = malloc(1041);
        _exit(0);
    }
    wait(NULL);
    printf(", \"outer/forks\": 1040, \"outer\": 1041");
}

static void names(void)
{
    char name[64] = "first";
    tide_region_begin(name);
    make("first", 1050);
    strcpy(name, "changed"); /* the same place, another name */
    tide_region_begin(name);
    make("first/changed", 1051);
    tide_region_end("changed");
    tide_region_end("first");
    tide_region_begin(NULL);
    tide_region_end(NULL);
}

int main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    make("", 1060);
    in_thread(stranger);
    names();
    tide_region_begin("outer");
    function(0);
    function(1);
    tide_loop_begin("loop");
    for (int i = -2; i < 3; i++) {
        tide_iteration(i);
        tide_region_begin("body");
        make("outer/loop/body", 2000);
        tide_region_begin("left open"); /* ended by the next one: a mismatch */
        tide_region_end("body");
        make("outer/loop", 3000);
    }
    tide_loop_end("loop");
    tide_region_end("no such thing"); /* a mismatch */
    tide_region_begin("threads");
    in_thread(child);
    in_c11_thread();
    tide_region_end("threads");
    tide_region_begin("forks");
    in_child();
    tide_region_end("forks");
    tide_region_end("outer");
    tide_phase_begin("phase");
    make("phase", 1070);
    in_thread(phased);
    make("phase/second", 1071);
    tide_phase_end("second");
    tide_phase_end("phase");
    make("", 1072);
    puts("}");
    return 0;
}
