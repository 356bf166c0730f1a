/* tests/bench/loads/compute.c - much arithmetic, few allocations: compute ROUNDS. */
#include <stdlib.h>

enum { SIDE = 128 };

static double *matrix(double seed)
{
    double *cells = malloc(sizeof(double) * SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        cells[i] = seed + i % 7;
    return cells;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    double trace = 0;
    for (int r = 0; r < rounds; r++) {
        double *a = matrix(r), *b = matrix(1), *c = calloc(SIDE * SIDE, sizeof(double));
        for (int i = 0; i < SIDE; i++)
            for (int k = 0; k < SIDE; k++)
                for (int j = 0; j < SIDE; j++)
                    c[i * SIDE + j] += a[i * SIDE + k] * b[k * SIDE + j];
        trace += c[r % SIDE * SIDE + r % SIDE];
        free(a);
        free(b);
        free(c);
    }
    return trace == 0;
}
