/* tests/programs/no_tables.c - allocate below code that has no unwind tables.
 *
 * 100 blocks are made plainly, then 200 below a function in assembler, then 300 below one
 * that was put together at run time; a child makes 50 more below that.  Both keep frame
 * pointers, as all else here does.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

typedef void action(void);
typedef void call_it(action *what);

extern call_it assembled;
__asm__(".pushsection .text\n"
        ".globl assembled\n"
        ".type assembled, @function\n"
        "assembled:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    call *%rdi\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size assembled, . - assembled\n"
        ".popsection\n");

static const unsigned char CODE[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

static void make(void)
{
    void *volatile block = malloc(100);
    (void)block;
}

static void plain(action *what)
{
    what();
}

static void repeat(call_it *how, int times)
{
    for (int i = 0; i < times; i++)
        how(make);
}

static call_it *put_together(void)
{
    void *const page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    call_it *function;
    if (page == MAP_FAILED)
        _exit(1);
    memcpy(page, CODE, sizeof(CODE));
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        _exit(1);
    memcpy(&function, &page, sizeof(page));
    return function;
}

int main(void)
{
    call_it *const made = put_together();
    int status = 1;
    repeat(plain, 100);
    repeat(assembled, 200);
    repeat(made, 300);
    const pid_t child = fork();
    if (child == 0) {
        repeat(made, 50);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return 1;
    say("done\n");
    return 0;
}
