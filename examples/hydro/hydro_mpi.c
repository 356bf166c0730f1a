/* hydro/hydro_mpi.c - several processes, each with a slab of the box, by MPI. */
#include <mpi.h>

#include "hydro.h"

void hydro_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
}

void hydro_end(void)
{
    MPI_Finalize();
}

int hydro_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int hydro_ranks(void)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

static double over_all(double value, MPI_Op operation)
{
    double result;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return result;
}

double hydro_least(double value)
{
    return over_all(value, MPI_MIN);
}

double hydro_most(double value)
{
    return over_all(value, MPI_MAX);
}

double hydro_sum(double value)
{
    return over_all(value, MPI_SUM);
}

static int neighbour(int side)
{
    return hydro_rank() + (side ? 1 : -1);
}

bool hydro_has_neighbour(int side)
{
    return neighbour(side) >= 0 && neighbour(side) < hydro_ranks();
}

bool hydro_swap(int side, const double *send, double *receive, size_t count)
{
    if (!hydro_has_neighbour(side))
        return false;
    const int other = neighbour(side);
    MPI_Sendrecv(send, (int)count, MPI_DOUBLE, other, 0, receive, (int)count,
                 MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
}
