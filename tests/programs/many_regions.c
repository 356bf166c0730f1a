/* tests/programs/many_regions.c - 20,000 regions with a call in each. */
#include <stdio.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

int main(void)
{
    char name[32];
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "region %d", i);
        tide_region_begin(name);
        free(malloc(10));
        tide_region_end(name);
    }
    return 0;
}
