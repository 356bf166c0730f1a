/* hydro/hydro_sweep.c - what moves along one axis.
 *
 * Rows of cells along the axis do not know of each other.  Rows are numbered along the
 * other two axes; a plane is all rows of equal second number, and what threads share out.
 */
#include <math.h>
#include <string.h>

#include "hydro.h"

static const char *const FLUX_NAMES[HYDRO_AXES] = {"flux_x", "flux_y", "flux_z"};

struct state {
    double value[HYDRO_FIELDS];
};

/* What a sweep computes with. */
struct work {
    struct hydro_gas *gas;
    struct hydro_sweep sweep;
    int one, two;      /* the other axes */
    int length;        /* cells of a row, without ghosts */
    double *primitive; /* volume values of each quantity */
    double *flux;      /* length + 1 values of each quantity, for each row */
};

static size_t row_start(const struct work *work, int row, int plane)
{
    const struct hydro_gas *gas = work->gas;
    return (size_t)(row + HYDRO_GHOSTS) * gas->stride[work->one] +
           (size_t)(plane + HYDRO_GHOSTS) * gas->stride[work->two];
}

static double *row_flux(const struct work *work, int row, int plane)
{
    const size_t number =
        (size_t)plane * (size_t)work->gas->cells[work->one] + (size_t)row;
    return work->flux + number * (size_t)(work->length + 1) * HYDRO_FIELDS;
}

/* Which momentum a quantity of a state is: the one along the sweep comes first. */
static int momentum_of(const struct work *work, int quantity)
{
    return HYDRO_MOMENTUM + (work->sweep.axis + quantity - HYDRO_ALONG) % HYDRO_AXES;
}

/* --- What one sees of a cell ------------------------------------------------------ */

static void primitive_row(const struct work *work, int row, int plane)
{
    const struct hydro_gas *gas = work->gas;
    const size_t step = gas->stride[work->sweep.axis];
    size_t cell = row_start(work, row, plane);
    for (int i = 0; i < work->length + 2 * HYDRO_GHOSTS; i++, cell += step) {
        const double density = gas->field[HYDRO_DENSITY][cell];
        double *const out = work->primitive + cell * HYDRO_FIELDS;
        out[HYDRO_RHO] = density;
        for (int q = HYDRO_ALONG; q < HYDRO_PRESSURE; q++)
            out[q] = gas->field[momentum_of(work, q)][cell] / density;
        out[HYDRO_PRESSURE] = hydro_pressure(gas, cell);
    }
}

static void compute_primitives(struct work *work)
{
    hydro_enter("primitives");
    const struct hydro_gas *gas = work->gas;
    size_t shape[4] = {0, 0, 0, HYDRO_FIELDS};
    for (int axis = 0; axis < HYDRO_AXES; axis++)
        shape[HYDRO_Z - axis] = (size_t)gas->cells[axis] + 2 * HYDRO_GHOSTS;
    work->primitive = hydro_array("primitive", shape);
#pragma omp parallel for
    for (int plane = 0; plane < gas->cells[work->two]; plane++)
        for (int row = 0; row < gas->cells[work->one]; row++)
            primitive_row(work, row, plane);
    hydro_leave("primitives");
}

/* --- What passes between cells ---------------------------------------------------- */

/* The slope that adds no new extremes. */
static double limited(double before, double after)
{
    if (before * after <= 0.0)
        return 0.0;
    return fabs(before) < fabs(after) ? before : after;
}

/* The states at both ends of the cell at AT, half a time step ahead. */
static void cell_ends(const double *at, size_t step, double ratio, struct state ends[2])
{
    double slope[HYDRO_FIELDS];
    for (int q = 0; q < HYDRO_FIELDS; q++)
        slope[q] = limited(at[q] - *(at + q - step), *(at + q + step) - at[q]);
    const double flow = at[HYDRO_ALONG];
    const double squeeze = slope[HYDRO_ALONG];
    double change[HYDRO_FIELDS];
    for (int q = 0; q < HYDRO_FIELDS; q++)
        change[q] = flow * slope[q];
    change[HYDRO_RHO] += at[HYDRO_RHO] * squeeze;
    change[HYDRO_ALONG] += slope[HYDRO_PRESSURE] / at[HYDRO_RHO];
    change[HYDRO_PRESSURE] += HYDRO_GAMMA * at[HYDRO_PRESSURE] * squeeze;
    for (int q = 0; q < HYDRO_FIELDS; q++) {
        const double middle = at[q] - 0.5 * ratio * change[q];
        ends[0].value[q] = middle - 0.5 * slope[q];
        ends[1].value[q] = middle + 0.5 * slope[q];
    }
}

static double sound_of(const struct state *state)
{
    return sqrt(HYDRO_GAMMA * state->value[HYDRO_PRESSURE] / state->value[HYDRO_RHO]);
}

/* The conserved quantities of STATE, and what of them flows along the axis. */
static void conserve(const struct state *state, double *held, double *flowing)
{
    const double *const v = state->value;
    const double across =
        v[HYDRO_ACROSS] * v[HYDRO_ACROSS] + v[HYDRO_ACROSS + 1] * v[HYDRO_ACROSS + 1];
    const double motion =
        0.5 * v[HYDRO_RHO] * (v[HYDRO_ALONG] * v[HYDRO_ALONG] + across);
    held[HYDRO_DENSITY] = v[HYDRO_RHO];
    for (int q = HYDRO_ALONG; q < HYDRO_PRESSURE; q++)
        held[q] = v[HYDRO_RHO] * v[q];
    held[HYDRO_ENERGY] = v[HYDRO_PRESSURE] / (HYDRO_GAMMA - 1.0) + motion;
    for (int q = 0; q < HYDRO_FIELDS; q++)
        flowing[q] = v[HYDRO_ALONG] * held[q];
    flowing[HYDRO_ALONG] += v[HYDRO_PRESSURE];
    flowing[HYDRO_ENERGY] += v[HYDRO_ALONG] * v[HYDRO_PRESSURE];
}

/* The flux between LEFT and RIGHT after Harten, Lax and van Leer.  At a wall, where one is
 * the mirror image of the other, no mass and no energy passes, exactly. */
static void flux_between(const struct state *left, const struct state *right,
                         double *out)
{
    double held[2][HYDRO_FIELDS];
    double flowing[2][HYDRO_FIELDS];
    conserve(left, held[0], flowing[0]);
    conserve(right, held[1], flowing[1]);
    const double left_sound = sound_of(left);
    const double right_sound = sound_of(right);
    const double slowest = fmin(0.0, fmin(left->value[HYDRO_ALONG] - left_sound,
                                          right->value[HYDRO_ALONG] - right_sound));
    const double fastest = fmax(0.0, fmax(left->value[HYDRO_ALONG] + left_sound,
                                          right->value[HYDRO_ALONG] + right_sound));
    for (int q = 0; q < HYDRO_FIELDS; q++)
        out[q] = (fastest * flowing[0][q] - slowest * flowing[1][q] +
                  fastest * slowest * (held[1][q] - held[0][q])) /
                 (fastest - slowest);
}

/* ENDS has room for the ends of all cells of a row and one ghost on each side. */
static void flux_row(const struct work *work, int row, int plane, struct state *ends)
{
    const size_t step = work->gas->stride[work->sweep.axis] * HYDRO_FIELDS;
    const double *const first =
        work->primitive + row_start(work, row, plane) * HYDRO_FIELDS + step;
    for (int i = 0; i < work->length + 2; i++)
        cell_ends(first + (size_t)i * step, step, work->sweep.ratio,
                  ends + 2 * (size_t)i);
    double *const out = row_flux(work, row, plane);
    for (int i = 0; i <= work->length; i++) {
        const struct state *const face = ends + 2 * (size_t)i + 1;
        flux_between(face, face + 1, out + (size_t)i * HYDRO_FIELDS);
    }
}

static void compute_fluxes(struct work *work)
{
    hydro_enter("fluxes");
    const struct hydro_gas *gas = work->gas;
    const size_t cells = (size_t)work->length;
    work->flux = hydro_array(FLUX_NAMES[work->sweep.axis],
                             (size_t[4]){(size_t)gas->cells[work->two],
                                         (size_t)gas->cells[work->one], cells + 1,
                                         HYDRO_FIELDS});
#pragma omp parallel for
    for (int plane = 0; plane < gas->cells[work->two]; plane++) {
        double *const row_ends =
            hydro_array("row_ends", (size_t[4]){cells + 2, 2, HYDRO_FIELDS});
        for (int row = 0; row < gas->cells[work->one]; row++)
            flux_row(work, row, plane, (struct state *)row_ends);
        hydro_drop(row_ends);
    }
    hydro_leave("fluxes");
}

/* --- What becomes of the cells ---------------------------------------------------- */

static void update_row(const struct work *work, int row, int plane)
{
    struct hydro_gas *const gas = work->gas;
    const size_t step = gas->stride[work->sweep.axis];
    const double *flux = row_flux(work, row, plane);
    size_t cell = row_start(work, row, plane) + HYDRO_GHOSTS * step;
    for (int i = 0; i < work->length; i++, cell += step, flux += HYDRO_FIELDS)
        for (int q = 0; q < HYDRO_FIELDS; q++) {
            const bool moves = q >= HYDRO_ALONG && q < HYDRO_PRESSURE;
            double *const field = gas->field[moves ? momentum_of(work, q) : q];
            field[cell] -= work->sweep.ratio * (flux[q + HYDRO_FIELDS] - flux[q]);
        }
}

static void update(struct work *work)
{
    hydro_enter("update");
    const struct hydro_gas *gas = work->gas;
#pragma omp parallel for
    for (int plane = 0; plane < gas->cells[work->two]; plane++)
        for (int row = 0; row < gas->cells[work->one]; row++)
            update_row(work, row, plane);
    hydro_leave("update");
}

void hydro_sweep(struct hydro_gas *gas, struct hydro_sweep sweep)
{
    struct work work = {
        .gas = gas,
        .sweep = sweep,
        .one = (sweep.axis + 1) % HYDRO_AXES,
        .two = (sweep.axis + 2) % HYDRO_AXES,
        .length = gas->cells[sweep.axis],
    };
    compute_primitives(&work);
    compute_fluxes(&work);
    update(&work);
    hydro_drop(work.flux);
    hydro_drop(work.primitive);
}
