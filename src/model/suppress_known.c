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

#define TIDE_BEFORE_START "[before start]" /* as tide_synthetic_name() has it */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static const char *module_at(const struct tide_paths *paths, size_t call)
{
    return tide_path_base(paths->functions[paths->calls[call].function].module);
}

static const struct tide_function *function_at(const struct tide_paths *paths,
                                               size_t call)
{
    return &paths->functions[paths->calls[call].function];
}

/* Does the stack end at CALL because nothing further out was looked for yet? */
static bool is_cut_at(const struct tide_paths *paths, size_t call)
{
    return call + 1 == paths->call_count &&
           strcmp(function_at(paths, call)->name, TIDE_BEFORE_START) == 0;
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

/* Functions inside libc that do nothing else but keep: before the start of a program they
 * are all that is known of who asked. */
static bool is_kept_inside(const char *name)
{
    static const char *const names[] = {
        "set_binding_values", "_nl_find_domain",        "_nl_load_domain",
        "_nl_make_l10nflist", "_nl_intern_locale_data", "_nl_expand_alias",
        "_nl_load_locale",    "new_composite_name",     "_nl_normalize_codeset",
        "__new_exitfn",       "__add_to_environ",       "__textdomain",
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
    size_t i = 0;
    for (; i < paths->call_count && is_libc(module_at(paths, i)); i++) {
        entry = function_at(paths, i)->name;
        if (strcmp(entry, "_IO_file_doallocate") == 0)
            return "the C library: buffers of open streams";
    }
    const bool kept =
        is_keeper(entry) || (is_kept_inside(entry) && is_cut_at(paths, i));
    return kept ? "the C library: kept for its next call" : NULL;
}

/* The memory for exceptions that are thrown when there is none left.  It may be linked
 * into any module, where it has its name. */
static bool is_exception_pool(const struct tide_function *function)
{
    return strcmp(function->name, "_GLOBAL__sub_I_eh_alloc.cc") == 0 ||
           strcmp(function->name, "(anonymous namespace)::pool::pool()") == 0 ||
           strcmp(function->name, "(anonymous namespace)::pool::pool") == 0;
}

/* Did libstdc++ set itself up?  What is called there by the constructors of others is
 * theirs.  Its own are nameless where it is installed without local names. */
static bool is_cxx_setup(const struct tide_paths *paths)
{
    size_t i = 0;
    if (is_exception_pool(function_at(paths, 0)))
        return true;
    while (i < paths->call_count && starts_with(module_at(paths, i), "libstdc++"))
        i++;
    if (i == 0 || i == paths->call_count)
        return false;
    return tide_path_is_loader(module_at(paths, i)) ||
           (is_cut_at(paths, i) && !function_at(paths, i - 1)->resolved);
}

const char *tide_suppression_known(const struct tide_paths *paths)
{
    if (paths->call_count == 0)
        return NULL;
    if (tide_path_is_loader(module_at(paths, 0)))
        return "the loader: libraries and threads";
    if (is_cxx_setup(paths))
        return "the C++ library: set up before main";
    return known_of_libc(paths);
}

bool tide_site_grows(const struct tide_model *model, uint32_t site)
{
    return model->survivals && model->survivals[site].blocks > 0 &&
           tide_leak_judge(model, &model->survivals[site]).kind == TIDE_LEAK_GROWING;
}
