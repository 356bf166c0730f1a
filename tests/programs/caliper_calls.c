/* tests/programs/caliper_calls.c - the calls that Caliper's own tests and examples in C
 * make, one case for each: the argument names it.
 *
 * What each allocates is told at its beginning; test_caliper_calls.py knows it too.
 */
#include <caliper/cali-manager.h>
#include <caliper/cali.h>
#include <caliper/cali_datatracker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern cali_id_t cali_class_memoryaddress_attr_id;

enum { SCOPE = CALI_SCOPE_PROCESS | CALI_SCOPE_THREAD };

static void *volatile kept;

static void take(size_t bytes)
{
    kept = malloc(bytes);
    free(kept);
}

static cali_id_t address_attribute(const char *name)
{
    const cali_variant_t yes = cali_make_variant_from_bool(true);
    return cali_create_attribute_with_metadata(name, CALI_TYPE_ADDR, CALI_ATTR_ASVALUE,
                                               1, &cali_class_memoryaddress_attr_id,
                                               &yes);
}

/* A snapshot of where INSIDE and OUTSIDE point, during STAGE. */
static void look(const char *stage, const void *inside, const void *outside)
{
    const cali_id_t attributes[] = {address_attribute("in"), address_attribute("out")};
    cali_variant_t values[2];
    values[0] = cali_make_variant(CALI_TYPE_ADDR, &inside, sizeof(inside));
    values[1] = cali_make_variant(CALI_TYPE_ADDR, &outside, sizeof(outside));
    cali_begin_byname(stage);
    cali_push_snapshot(SCOPE, 2, attributes, values);
    cali_end_byname(stage);
}

/* 30 elements of 4 bytes, named by the library. */
static void addresses(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    int *const array = cali_datatracker_allocate_dimensional("thirty", sizeof(int),
                                                             (const size_t[]){30}, 1);
    look("first", array, (char *)array - 64);
    look("last", array + 29, (char *)array + 4096);
    const void *volatile gone = array;
    cali_datatracker_free(array);
    look("after.free", (const void *)gone, (const char *)gone - 64);
    CALI_MARK_FUNCTION_END;
}

static void look_and_free(const char *hook, char *block)
{
    const void *volatile gone = block;
    cali_begin_byname(hook);
    look("first", block, block - 64);
    look("last", block + 119, block + 4096);
    free(block);
    look("after.free", (const void *)gone, (const char *)gone - 64);
    cali_end_byname(hook);
}

/* Three blocks of 120 bytes, by each of the calls, the last of them from 400. */
static void hooks(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    char *const one = malloc(120), *const two = calloc(30, 4);
    char *const three = realloc(malloc(400), 120);
    look_and_free("by.malloc", one);
    look_and_free("by.calloc", two);
    look_and_free("by.realloc", three);
    CALI_MARK_FUNCTION_END;
}

/* 4 blocks of 10 bytes in the rounds; 1 of 20, 1 of 30. */
static void annotations(void)
{
    cali_config_preset("CALI_CHANNEL_FLUSH_ON_EXIT", "false");
    cali_set_global_double_byname("run.double", 12.25);
    cali_set_global_int_byname("run.int", 4711);
    cali_set_global_string_byname("run.string", "my run");
    cali_set_global_uint_byname("run.uint", 12);
    const cali_id_t round =
        cali_create_attribute("round", CALI_TYPE_INT, CALI_ATTR_ASVALUE);
    cali_begin_string_byname("phase", "rounds");
    for (int i = 0; i < 4; i++) {
        cali_begin_int(round, i);
        take(10);
        cali_end(round);
    }
    cali_end_byname("phase");
    cali_begin_byname("described");
    const cali_id_t meta =
        cali_create_attribute("meta", CALI_TYPE_INT, CALI_ATTR_DEFAULT);
    const cali_variant_t value = cali_make_variant_from_int(33);
    const cali_id_t described = cali_create_attribute_with_metadata(
        "with.meta", CALI_TYPE_STRING, CALI_ATTR_NOMERGE, 1, &meta, &value);
    cali_set_string(described, "hocus");
    take(20);
    cali_end_byname("described");
    cali_begin_byname("by.name");
    cali_set_int_byname("an.int", 21);
    cali_set_double_byname("a.double", 2.75);
    cali_set_string_byname("a.string", "pocus");
    take(30);
    cali_end_byname("by.name");
    cali_flush(CALI_FLUSH_CLEAR_BUFFERS);
}

/* Nothing is allocated. */
static void snapshots(void)
{
    cali_begin_string_byname("during", "snapshots");
    cali_push_snapshot(SCOPE, 0, NULL, NULL);
    const cali_id_t attributes[] = {
        cali_create_attribute("a.text", CALI_TYPE_STRING, CALI_ATTR_DEFAULT),
        cali_create_attribute("a.number", CALI_TYPE_INT, CALI_ATTR_ASVALUE)};
    const cali_variant_t values[] = {cali_make_variant(CALI_TYPE_STRING, "texts", 4),
                                     cali_make_variant_from_int(24)};
    cali_push_snapshot(SCOPE, 2, attributes, values);
    cali_end_byname("during");
}

/* 3 blocks of 40 bytes, one with each value. */
static void channels(void)
{
    const char *configuration[][2] = {{"CALI_CHANNEL_FLUSH_ON_EXIT", "false"},
                                      {NULL, NULL}};
    const cali_configset_t set = cali_create_configset(configuration);
    cali_configset_set(set, "CALI_SERVICES_ENABLE", "event,trace");
    const cali_id_t one = cali_create_channel("one", 0, set);
    const cali_id_t two = cali_create_channel("two", CALI_CHANNEL_LEAVE_INACTIVE, set);
    cali_delete_configset(set);
    if (one == two || !cali_channel_is_active(one) || cali_channel_is_active(two))
        exit(1);
    cali_activate_channel(two);
    CALI_MARK_BEGIN("switched");
    cali_set_int_byname("both", 4);
    take(40);
    cali_deactivate_channel(two);
    cali_set_int_byname("first", 2);
    take(40);
    cali_end_byname("first");
    cali_activate_channel(two);
    cali_deactivate_channel(one);
    cali_set_int_byname("second", 8);
    take(40);
    cali_end_byname("second");
    cali_activate_channel(one);
    CALI_MARK_END("switched");
    cali_channel_flush(one, 0);
    cali_delete_channel(one);
    cali_delete_channel(two);
}

/* Matrices of 6 x 4, 4 x 5 and 6 x 5 doubles. */
static void matrices(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    CALI_MARK_BEGIN("allocate");
    double *const a = cali_datatracker_allocate_dimensional("A", sizeof(double),
                                                            (const size_t[]){6, 4}, 2);
    double *const b = cali_datatracker_allocate_dimensional("B", sizeof(double),
                                                            (const size_t[]){4, 5}, 2);
    double *const c = cali_datatracker_allocate("C", 6 * 5 * sizeof(double));
    CALI_MARK_END("allocate");
    CALI_MARK_BEGIN("free");
    cali_datatracker_free(a);
    cali_datatracker_free(b);
    cali_datatracker_free(c);
    CALI_MARK_END("free");
    CALI_MARK_FUNCTION_END;
}

/* A block of 48 bytes, and one of 11 in each of 6 iterations. */
static void macros(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    CALI_WRAP_STATEMENT("prepare", const int count = 6);
    cali_set_int_byname("count.of.rounds", count);
    double *const numbers = malloc((size_t)count * sizeof(*numbers));
    CALI_MARK_LOOP_BEGIN(rounds, "rounds");
    for (int i = 0; i < count; i++) {
        CALI_MARK_ITERATION_BEGIN(rounds, i);
        numbers[i] = i;
        take(11);
        CALI_MARK_ITERATION_END(rounds);
    }
    CALI_MARK_LOOP_END(rounds);
    kept = numbers;
    free(numbers);
    CALI_MARK_FUNCTION_END;
}

static int print_entry(void *user, cali_id_t attribute, cali_variant_t value)
{
    const char *const name = cali_attribute_name(attribute);
    int *const count = user;
    printf("%s%s=", (*count)++ ? "," : "", name ? name : "?");
    switch (cali_variant_get_type(value)) {
    case CALI_TYPE_STRING:
        printf("%.*s", (int)cali_variant_get_size(value),
               (const char *)cali_variant_get_data(&value));
        break;
    case CALI_TYPE_INT:
        printf("%d", cali_variant_to_int(value, NULL));
        break;
    default:
        printf("<%s>", cali_type2string(cali_variant_get_type(value)));
    }
    return 1;
}

static void pull(cali_id_t channel)
{
    unsigned char bytes[80];
    const size_t length =
        cali_channel_pull_snapshot(channel, SCOPE, sizeof(bytes), bytes);
    size_t read = 0;
    int count = 0;
    if (!length || length > sizeof(bytes))
        exit(1);
    cali_unpack_snapshot(bytes, &read, print_entry, &count);
    printf(" %d %d\n", count, read == length);
}

/* Prints where it is; nothing else is allocated. */
static void prints(void)
{
    const cali_id_t channel = cali_create_channel("prints", 0, NULL);
    unsigned char bytes[80];
    pull(channel);
    CALI_MARK_FUNCTION_BEGIN;
    printf("%s\n", cali_get_current_region_or("nowhere"));
    CALI_MARK_LOOP_BEGIN(loop, "twice");
    for (int i = 0; i < 2; i++) {
        CALI_MARK_ITERATION_BEGIN(loop, i + 5);
        pull(channel);
        CALI_MARK_ITERATION_END(loop);
    }
    CALI_MARK_LOOP_END(loop);
    cali_set_int_byname("level", -3);
    cali_begin_int_byname("level", 7);
    const cali_id_t level = cali_find_attribute("level");
    printf("%d\n", cali_variant_to_int(cali_get(level), NULL));
    (void)cali_pull_snapshot(SCOPE, sizeof(bytes), bytes);
    printf("%d\n",
           cali_variant_to_int(cali_find_first_in_snapshot(bytes, level, NULL), NULL));
    cali_end_byname("level");
    CALI_MARK_FUNCTION_END;
    cali_delete_channel(channel);
}

static void half(void)
{
    CALI_MARK_FUNCTION_BEGIN;
    take(50);
    CALI_MARK_FUNCTION_END;
}

/* 4 blocks of 50 bytes, one in each iteration. */
static void manager(void)
{
    cali_ConfigManager manager;
    cali_ConfigManager_new(&manager);
    cali_ConfigManager_set_default_parameter(&manager, "aggregate_across_ranks",
                                             "false");
    cali_ConfigManager_add(&manager, "runtime-report");
    if (cali_ConfigManager_error(&manager)) {
        cali_SHROUD_array said;
        cali_ConfigManager_error_msg_bufferify(&manager, &said);
        fprintf(stderr, "%s\n", said.addr.ccharp);
        cali_SHROUD_memory_destructor(&said.cxx);
    }
    cali_ConfigManager_start(&manager);
    CALI_MARK_FUNCTION_BEGIN;
    CALI_MARK_LOOP_BEGIN(loop, "main loop");
    for (int i = 0; i < 4; i++) {
        CALI_MARK_ITERATION_BEGIN(loop, i);
        half();
        CALI_MARK_ITERATION_END(loop);
    }
    CALI_MARK_LOOP_END(loop);
    CALI_MARK_FUNCTION_END;
    cali_ConfigManager_flush(&manager);
    cali_ConfigManager_delete(&manager);
}

/* 2 blocks of 60 bytes. */
static void profile(void)
{
    static const char *settings[][2] = {
        {"CALI_SERVICES_ENABLE", "event, trace, report"},
        {"CALI_REPORT_CONFIG", "SELECT function,count() GROUP BY function"},
        {NULL, NULL}};
    cali_config_allow_read_env(0);
    cali_config_preset("CALI_LOG_VERBOSITY", "0");
    cali_config_define_profile("the profile", settings);
    cali_config_set("CALI_CONFIG_PROFILE", "\"the profile\"");
    CALI_MARK_FUNCTION_BEGIN;
    for (int i = 0; i < 2; i++) {
        CALI_MARK_BEGIN("my phase");
        take(60);
        CALI_MARK_END("my phase");
    }
    CALI_MARK_FUNCTION_END;
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"addresses", addresses},     {"hooks", hooks},
                 {"annotations", annotations}, {"snapshots", snapshots},
                 {"channels", channels},       {"matrices", matrices},
                 {"macros", macros},           {"prints", prints},
                 {"manager", manager},         {"profile", profile}};
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (count > 1 && strcmp(words[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
