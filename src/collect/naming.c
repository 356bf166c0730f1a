/* collect/naming.c - what a new trace is called. */
#include "collect/naming.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "collect/rank.h"

enum { TIDE_NAME_TRIES = 10000 };
static const char ENDING[] = ".tide";
static const char LETTERS[] = "phern%";

/* A device, a pipe or a socket: whoever names one does not mean a file beside it.  One that
 * is named as a trace is in the way of it, as any file of that name. */
static bool is_special(const char *name, size_t length)
{
    const size_t ending = strlen(ENDING);
    struct stat facts;
    if (length >= ending && strcmp(name + length - ending, ENDING) == 0)
        return false;
    return stat(name, &facts) == 0 && !S_ISREG(facts.st_mode) &&
           !S_ISDIR(facts.st_mode);
}

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What can be nothing but a folder.  Beside one that is there, "results" is a name. */
static bool is_folder(const char *name)
{
    const char *const base = base_name(name);
    return base[0] == '\0' || strcmp(base, ".") == 0 || strcmp(base, "..") == 0;
}

struct tide_name_fault tide_name_check(const char *pattern)
{
    struct tide_name_fault fault = {""};
    const size_t length = strlen(pattern);
    if (length == 0)
        (void)snprintf(fault.text, sizeof(fault.text), "a trace needs a name");
    else if (is_folder(pattern))
        (void)snprintf(fault.text, sizeof(fault.text),
                       "this is a folder; give a name in it, as in FOLDER/%%e.%%p");
    else if (is_special(pattern, length))
        (void)snprintf(fault.text, sizeof(fault.text),
                       "a trace is a file of its own, not a device or a pipe");
    const char *at = strchr(pattern, '%');
    while (at && at[1] && strchr(LETTERS, at[1]))
        at = strchr(at + 2, '%');
    if (at && !at[1] && !fault.text[0])
        (void)snprintf(fault.text, sizeof(fault.text),
                       "a letter is missing after the last %%; %%%% is a percent sign");
    else if (at && !fault.text[0])
        (void)snprintf(fault.text, sizeof(fault.text),
                       "unknown %%%.1s; there are %%p, %%h, %%e, %%r, %%n and %%%%",
                       at + 1);
    return fault;
}

static const char *rank(void)
{
    for (size_t i = 0; tide_rank_variables[i]; i++) {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): before there is a second thread
        const char *const value = getenv(tide_rank_variables[i]);
        /* It becomes part of a file name. */
        if (value && *value && strspn(value, "0123456789") == strlen(value))
            return value;
    }
    return "0";
}

static void add_host(struct tide_text *out)
{
    char host[256] = "";
    (void)gethostname(host, sizeof(host) - 1);
    tide_text_add(out, host);
}

static void add_escape(struct tide_text *out, const struct tide_name_facts *facts,
                       char letter, unsigned number)
{
    switch (letter) {
    case 'p':
        tide_text_addf(out, "%u", (unsigned)facts->pid);
        break;
    case 'h':
        add_host(out);
        break;
    case 'e':
        tide_text_add(out, base_name(facts->program));
        break;
    case 'r':
        tide_text_add(out, rank());
        break;
    case 'n':
        tide_text_addf(out, "%u", number);
        break;
    case '%':
        tide_text_add(out, "%");
        break;
    default:
        tide_text_addf(out, "%%%c", letter);
        break;
    }
}

/* True when the pattern holds the number itself. */
static bool expand(struct tide_text *out, const struct tide_name_facts *facts,
                   unsigned number)
{
    const char *const pattern = facts->pattern ? facts->pattern : "%e.%p";
    bool counted = false;
    for (const char *at = pattern; *at; at++) {
        if (*at == '%' && at[1]) {
            at++;
            counted |= *at == 'n';
            add_escape(out, facts, *at, number);
        } else {
            tide_text_add_bytes(out, at, 1);
        }
    }
    return counted;
}

char *tide_name_expand(const struct tide_name_facts *facts, unsigned number)
{
    struct tide_text name = {0};
    const bool counted = expand(&name, facts, number);
    const size_t ending = strlen(ENDING);
    /* The ending comes off, so that the number goes before it. */
    if (!name.failed && name.length > ending &&
        strcmp(name.bytes + name.length - ending, ENDING) == 0 &&
        name.bytes[name.length - ending - 1] != '/') {
        name.length -= ending;
        name.bytes[name.length] = '\0';
    }
    if (number > 1 && !counted)
        tide_text_addf(&name, ".%u", number);
    tide_text_add(&name, ENDING);
    if (!name.failed)
        return name.bytes;
    tide_text_release(&name);
    return NULL;
}

enum tide_status tide_name_create(const struct tide_name_facts *facts,
                                  const struct tide_writer_start *start, char **name,
                                  struct tide_writer **out)
{
    enum tide_status status = TIDE_EEXIST;
    *out = NULL;
    *name = NULL;
    for (unsigned n = 1; n <= TIDE_NAME_TRIES && status == TIDE_EEXIST; n++) {
        free(*name);
        *name = tide_name_expand(facts, n);
        if (!*name) {
            errno = ENOMEM;
            return TIDE_ENOMEM;
        }
        status = tide_writer_create(*name, start, out);
    }
    return status;
}

char *tide_name_taken(const struct tide_name_facts *facts, const char *name)
{
    struct tide_text ignored = {0};
    const bool counted = expand(&ignored, facts, 1);
    tide_text_release(&ignored);
    char *const wanted = counted ? NULL : tide_name_expand(facts, 1);
    if (wanted && strcmp(wanted, name) != 0)
        return wanted;
    free(wanted);
    return NULL;
}
