/* tests/programs/keeps.c - one call of the C library.
 *
 * `keeps kept NAME` where libc keeps what it allocates, `keeps leaked NAME` where the
 * caller should have freed it; without arguments it lists both, a line each.
 */
#include <dlfcn.h>
#include <grp.h>
#include <libintl.h>
#include <locale.h>
#include <netdb.h>
#include <printf.h>
#include <pthread.h>
#include <pwd.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static const time_t then = 1000000000;
static struct tm parts = {.tm_year = 100, .tm_mday = 1};
static char buffer[512];
static void *volatile kept;

/* --- Kept by libc ---------------------------------------------------------------------- */

static void do_tzset(void)
{
    tzset();
}

static void do_localtime(void)
{
    kept = localtime(&then);
}

static void do_localtime_r(void)
{
    kept = localtime_r(&then, &parts);
}

static void do_gmtime(void)
{
    kept = gmtime(&then);
}

static void do_gmtime_r(void)
{
    kept = gmtime_r(&then, &parts);
}

static void do_ctime(void)
{
    kept = ctime(&then);
}

static void do_mktime(void)
{
    (void)mktime(&parts);
}

static void do_strftime(void)
{
    (void)strftime(buffer, sizeof(buffer), "%Z", &parts);
}

static void do_setenv(void)
{
    (void)setenv("KEEPS", "yes", 1);
}

static void do_putenv(void)
{
    (void)putenv("KEEPS=yes");
}

static void nothing(void)
{
}

static void do_pthread_atfork(void)
{
    for (int i = 0; i < 99; i++)
        (void)pthread_atfork(nothing, nothing, nothing);
}

static void do_atexit(void)
{
    for (int i = 0; i < 99; i++)
        (void)atexit(nothing);
}

static void do_dlopen(void)
{
    kept = dlopen("/nowhere.so", RTLD_NOW);
}

static void do_dlerror(void)
{
    do_dlopen();
    kept = dlerror();
}

static void do_strerror(void)
{
    kept = strerror(99999);
}

static void do_strsignal(void)
{
    kept = strsignal(999);
}

static void do_syslog(void)
{
    syslog(LOG_DEBUG, "keeps");
}

static void do_setlocale(void)
{
    kept = setlocale(LC_ALL, "C.UTF-8");
}

static void do_newlocale(void)
{
    freelocale(newlocale(LC_ALL_MASK, "C.UTF-8", NULL));
}

static void do_mbstowcs(void)
{
    wchar_t wide[8];
    do_setlocale();
    (void)mbstowcs(wide, "keeps", 8);
}

static void do_gettext(void)
{
    (void)setenv("LANGUAGE", "de", 1);
    do_setlocale();
    kept = bindtextdomain("keeps", "/nowhere");
    kept = textdomain("keeps");
    kept = gettext("keeps");
}

static void do_getpwnam(void)
{
    kept = getpwnam("root");
}

static void do_getgrnam(void)
{
    kept = getgrnam("root");
}

static void do_getservbyname(void)
{
    kept = getservbyname("http", "tcp");
}

static void do_getpwnam_r(void)
{
    struct passwd found, *result;
    (void)getpwnam_r("root", &found, buffer, sizeof(buffer), &result);
}

static struct addrinfo *ask(void)
{
    struct addrinfo *found = NULL;
    return getaddrinfo("localhost", "80", NULL, &found) ? NULL : found;
}

static void do_getaddrinfo(void)
{
    struct addrinfo *const found = ask();
    if (found)
        freeaddrinfo(found);
}

/* What is registered here formats nothing. */
static int print(FILE *out, const struct printf_info *info,
                 const void *const *arguments)
{
    (void)out, (void)info, (void)arguments;
    return 0;
}

static int count(const struct printf_info *info, size_t n, int *types, int *sizes)
{
    (void)info, (void)n, (void)types, (void)sizes;
    return 0;
}

static void do_register_printf(void)
{
    (void)register_printf_specifier('Q', print, count);
    (void)register_printf_modifier(L"Q");
}

/* --- The caller's ---------------------------------------------------------------------- */

static void leak_strdup(void)
{
    kept = strdup("keeps");
}

static void leak_realpath(void)
{
    kept = realpath("/", NULL);
}

static void leak_getcwd(void)
{
    kept = getcwd(NULL, 0);
}

static void leak_getaddrinfo(void)
{
    kept = ask();
}

static void leak_newlocale(void)
{
    kept = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
}

static void leak_fopen(void)
{
    kept = fopen("/dev/null", "r");
}

static int compare(const void *one, const void *two)
{
    return strcmp(one, two);
}

static void leak_tsearch(void)
{
    static void *tree;
    kept = tsearch("keeps", &tree, compare);
}

static void leak_asprintf(void)
{
    char *text = NULL;
    (void)asprintf(&text, "%d", 5);
    kept = text;
}

static void leak_getline(void)
{
    char *line = NULL;
    size_t size = 0;
    FILE *const file = fopen("/proc/self/status", "r");
    (void)getline(&line, &size, file);
    (void)fclose(file);
    kept = line;
}

static const struct {
    const char *kind, *name;
    void (*call)(void);
} CALLS[] = {
#define KEPT(name)               \
    {                            \
        "kept", #name, do_##name \
    }
    KEPT(tzset),       KEPT(localtime),   KEPT(localtime_r),     KEPT(gmtime),
    KEPT(gmtime_r),    KEPT(ctime),       KEPT(mktime),          KEPT(strftime),
    KEPT(setenv),      KEPT(putenv),      KEPT(pthread_atfork),  KEPT(atexit),
    KEPT(dlopen),      KEPT(dlerror),     KEPT(strerror),        KEPT(strsignal),
    KEPT(syslog),      KEPT(setlocale),   KEPT(newlocale),       KEPT(mbstowcs),
    KEPT(gettext),     KEPT(getpwnam),    KEPT(getgrnam),        KEPT(getservbyname),
    KEPT(getpwnam_r),  KEPT(getaddrinfo), KEPT(register_printf),
#define LEAKED(name)                 \
    {                                \
        "leaked", #name, leak_##name \
    }
    LEAKED(strdup),    LEAKED(realpath),  LEAKED(getcwd),        LEAKED(getaddrinfo),
    LEAKED(newlocale), LEAKED(fopen),     LEAKED(tsearch),       LEAKED(asprintf),
    LEAKED(getline),
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++) {
        if (argc < 3)
            (void)printf("%s %s\n", CALLS[i].kind, CALLS[i].name);
        else if (strcmp(CALLS[i].kind, argv[1]) == 0 &&
                 strcmp(CALLS[i].name, argv[2]) == 0)
            CALLS[i].call();
    }
    return 0;
}
