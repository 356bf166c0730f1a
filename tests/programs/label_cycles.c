/* tests/programs/label_cycles.c - a program that labels what it keeps, once per cycle.
 *
 * Annotated for Caliper as LULESH is: standing arrays are labelled in each cycle again,
 * beside temporary ones that nobody names; what is set up is labelled once, or never.  The
 * number of cycles is the first argument.  Prints, as JSON, the rows that Caliper's three
 * questions must have: by function, by label, by label and size.
 */
#include <caliper/cali.h>
#include <caliper/cali_datatracker.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NODES = 31 * 31 * 31, /* of a side of 30 */
    ELEMENTS = 30 * 30 * 30,
    NODE_ARRAYS = 13,
    STRAINS = 3,
    GRADIENTS = 6,
    TEMPORARIES = 12,
    WITH_GHOSTS = 32400
};

static const char *const STRAIN_NAMES[STRAINS] = {"dxx", "dyy", "dzz"};
static const char *const GRADIENT_NAMES[GRADIENTS] = {
    "delv_xi", "delv_eta", "delv_zeta", "delx_xi", "delx_eta", "delx_zeta"};

static void *nodes[NODE_ARRAYS], *strains[STRAINS], *gradients[GRADIENTS];
static void *volatile corners;

static size_t gradient_bytes(int number)
{
    return (number < 3 ? WITH_GHOSTS : ELEMENTS) * sizeof(double);
}

static void set_up(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    for (int i = 0; i < NODE_ARRAYS; i++)
        nodes[i] = malloc(NODES * sizeof(double));
    for (int i = 0; i < STRAINS; i++)
        strains[i] = malloc(ELEMENTS * sizeof(double));
    corners = malloc(8 * ELEMENTS * sizeof(int));
    cali_datatracker_track(corners, "nodelist", 8 * ELEMENTS * sizeof(int));
    CALI_MARK_FUNCTION_END;
}

static void forces(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    for (int i = 0; i < TEMPORARIES; i++) {
        void *volatile work = malloc(8 * ELEMENTS * sizeof(double));
        free(work);
    }
    CALI_MARK_FUNCTION_END;
}

static void viscosity(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    for (int i = 0; i < STRAINS; i++)
        cali_datatracker_track(strains[i], STRAIN_NAMES[i], ELEMENTS * sizeof(double));
    for (int i = 0; i < GRADIENTS; i++) {
        if (!gradients[i])
            gradients[i] = malloc(gradient_bytes(i));
        cali_datatracker_track(gradients[i], GRADIENT_NAMES[i], gradient_bytes(i));
    }
    CALI_MARK_FUNCTION_END;
}

static void say(int cycles)
{
    const int moving = TEMPORARIES * cycles;
    printf("{\"functions\": {\"main/set_up\": %d, \"main/forces\": %d,"
           " \"main/viscosity\": %d},\n",
           NODE_ARRAYS + STRAINS + 2, moving,
           GRADIENTS + (STRAINS + GRADIENTS) * cycles);
    printf(" \"labels\": [[\"malloc\", %d]",
           NODE_ARRAYS + STRAINS + GRADIENTS + 1 + moving);
    for (int i = 0; i < STRAINS; i++)
        printf(", [\"%s\", %d]", STRAIN_NAMES[i], cycles);
    for (int i = 0; i < GRADIENTS; i++)
        printf(", [\"%s\", %d]", GRADIENT_NAMES[i], cycles);
    printf(", [\"nodelist\", 1]],\n");
    printf(
        " \"sizes\": [[\"malloc\", 1728000, %d], [\"malloc\", 864000, 1],"
        " [\"malloc\", 259200, 3], [\"malloc\", 238328, 13], [\"malloc\", 216000, 6],"
        " [\"nodelist\", 864000, 1]",
        moving);
    for (int i = 0; i < STRAINS; i++)
        printf(", [\"%s\", 216000, %d]", STRAIN_NAMES[i], cycles);
    for (int i = 0; i < GRADIENTS; i++)
        printf(", [\"%s\", %zu, %d]", GRADIENT_NAMES[i], gradient_bytes(i), cycles);
    printf("]}\n");
}

int main(int argc, char **argv)
{
    const int cycles = argc > 1 ? atoi(argv[1]) : 932;
    say(cycles);
    fflush(stdout);
    CALI_MARK_FUNCTION_BEGIN;
    set_up();
    CALI_MARK_LOOP_BEGIN(cycle, "loop");
    for (int i = 0; i < cycles; i++) {
        CALI_MARK_ITERATION_BEGIN(cycle, i);
        forces();
        viscosity();
        CALI_MARK_ITERATION_END(cycle);
    }
    CALI_MARK_LOOP_END(cycle);
    for (int i = 0; i < NODE_ARRAYS; i++)
        free(nodes[i]);
    for (int i = 0; i < STRAINS; i++)
        free(strains[i]);
    for (int i = 0; i < GRADIENTS; i++)
        free(gradients[i]);
    CALI_MARK_FUNCTION_END;
    return 0;
}
