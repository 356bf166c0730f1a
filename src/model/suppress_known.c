/* model/suppress_known.c - what the libraries of every program keep on purpose, once.
 *
 * Who asked the C library is looked at first: libc is mostly installed without the names
 * of its local functions.  Where it has them, they count too: localtime() jumps to
 * __tz_convert(), and is not on the stack.  Functions whose result the caller must free
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

/* One function of libc has many names, of which debugging information knows any:
 * dlerror, __dlerror, __GI___dlerror. */
static const char *plain_name(const char *name)
{
    name += strspn(name, "_");
    if (starts_with(name, "GI_"))
        name += strlen("GI_");
    return name + strspn(name, "_");
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    name = plain_name(name);
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Functions of libc that keep what they allocate, for the next call or for good. */
static const char *const KEEPERS[] = {
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
    "gmtime",
    "gmtime_r",
    "mktime",
    "strftime",
    "ctime",
    /* the environment, and what runs at the end */
    "setenv",
    "putenv",
    "unsetenv",
    "atexit",
    "on_exit",
    "cxa_atexit",
    "cxa_thread_atexit_impl",
    "pthread_atfork",
    "register_atfork",
    /* users, groups, hosts: one buffer for all calls */
    "getpwnam",
    "getpwnam_r",
    "getpwuid",
    "getpwuid_r",
    "getpwent",
    "getgrnam",
    "getgrnam_r",
    "getgrgid",
    "getgrgid_r",
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
    "strerror_l",
    "strsignal",
    "perror",
    "dlerror",
    "dlopen",
    "dlsym",
    "dlclose",
    "syslog",
    "openlog",
    /* how characters of the locale are converted */
    "mbstowcs",
    "mbsrtowcs",
    "mbrtowc",
    "mbtowc",
    "wcstombs",
    "wcsrtombs",
    "wcrtomb",
    "wctomb",
    "btowc",
    /* what printf() is taught: libquadmath does so in every program in Fortran */
    "register_printf_specifier",
    "register_printf_modifier",
    "register_printf_type",
};

/* Functions inside libc that do nothing else but keep, whoever asked. */
static const char *const KEPT_INSIDE[] = {
    /* time zones */
    "tz_convert",
    "tzset_internal",
    "tzfile_read",
    /* the environment, and what runs at the end */
    "add_to_environ",
    "new_exitfn",
    /* the last error of dlopen() */
    "dlerror_run",
    /* locales, but not newlocale()'s own block */
    "nl_find_locale",
    "nl_load_locale",
    "nl_intern_locale_data",
    "nl_make_l10nflist",
    "nl_normalize_codeset",
    "new_composite_name",
    /* messages, and how characters of the locale are converted */
    "set_binding_values",
    "nl_find_domain",
    "nl_load_domain",
    "nl_expand_alias",
    "dcigettext",
    "wcsmbs_load_conv",
    /* where names of users and hosts are looked up; not what is found there */
    "nss_database_get",
    "nss_database_state_get",
    "nss_database_check_reload_and_get",
    "nss_module_allocate",
    "nss_action_parse",
    "resolv_context_get",
    "check_pf",
};

#define IS_ONE_OF(name, names) \
    is_one_of((name), (names), sizeof(names) / sizeof((names)[0]))

/* Of the calls inside libc, from the innermost outwards. */
static const char *known_of_libc(const struct tide_paths *paths)
{
    const char *entry = "";
    bool kept = false;
    size_t i = 0;
    for (; i < paths->call_count && is_libc(module_at(paths, i)); i++) {
        entry = function_at(paths, i)->name;
        if (strcmp(entry, "_IO_file_doallocate") == 0)
            return "the C library: buffers of open streams";
        kept |= IS_ONE_OF(entry, KEPT_INSIDE);
    }
    kept |= IS_ONE_OF(entry, KEEPERS);
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
