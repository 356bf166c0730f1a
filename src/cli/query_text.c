/* cli/query_text.c - a query that stands in a file. */
#include "cli/query_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "query/ast.h"

int tide_query_read(const char *name, struct tide_text *out)
{
    const bool input = strcmp(name, "-") == 0;
    FILE *const file = input ? stdin : fopen(name, "re");
    char bytes[1024];
    size_t length;
    if (!file)
        return tide_fail("%s: %s", name, strerrordesc_np(errno));
    while (out->length <= TIDE_QUERY_BYTES &&
           (length = fread(bytes, 1, sizeof(bytes), file)) > 0)
        tide_text_add_bytes(out, bytes, length);
    const bool failed = ferror(file) || out->failed;
    if (!input)
        (void)fclose(file);
    return failed ? tide_fail("%s: cannot be read", name) : -1;
}
