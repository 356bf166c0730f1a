/* tests/programs/lib_many_frames.c - 32,768 functions, with five MiB of frame tables.
 *
 * Each calls what it is given.  Their frames are of eight sizes, in turn; those of
 * lib_other_frames.so, which is the same otherwise, in another turn.
 */
#ifndef FIRST_TURN
#    define FIRST_TURN ".set turn, 0\n"
#endif
#define NOPS    "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
/* Instructions of a table that do nothing. */
#define NOTHING ".cfi_escape " NOPS "," NOPS "," NOPS "," NOPS "\n"

/* A function takes 32 bytes: many_frames.c counts on it. */
#define BEGIN                            \
    ".rept 32768\n"                      \
    ".p2align 5\n"                       \
    ".cfi_startproc\n"                   \
    "sub $(8 + 16 * (turn % 8)), %rsp\n" \
    ".cfi_def_cfa_offset 16 + 16 * (turn % 8)\n"
#define END                              \
    "call *%rdi\n"                       \
    "add $(8 + 16 * (turn % 8)), %rsp\n" \
    ".cfi_def_cfa_offset 8\n"            \
    "ret\n"                              \
    ".cfi_endproc\n"                     \
    ".set turn, turn + 1\n"              \
    ".endr\n"
#define SYMBOL                       \
    ".text\n"                        \
    ".globl many_frames\n"           \
    ".type many_frames, @function\n" \
    ".p2align 5\n"                   \
    "many_frames:\n"

__asm__(FIRST_TURN SYMBOL BEGIN NOTHING END ".size many_frames, . - many_frames\n");
