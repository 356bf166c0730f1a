/* tests/programs/lib_omp_tool.c - a tool of the user's own for OpenMP: says that it began. */
#include <stdint.h>
#include <unistd.h>

struct result {
    int (*initialize)(void *lookup, int device, uint64_t *data);
    void (*finalize)(uint64_t *data);
    uint64_t data;
};

static int initialize(void *lookup, int device, uint64_t *data)
{
    static const char line[] = "the user's tool began\n";
    (void)lookup, (void)device, (void)data;
    return write(2, line, sizeof(line) - 1) > 0;
}

static void finalize(uint64_t *data)
{
    (void)data;
}

struct result *ompt_start_tool(unsigned version, const char *runtime);

struct result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct result result = {initialize, finalize, 0};
    (void)version, (void)runtime;
    return &result;
}
