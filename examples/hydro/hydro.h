/* hydro/hydro.h - a gas in a box: what the parts of this example share.
 *
 * The gas is ideal, the box a grid of cubes with walls that reflect.  Each cell holds its
 * density, momentum and energy; in each cycle the three directions are swept in turn, by
 * a method of second order (linear states in each cell, half a step ahead, and the HLL
 * flux between them).  What leaves a cell enters its neighbour and nothing passes a wall,
 * so mass and energy stay what they were, to rounding.
 *
 *     hydro.c        arguments, the loop over cycles, what is printed
 *     hydro_gas.c    the grid, how it begins, and its sums
 *     hydro_step.c   one cycle
 *     hydro_sweep.c  one direction of it
 *     hydro_memory.c named arrays in named regions, told to tidemark and counted
 *     hydro_alone.c  one process; hydro_mpi.c: several, each with a slab of the box
 */
#ifndef HYDRO_H
#define HYDRO_H

#include <stdbool.h>
#include <stddef.h>

enum { HYDRO_X, HYDRO_Y, HYDRO_Z, HYDRO_AXES };

/* What a cell holds, per volume; and the same as what one sees of it: density, velocity
 * along the sweep and across it, pressure. */
enum { HYDRO_DENSITY, HYDRO_MOMENTUM, HYDRO_ENERGY = 4, HYDRO_FIELDS };
enum { HYDRO_RHO, HYDRO_ALONG, HYDRO_ACROSS, HYDRO_PRESSURE = 4 };

/* Layers of cells beyond each face of the grid that mirror it, or belong to a neighbour. */
enum { HYDRO_GHOSTS = 2 };

#define HYDRO_GAMMA 1.4

struct hydro_gas {
    int cells[HYDRO_AXES];       /* of this process, without ghosts */
    size_t stride[HYDRO_AXES];   /* from a cell to the next, along each axis */
    size_t volume;               /* cells with ghosts */
    int first_z, total_z;        /* this process's slab of the box */
    double width;                /* of a cell; the box is 1 long in x */
    double *field[HYDRO_FIELDS]; /* owned: volume values each */
};

struct hydro_sums {
    double mass, energy, densest;
};

/* What a sweep needs to know besides the gas. */
struct hydro_sweep {
    int axis;
    double ratio; /* of the time step to the width of a cell */
};

static inline size_t hydro_at(const struct hydro_gas *gas, int x, int y, int z)
{
    return (size_t)(x + HYDRO_GHOSTS) * gas->stride[HYDRO_X] +
           (size_t)(y + HYDRO_GHOSTS) * gas->stride[HYDRO_Y] +
           (size_t)(z + HYDRO_GHOSTS) * gas->stride[HYDRO_Z];
}

/* --- hydro_gas.c --- */

/* A gas at rest in a box of CELLS: a hot ball in its middle, or with TUBE two halves, the
 * left one under pressure (Sod's shock tube). */
void hydro_gas_init(struct hydro_gas *gas, const int *cells, bool tube);
void hydro_gas_release(struct hydro_gas *gas);
struct hydro_sums hydro_gas_sums(const struct hydro_gas *gas);

/* The pressure in CELL. */
double hydro_pressure(const struct hydro_gas *gas, size_t cell);

/* --- hydro_step.c --- */

/* The longest time step that is stable. */
double hydro_time_step(const struct hydro_gas *gas);
/* Cycle number CYCLE, of STEP. */
void hydro_advance(struct hydro_gas *gas, double step, int cycle);

/* --- hydro_sweep.c --- */

/* What moves along one axis.  Its ghosts are up to date. */
void hydro_sweep(struct hydro_gas *gas, struct hydro_sweep sweep);

/* --- hydro_memory.c --- */

/* A region of the program begins and ends; only the main thread says so. */
void hydro_enter(const char *region);
void hydro_leave(const char *region);
void hydro_enter_loop(const char *loop);
void hydro_leave_loop(const char *loop);

/* An array of doubles named LABEL, with up to four dimensions, the slowest first; 0 ends
 * them early.  Any thread may make one; it is given back with hydro_drop(). */
double *hydro_array(const char *label, const size_t shape[4]);
/* The same, grown or shrunk to COUNT doubles; what it held is kept. */
double *hydro_regrow(double *array, const char *label, size_t count);
void hydro_drop(double *array);

/* Print, as JSON, how many allocations of how many bytes each region and each label made:
 * the truth that reports can be compared with. */
void hydro_print_counts(void);

/* --- hydro_alone.c, hydro_mpi.c --- */

void hydro_start(int *argc, char ***argv);
void hydro_end(void);
int hydro_rank(void);
int hydro_ranks(void);
double hydro_least(double value);
double hydro_most(double value);
double hydro_sum(double value);
/* Send COUNT doubles to the process below (SIDE 0) or above (1) and receive as many from
 * it.  False where the box ends instead. */
bool hydro_swap(int side, const double *send, double *receive, size_t count);
bool hydro_has_neighbour(int side);

#endif
