/* cli/cmd_collect.c - tidemark collect: what a program with LD_PRELOAD alone starts.
 *
 * Not for people: it has no place in the list of verbs.
 */
#include <stdlib.h>

#include "cli/command.h"
#include "collect/attend.h"
#include "trace/ring.h"

enum { TIDE_COLLECT_DEPTH = 256 };

static int run(int argc, char **argv)
{
    if (argc != 3)
        return tide_fail_usage(&tide_cmd_collect, "a pid and a descriptor are needed");
    const struct tide_attend_options options = {
        .pid = (uint32_t)strtoul(argv[1], NULL, 10),
        .answer = (int)strtol(argv[2], NULL, 10),
        .wishes = {.unwind = TIDE_UNWIND_CFI,
                   .depth_limit = TIDE_COLLECT_DEPTH,
                   .spaces = TIDE_SPACE_HEAP | TIDE_SPACE_MMAP},
        .words = "unwind=cfi depth=256 spaces=heap,mmap preload",
        .version = TIDE_VERSION,
    };
    return tide_attend(&options) == TIDE_OK ? 0 : 1;
}

const struct tide_command tide_cmd_collect = {
    .name = "collect",
    .summary = NULL,
    .usage = "PID DESCRIPTOR",
    .help =
        "Collects for a program that was started with LD_PRELOAD=libtidemark.so and\n"
        "without 'tidemark run'.  The recorder starts it by itself.\n",
    .run = run,
};
