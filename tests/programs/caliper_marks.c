/* tests/programs/caliper_marks.c - a program annotated for Caliper, in C, as it is.
 *
 * Prints, as JSON, how many blocks of how many bytes each region and each label has.
 */
#include <caliper/cali-manager.h>
#include <caliper/cali.h>
#include <caliper/cali_datatracker.h>
#include <stdio.h>
#include <stdlib.h>

enum { CYCLES = 7 };

static void *volatile kept;

static void compute(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    double *work = malloc(100 * sizeof(*work));
    CALI_DATATRACKER_TRACK(work, 100 * sizeof(*work));
    kept = work;
    CALI_DATATRACKER_UNTRACK(work);
    free(work);
    CALI_MARK_FUNCTION_END;
}

static void cycles(const double *grid)
{
    const cali_id_t attribute =
        cali_create_attribute("material", CALI_TYPE_INT, CALI_ATTR_ASVALUE);
    CALI_MARK_LOOP_BEGIN(cycle, "cycle");
    for (int i = 0; i < CYCLES; i++) {
        CALI_MARK_ITERATION_BEGIN(cycle, i);
        cali_begin_int(attribute, i);
        compute();
        CALI_WRAP_STATEMENT("copy", kept = malloc(300); free(kept));
        cali_end(attribute);
        CALI_MARK_ITERATION_END(cycle);
    }
    CALI_MARK_LOOP_END(cycle);
    (void)grid;
}

static void by_name(void)
{
    cali_begin_string_byname("function", "by_name");
    kept = malloc(50);
    free(kept);
    cali_begin_int_byname("level", 3);
    cali_begin_double_byname("level", 3.5);
    kept = malloc(51);
    free(kept);
    cali_end_byname("level");
    cali_set_string_byname("method", "explicit");
    kept = malloc(51);
    free(kept);
    cali_end_byname("level");
    cali_end_byname("function");
}

int main(void)
{
    cali_ConfigManager manager;
    cali_config_preset("CALI_LOG_VERBOSITY", "0");
    cali_init();
    cali_ConfigManager_new(&manager);
    cali_ConfigManager_set_default_parameter(&manager, "level", "phase");
    cali_ConfigManager_add(&manager, "runtime-report");
    if (cali_ConfigManager_error(&manager))
        return 1;
    cali_ConfigManager_start(&manager);
    CALI_MARK_FUNCTION_BEGIN;
    CALI_WRAP_STATEMENT("declare", void *volatile declared = malloc(25));
    free(declared);
    cali_set_global_int_byname("cycles", CYCLES);
    CALI_MARK_PHASE_BEGIN("set-up");
    double *grid = calloc(6 * 8, sizeof(*grid));
    const size_t extents[] = {6, 8};
    cali_datatracker_track_dimensional(grid, "the grid", sizeof(*grid), extents, 2);
    CALI_MARK_PHASE_END("set-up");
    CALI_MARK_BEGIN("solve");
    cycles(grid);
    by_name();
    CALI_MARK_END("solve");
    CALI_MARK_COMM_REGION_BEGIN("gather");
    kept = malloc(70);
    free(kept);
    CALI_MARK_COMM_REGION_END("gather");
    cali_datatracker_untrack(grid);
    free(grid);
    CALI_MARK_FUNCTION_END;
    cali_flush(0);
    printf(
        "{\"regions\": {\"main/set-up\": [1, 384], \"main/solve/cycle/compute\": [%d, %d],"
        " \"main/solve/cycle/copy\": [%d, %d], \"main/solve/by_name\": [3, 152],"
        " \"main/gather\": [1, 70], \"main/declare\": [1, 25]},"
        " \"labels\": {\"work\": [%d, %d], \"the grid\": [1, 384]}}\n",
        CYCLES, CYCLES * 800, CYCLES, CYCLES * 300, CYCLES, CYCLES * 800);
    cali_ConfigManager_flush(&manager);
    cali_ConfigManager_delete(&manager);
    return 0;
}
