/* hydro/hydro_step.c - one cycle: how long it may be, and its three sweeps. */
#include <math.h>
#include <string.h>

#include "hydro.h"

#define COURANT 0.4 /* the part of a cell that a signal may cross in a cycle */

/* The fastest signal in plane Z, along any axis. */
static double plane_speed(const struct hydro_gas *gas, int z)
{
    double fastest = 0.0;
    for (int y = 0; y < gas->cells[HYDRO_Y]; y++)
        for (int x = 0; x < gas->cells[HYDRO_X]; x++) {
            const size_t cell = hydro_at(gas, x, y, z);
            const double density = gas->field[HYDRO_DENSITY][cell];
            const double sound =
                sqrt(HYDRO_GAMMA * hydro_pressure(gas, cell) / density);
            for (int axis = 0; axis < HYDRO_AXES; axis++) {
                const double flow = gas->field[HYDRO_MOMENTUM + axis][cell] / density;
                fastest = fmax(fastest, fabs(flow) + sound);
            }
        }
    return fastest;
}

double hydro_time_step(const struct hydro_gas *gas)
{
    hydro_enter("time_step");
    const int planes = gas->cells[HYDRO_Z];
    double *const speed = hydro_array("plane_speed", (size_t[4]){(size_t)planes});
#pragma omp parallel for
    for (int z = 0; z < planes; z++)
        speed[z] = plane_speed(gas, z);
    double fastest = 0.0;
    for (int z = 0; z < planes; z++)
        fastest = fmax(fastest, speed[z]);
    hydro_drop(speed);
    hydro_leave("time_step");
    return hydro_least(COURANT * gas->width / fastest);
}

/* Where the layer begins that is DEEP cells inside (negative: outside) the wall at SIDE of
 * AXIS. */
static size_t layer_start(const struct hydro_gas *gas, int axis, int side, int deep)
{
    const int place = side ? gas->cells[axis] - 1 - deep : deep;
    return (size_t)(place + HYDRO_GHOSTS) * gas->stride[axis];
}

/* A wall: the ghosts are the mirror image of the cells before it. */
static void mirror(struct hydro_gas *gas, int axis, int side)
{
    const int one = (axis + 1) % HYDRO_AXES;
    const int two = (axis + 2) % HYDRO_AXES;
    const int rows = gas->cells[one] + 2 * HYDRO_GHOSTS;
    const int columns = gas->cells[two] + 2 * HYDRO_GHOSTS;
    for (int layer = 0; layer < HYDRO_GHOSTS; layer++) {
        const size_t from = layer_start(gas, axis, side, layer);
        const size_t to = layer_start(gas, axis, side, -1 - layer);
        for (int i = 0; i < rows * columns; i++) {
            const size_t offset = (size_t)(i % rows) * gas->stride[one] +
                                  (size_t)(i / rows) * gas->stride[two];
            for (int f = 0; f < HYDRO_FIELDS; f++) {
                const double sign = f == HYDRO_MOMENTUM + axis ? -1.0 : 1.0;
                gas->field[f][to + offset] = sign * gas->field[f][from + offset];
            }
        }
    }
}

/* The neighbour's cells at SIDE of this slab: planes are contiguous. */
static void fetch(struct hydro_gas *gas, int side)
{
    const size_t plane = gas->stride[HYDRO_Z];
    const size_t planes = HYDRO_GHOSTS * plane;
    const size_t shape[4] = {HYDRO_FIELDS, HYDRO_GHOSTS, plane};
    double *const send = hydro_array("halo_send", shape);
    double *const receive = hydro_array("halo_receive", shape);
    const int inside = side ? HYDRO_GHOSTS - 1 : 0;
    const int outside = side ? -1 : -HYDRO_GHOSTS;
    const size_t from = layer_start(gas, HYDRO_Z, side, inside);
    const size_t to = layer_start(gas, HYDRO_Z, side, outside);
    for (int f = 0; f < HYDRO_FIELDS; f++)
        memcpy(send + (size_t)f * planes, gas->field[f] + from, planes * sizeof(*send));
    hydro_swap(side, send, receive, HYDRO_FIELDS * planes);
    for (int f = 0; f < HYDRO_FIELDS; f++)
        memcpy(gas->field[f] + to, receive + (size_t)f * planes,
               planes * sizeof(*send));
    hydro_drop(receive);
    hydro_drop(send);
}

static void fill_ghosts(struct hydro_gas *gas, int axis)
{
    hydro_enter("fill_ghosts");
    for (int side = 0; side < 2; side++)
        if (axis == HYDRO_Z && hydro_has_neighbour(side))
            fetch(gas, side);
        else
            mirror(gas, axis, side);
    hydro_leave("fill_ghosts");
}

void hydro_advance(struct hydro_gas *gas, double step, int cycle)
{
    static const char *const NAMES[HYDRO_AXES] = {"sweep_x", "sweep_y", "sweep_z"};
    hydro_enter("advance");
    for (int i = 0; i < HYDRO_AXES; i++) {
        /* Forth and back in turn: so the order of the axes leaves no trace. */
        const int axis = cycle % 2 ? HYDRO_Z - i : i;
        hydro_enter(NAMES[axis]);
        fill_ghosts(gas, axis);
        hydro_sweep(gas, (struct hydro_sweep){axis, step / gas->width});
        hydro_leave(NAMES[axis]);
    }
    hydro_leave("advance");
}
