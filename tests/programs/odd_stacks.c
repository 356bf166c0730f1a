/* tests/programs/odd_stacks.c - allocate where a stack walk may stumble.
 *
 * On coroutine stacks (makecontext), in a handler on an alternate stack, after longjmp,
 * in a thread with the smallest stack, in a TLS destructor.  200 blocks of 50 bytes each.
 */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "say.h"

enum { TIMES = 200, SIZE = 50 };

static ucontext_t main_context, other_context;
static jmp_buf back;
static pthread_key_t key;

#define MAKER(name)                                  \
    __attribute__((noinline)) static void name(void) \
    {                                                \
        for (int i = 0; i < TIMES; i++) {            \
            void *volatile block = malloc(SIZE);     \
            (void)block;                             \
        }                                            \
    }
MAKER(make_in_coroutine)
MAKER(make_on_alternate_stack)
MAKER(make_after_longjmp)
MAKER(make_in_small_thread)
MAKER(make_in_destructor)

static void coroutine(void)
{
    make_in_coroutine();
}

static void handler(int number)
{
    (void)number;
    make_on_alternate_stack();
}

static void destructor(void *value)
{
    (void)value;
    make_in_destructor();
}

static void *small_thread(void *unused)
{
    pthread_setspecific(key, &key);
    make_in_small_thread();
    return unused;
}

static void jump(int depth)
{
    volatile char room[200];
    room[0] = (char)depth;
    if (depth == 0)
        longjmp(back, 1);
    if (depth > 0)
        jump(depth - 1);
    room[1] = room[0];
}

int main(void)
{
    static char coroutine_stack[65536], alternate[65536];
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = coroutine_stack;
    other_context.uc_stack.ss_size = sizeof(coroutine_stack);
    other_context.uc_link = &main_context;
    makecontext(&other_context, coroutine, 0);
    swapcontext(&main_context, &other_context);

    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);

    if (setjmp(back) == 0)
        jump(50);
    make_after_longjmp();

    pthread_t thread;
    pthread_attr_t attributes;
    pthread_key_create(&key, destructor);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    if (pthread_create(&thread, &attributes, small_thread, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    say("done\n");
    return 0;
}
