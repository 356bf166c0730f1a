/* tests/programs/old_names.c - free as programs called it that were linked long ago. */
#include <stdlib.h>

#include "say.h"

enum { TIMES = 300 };

__asm__(".symver cfree, cfree@GLIBC_2.2.5");
void cfree(void *block);

int main(void)
{
    for (int i = 0; i < TIMES; i++) {
        void *volatile block = malloc(100);
        cfree(block);
    }
    say("done\n");
    return 0;
}
