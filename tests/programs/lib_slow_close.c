/* tests/programs/lib_slow_close.c - to be preloaded: dlclose is slow to return.
 *
 * When the library has gone, what the program has put into after_close is called first.
 */
#include <dlfcn.h>
#include <string.h>

extern void (*after_close)(void);
void (*after_close)(void);

int dlclose(void *library)
{
    int (*real)(void *);
    void *const symbol = dlsym(RTLD_NEXT, "dlclose");
    memcpy(&real, &symbol, sizeof(real));
    const int status = real(library);
    if (after_close)
        after_close();
    return status;
}
