/* hydro/hydro_gas.c - the grid, how it begins, and its sums. */
#include <math.h>

#include "hydro.h"

static const char *const FIELD_NAMES[HYDRO_FIELDS] = {
    "density", "momentum_x", "momentum_y", "momentum_z", "energy",
};

/* The slab of this process: the first ones are a plane thicker where it does not divide. */
static void take_slab(struct hydro_gas *gas, const int *cells)
{
    const int ranks = hydro_ranks();
    const int rank = hydro_rank();
    const int each = cells[HYDRO_Z] / ranks;
    const int more = cells[HYDRO_Z] % ranks;
    gas->cells[HYDRO_X] = cells[HYDRO_X];
    gas->cells[HYDRO_Y] = cells[HYDRO_Y];
    gas->cells[HYDRO_Z] = each + (rank < more ? 1 : 0);
    gas->first_z = each * rank + (rank < more ? rank : more);
    gas->total_z = cells[HYDRO_Z];
    gas->width = 1.0 / cells[HYDRO_X];
}

static void make_fields(struct hydro_gas *gas)
{
    size_t shape[4] = {0};
    gas->volume = 1;
    for (int axis = 0; axis < HYDRO_AXES; axis++) {
        gas->stride[axis] = gas->volume;
        shape[HYDRO_Z - axis] = (size_t)gas->cells[axis] + 2 * HYDRO_GHOSTS;
        gas->volume *= shape[HYDRO_Z - axis];
    }
    hydro_enter("allocate_fields");
    for (int i = 0; i < HYDRO_FIELDS; i++)
        gas->field[i] = hydro_array(FIELD_NAMES[i], shape);
    hydro_leave("allocate_fields");
}

/* How far the middle of a cell is from the middle of the box. */
static double from_middle(const struct hydro_gas *gas, int x, int y, int z)
{
    const double dx = x + 0.5 - 0.5 * gas->cells[HYDRO_X];
    const double dy = y + 0.5 - 0.5 * gas->cells[HYDRO_Y];
    const double dz = z + gas->first_z + 0.5 - 0.5 * gas->total_z;
    return gas->width * sqrt(dx * dx + dy * dy + dz * dz);
}

static void fill_cell(struct hydro_gas *gas, const int *place, bool tube)
{
    const size_t cell = hydro_at(gas, place[0], place[1], place[2]);
    double density = 1.0;
    double pressure = 0.1;
    if (tube) {
        const bool left = 2 * place[0] < gas->cells[HYDRO_X];
        density = left ? 1.0 : 0.125;
        pressure = left ? 1.0 : 0.1;
    } else if (from_middle(gas, place[0], place[1], place[2]) < 0.15) {
        pressure = 10.0;
    }
    gas->field[HYDRO_DENSITY][cell] = density;
    gas->field[HYDRO_ENERGY][cell] = pressure / (HYDRO_GAMMA - 1.0);
}

void hydro_gas_init(struct hydro_gas *gas, const int *cells, bool tube)
{
    hydro_enter("initialise");
    take_slab(gas, cells);
    make_fields(gas);
    for (int z = 0; z < gas->cells[HYDRO_Z]; z++)
        for (int y = 0; y < gas->cells[HYDRO_Y]; y++)
            for (int x = 0; x < gas->cells[HYDRO_X]; x++)
                fill_cell(gas, (const int[]){x, y, z}, tube);
    hydro_leave("initialise");
}

void hydro_gas_release(struct hydro_gas *gas)
{
    for (int i = 0; i < HYDRO_FIELDS; i++)
        hydro_drop(gas->field[i]);
}

double hydro_pressure(const struct hydro_gas *gas, size_t cell)
{
    double squares = 0.0;
    for (int axis = 0; axis < HYDRO_AXES; axis++) {
        const double momentum = gas->field[HYDRO_MOMENTUM + axis][cell];
        squares += momentum * momentum;
    }
    const double motion = 0.5 * squares / gas->field[HYDRO_DENSITY][cell];
    return (HYDRO_GAMMA - 1.0) * (gas->field[HYDRO_ENERGY][cell] - motion);
}

static void add_cell(const struct hydro_gas *gas, size_t cell, struct hydro_sums *sums)
{
    const double volume = gas->width * gas->width * gas->width;
    const double density = gas->field[HYDRO_DENSITY][cell];
    sums->mass += volume * density;
    sums->energy += volume * gas->field[HYDRO_ENERGY][cell];
    if (density > sums->densest)
        sums->densest = density;
}

struct hydro_sums hydro_gas_sums(const struct hydro_gas *gas)
{
    struct hydro_sums sums = {0};
    for (int z = 0; z < gas->cells[HYDRO_Z]; z++)
        for (int y = 0; y < gas->cells[HYDRO_Y]; y++)
            for (int x = 0; x < gas->cells[HYDRO_X]; x++)
                add_cell(gas, hydro_at(gas, x, y, z), &sums);
    sums.mass = hydro_sum(sums.mass);
    sums.energy = hydro_sum(sums.energy);
    sums.densest = hydro_most(sums.densest);
    return sums;
}
