/* tests/programs/crossed.c - regions that do not end as they began. */
#include <stdlib.h>

#include <tidemark/tidemark.h>

int main(void)
{
    tide_region_begin("outer");
    tide_region_begin("inner");
    tide_region_begin("inmost");
    tide_region_end("outer"); /* and with it the others */
    tide_region_begin("next");
    tide_region_end("nothing"); /* that never began */
    void *volatile block = malloc(100);
    tide_region_end("next");
    free(block);
    return 0;
}
