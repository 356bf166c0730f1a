/* inputs/two_ranks.c - two ranks that hand blocks to each other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long sum = 0, total = 0;
    for (int n = 1; n <= 200; n++) {
        long *const block = calloc((size_t)n * 100, sizeof(*block));
        for (int i = 0; i < n * 100; i++)
            block[i] = rank + i;
        MPI_Sendrecv_replace(block, n * 100, MPI_LONG, (rank + 1) % size, 0,
                             (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        for (int i = 0; i < n * 100; i++)
            sum += block[i];
        free(block);
    }
    MPI_Reduce(&sum, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %ld\n", size, total);
    MPI_Finalize();
    return 0;
}
