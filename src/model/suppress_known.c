/* model/suppress_known.c - what the libraries of every program keep on purpose, once.
 *
 * Who asked the C library is looked at, not what it does inside: libc is mostly installed
 * without the names of its local functions.  Functions whose result the caller must free
 * are not here.
 */
#include "model/suppress_known.h"

#include <stddef.h>
#include <string.h>

#include "model/leak.h"

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static const char *module_at(const struct tide_paths *paths, size_t call)
{
    return tide_path_base(paths->functions[paths->calls[call].function].module);
}

static bool is_loader(const char *module)
{
    return starts_with(module, "ld-linux") || starts_with(module, "ld-2.") ||
           starts_with(module, "ld.so");
}

static bool is_libc(const char *module)
{
    return starts_with(module, "libc.so") || starts_with(module, "libc-2.");
}

/* Functions of libc that keep what they allocate, for the next call or for good. */
static bool is_keeper(const char *name)
{
    static const char *const names[] = {
        /* locales and messages */
        "setlocale",
        "textdomain",
        "bindtextdomain",
        "bind_textdomain_codeset",
        "gettext",
        "dgettext",
        "dcgettext",
        "ngettext",
        "dngettext",
        "dcngettext",
        /* time zones */
        "tzset",
        "localtime",
        "localtime_r",
        "mktime",
        "strftime",
        "ctime",
        /* the environment, and what runs at the end */
        "setenv",
        "putenv",
        "unsetenv",
        "atexit",
        "on_exit",
        "__cxa_atexit",
        "__cxa_thread_atexit_impl",
        "pthread_atfork",
        /* users, groups, hosts: one buffer for all calls */
        "getpwnam",
        "getpwuid",
        "getpwent",
        "getgrnam",
        "getgrgid",
        "getgrent",
        "gethostbyname",
        "gethostbyaddr",
        "getservbyname",
        "getservbyport",
        "getprotobyname",
        "getlogin",
        "ttyname",
        /* texts of the last error */
        "strerror",
        "strsignal",
        "perror",
        "dlerror",
        "syslog",
        "openlog",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Of the calls inside libc, from the innermost outwards. */
static const char *known_of_libc(const struct tide_paths *paths)
{
    const char *entry = "";
    for (size_t i = 0; i < paths->call_count && is_libc(module_at(paths, i)); i++) {
        entry = paths->functions[paths->calls[i].function].name;
        if (strcmp(entry, "_IO_file_doallocate") == 0)
            return "the C library: buffers of open streams";
    }
    return is_keeper(entry) ? "the C library: kept for its next call" : NULL;
}

const char *tide_suppression_known(const struct tide_paths *paths)
{
    const size_t count = paths->call_count;
    if (count == 0)
        return NULL;
    if (is_loader(module_at(paths, 0)))
        return "the loader: libraries and threads";
    if (starts_with(module_at(paths, 0), "libstdc++") &&
        is_loader(module_at(paths, count - 1)))
        return "the C++ library: set up before main";
    return known_of_libc(paths);
}

bool tide_site_grows(const struct tide_model *model, uint32_t site)
{
    return model->survivals && model->survivals[site].blocks > 0 &&
           tide_leak_judge(model, &model->survivals[site]).kind == TIDE_LEAK_GROWING;
}
