/* cli/fetch_names.c - names from servers, when they were asked for. */
#include "cli/fetch_names.h"

int tide_fetch_begin(struct tide_debuginfod **out)
{
    const char *why;
    return tide_debuginfod_open(out, &why) ? tide_fail("--debuginfod: %s", why) : -1;
}

void tide_fetch_end(struct tide_debuginfod *debuginfod)
{
    if (tide_debuginfod_silent(debuginfod))
        (void)tide_fail("--debuginfod: no server of DEBUGINFOD_URLS answers");
    tide_debuginfod_close(debuginfod);
}
