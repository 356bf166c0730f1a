/* hydro/hydro.c - a blast in a box: arguments, the loop over cycles, what is printed.
 *
 *     hydro [--cycles N] [--tube] [--count] [--profile] [NX [NY NZ]]
 *
 * See hydro.h for the gas.  The program tells tidemark of its regions and arrays; when it
 * is not recorded that costs nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tidemark/tidemark.h>

#include "hydro.h"

enum { REPORT_EVERY = 10, CHECKPOINT_EVERY = 25, HISTORY_VALUES = 4 };

struct options {
    int cells[HYDRO_AXES];
    int cycles;
    bool tube, count, profile;
};

/* Sums of each cycle, for who wants to plot them. */
struct history {
    double *values;
    size_t cycles, room;
};

static const char USAGE[] =
    "usage: hydro [--cycles N] [--tube] [--count] [--profile] [NX [NY NZ]]\n"
    "  --cycles N  so many time steps (60)\n"
    "  --tube      two halves under different pressure, instead of a blast\n"
    "  --count     print how much each region and label allocated, as JSON\n"
    "  --profile   print the density along x, and the time, as JSON\n"
    "  NX NY NZ    cells along each axis (32; one number: a cube)\n";

static bool parse_number(const char *text, int least, int *out)
{
    char *end;
    const long value = strtol(text, &end, 10);
    *out = (int)value;
    return *text && !*end && value >= least && value <= 4096;
}

static bool parse(int argc, char **argv, struct options *options)
{
    int axes = 0;
    for (int i = 1; i < argc; i++) {
        bool good = true;
        if (strcmp(argv[i], "--cycles") == 0 && i + 1 < argc)
            good = parse_number(argv[++i], 0, &options->cycles);
        else if (strcmp(argv[i], "--tube") == 0)
            options->tube = true;
        else if (strcmp(argv[i], "--count") == 0)
            options->count = true;
        else if (strcmp(argv[i], "--profile") == 0)
            options->profile = true;
        else
            good = axes < HYDRO_AXES &&
                   parse_number(argv[i], HYDRO_GHOSTS, &options->cells[axes++]);
        if (!good)
            return false;
    }
    if (axes == 1)
        options->cells[1] = options->cells[2] = options->cells[0];
    return axes != 2;
}

static void remember(struct history *history, double time, struct hydro_sums sums)
{
    hydro_enter("remember");
    if (history->cycles == history->room) {
        history->room = history->room ? 2 * history->room : 16;
        history->values =
            hydro_regrow(history->values, "history", history->room * HISTORY_VALUES);
    }
    const double values[HISTORY_VALUES] = {time, sums.mass, sums.energy, sums.densest};
    memcpy(history->values + history->cycles * HISTORY_VALUES, values, sizeof(values));
    history->cycles++;
    hydro_leave("remember");
}

/* What a real program would write to disk: a copy of all fields at once. */
static void checkpoint(const struct hydro_gas *gas)
{
    hydro_enter("checkpoint");
    double *const copy =
        hydro_array("checkpoint", (size_t[4]){HYDRO_FIELDS, gas->volume});
    for (size_t i = 0; i < HYDRO_FIELDS; i++)
        memcpy(copy + i * gas->volume, gas->field[i], gas->volume * sizeof(*copy));
    tide_snapshot("checkpoint");
    hydro_drop(copy);
    hydro_leave("checkpoint");
}

static void print_cycle(int cycle, double time, struct hydro_sums sums)
{
    if (hydro_rank() == 0)
        printf("%6d  %9.6f  %17.15f  %17.15f  %8.5f\n", cycle, time, sums.mass,
               sums.energy, sums.densest);
}

/* All cycles; the time that they took in the box. */
static double run(struct hydro_gas *gas, const struct options *options)
{
    struct history history = {0};
    const bool talks = !options->count && !options->profile;
    double time = 0.0;
    hydro_enter_loop("cycle");
    for (int cycle = 0; cycle < options->cycles; cycle++) {
        tide_event((uint64_t)cycle);
        tide_iteration(cycle);
        const double step = hydro_time_step(gas);
        hydro_advance(gas, step, cycle);
        time += step;
        const struct hydro_sums sums = hydro_gas_sums(gas);
        remember(&history, time, sums);
        if (cycle % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1)
            checkpoint(gas);
        if (talks && (cycle + 1) % REPORT_EVERY == 0)
            print_cycle(cycle + 1, time, sums);
    }
    hydro_leave_loop("cycle");
    hydro_drop(history.values);
    return time;
}

static void print_drift(struct hydro_sums before, struct hydro_sums after)
{
    if (hydro_rank() == 0)
        printf("mass changed by %.1e of itself, energy by %.1e\n",
               fabs(after.mass - before.mass) / before.mass,
               fabs(after.energy - before.energy) / before.energy);
}

/* Of the row in the middle; the process that has it prints. */
static void print_profile(const struct hydro_gas *gas, double time)
{
    const int z = gas->total_z / 2 - gas->first_z;
    if (z < 0 || z >= gas->cells[HYDRO_Z])
        return;
    printf("{\"time\": %.17g, \"density\": [", time);
    for (int x = 0; x < gas->cells[HYDRO_X]; x++) {
        const size_t cell = hydro_at(gas, x, gas->cells[HYDRO_Y] / 2, z);
        printf("%s%.17g", x ? ", " : "", gas->field[HYDRO_DENSITY][cell]);
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    static char output[4096]; /* so that printing allocates nothing */
    setvbuf(stdout, output, _IOLBF, sizeof(output));
    hydro_start(&argc, &argv);
    struct options options = {.cells = {32, 32, 32}, .cycles = 60};
    if (!parse(argc, argv, &options) || options.cells[HYDRO_Z] < 2 * hydro_ranks()) {
        fputs(USAGE, stderr);
        return 2;
    }

    struct hydro_gas gas;
    hydro_enter("main");
    hydro_gas_init(&gas, options.cells, options.tube);
    const struct hydro_sums before = hydro_gas_sums(&gas);
    const bool talks = !options.count && !options.profile;
    if (talks && hydro_rank() == 0)
        puts(" cycle       time               mass             energy   densest");
    const double time = run(&gas, &options);
    if (talks)
        print_drift(before, hydro_gas_sums(&gas));
    if (options.profile)
        print_profile(&gas, time);
    hydro_gas_release(&gas);
    hydro_leave("main");
    if (options.count && hydro_rank() == 0)
        hydro_print_counts();
    hydro_end();
    return 0;
}
