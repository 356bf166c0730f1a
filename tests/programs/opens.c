/* tests/programs/opens.c - open a library so many times, and close it: opens TIMES FILE.
 *
 * Prints what its function use() says, if it has one.  In between addresses are taken, so that
 * nothing comes back to where it was.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    const int times = argc > 2 ? atoi(argv[1]) : 0;
    for (int i = 0; i < times; i++) {
        void *const library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
        if (!library)
            return 2;
        int (*const use)(void) = (int (*)(void))dlsym(library, "use");
        printf("opened %d\n", use ? use() : 0);
        dlclose(library);
        for (int k = 0; k < 40; k++)
            (void)mmap(NULL, 4096ul << k % 11, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    }
    return times > 0 ? 0 : 2;
}
