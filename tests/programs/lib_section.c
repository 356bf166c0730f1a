/* tests/programs/lib_section.c - a library with a parallel section: brings libgomp along. */
#include <stdlib.h>

int use(void)
{
    int sum = 0;
#pragma omp parallel reduction(+ : sum) num_threads(1)
    {
        free(malloc(100));
        sum += 1;
    }
    return sum;
}
