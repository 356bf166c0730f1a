/* cli/suppression_file.c - read a file of suppressions. */
#include "cli/suppression_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/memory_limit.h"

enum { TIDE_FILE_MAX = 16 << 20 };

/* All of FILE into OUT; 0 or errno. */
static int read_all(FILE *file, struct tide_text *out)
{
    char piece[1024];
    size_t got;
    while ((got = fread(piece, 1, sizeof(piece), file)) > 0) {
        tide_text_add_bytes(out, piece, got);
        if (out->failed)
            return ENOMEM;
        if (out->length > TIDE_FILE_MAX)
            return EFBIG;
    }
    return ferror(file) ? errno : 0;
}

int tide_suppression_file(const char *name, bool without_built_in,
                          struct tide_suppressions *out)
{
    struct tide_text text = {0};
    size_t line;
    *out = (struct tide_suppressions){.without_built_in = without_built_in};
    if (!name)
        return -1;
    FILE *const file = fopen(name, "re");
    int error = file ? read_all(file, &text) : errno;
    if (file)
        (void)fclose(file);
    enum tide_status status = TIDE_OK;
    if (!error && text.length)
        status = tide_suppressions_read(out, text.bytes, text.length, &line);
    tide_text_release(&text);
    if (error)
        return tide_fail("--suppressions %s: %s", name, strerrordesc_np(error));
    if (status == TIDE_ECORRUPT)
        return tide_fail(
            "--suppressions %s:%zu: not a suppression; write leak:PATTERN, "
            "or # and a comment",
            name, line);
    return status ? tide_fail("%s", tide_failure_words(status)) : -1;
}
