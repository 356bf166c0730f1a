/* tests/programs/caliper_classes_calls.cpp - the calls that Caliper's own tests and examples
 * in C++ make, one case for each: the argument names it.
 *
 * What each allocates is told at its beginning; test_caliper_calls.py knows it too.
 */
#include <caliper/AnnotationBinding.h>
#include <caliper/AsyncEvent.h>
#include <caliper/CaliFunctional.h>
#include <caliper/Caliper.h>
#include <caliper/RegionProfile.h>
#include <caliper/SnapshotRecord.h>
#include <caliper/cali-manager.h>
#include <caliper/cali.h>
#include <caliper/cali_datatracker.h>
#include <caliper/common/RuntimeConfig.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <unistd.h>

using cali::Annotation;
using cali::Attribute;
using cali::Caliper;
using cali::Variant;

namespace
{

void *volatile kept;

void take(std::size_t bytes)
{
    kept = std::malloc(bytes);
    std::free(kept);
}

void taker(int)
{
    CALI_CXX_MARK_FUNCTION;
    take(10);
}

/* 2 x 3 blocks of 10 bytes in loop A, 4 in loop B. */
void loops()
{
    {
        Annotation::Guard guard(Annotation("loop.id", CALI_ATTR_NESTED).begin("A"));
        for (int i = 0; i < 3; ++i) {
            Annotation::Guard round(Annotation("round", CALI_ATTR_ASVALUE).begin(i));
            taker(1);
            taker(2);
        }
    }
    Annotation::Guard guard(Annotation("loop.id", CALI_ATTR_NESTED).begin("B"));
    for (int i = 0; i < 4; ++i) {
        Annotation::Guard round(Annotation("round", CALI_ATTR_ASVALUE).begin(i));
        taker(1);
    }
}

/* A block of 20 bytes while there is one value, 4 of 21 in the rounds. */
void values()
{
    std::map<const char *, Variant> metadata = {{"meta.int", Variant(42)}};
    cali_set_string_byname(" =\\odd \"\"name\"=  ", "  \\\\ odd,\" value\",");
    cali_set_string_byname("two.lines", "one\ntwo");
    Annotation stage(std::string("a.stage").c_str(), metadata);
    Annotation size("a.size");
    const std::size_t eight = 8;
    size.begin(eight);
    stage.begin("prepare");
    take(20);
    stage.end();
    Annotation copy = stage;
    copy.begin("rounds");
    Annotation round("round", CALI_ATTR_ASVALUE);
    round.begin(std::uint64_t(50));
    for (int i = 0; i < 4; ++i) {
        Annotation::Guard guard(round.begin(i));
        take(21);
    }
    stage = copy;
    stage.end();
}

void macro_loop(int count)
{
    CALI_CXX_MARK_FUNCTION;
    CALI_MARK_BEGIN("before");
    CALI_WRAP_STATEMENT("count", const int rounds = count);
    CALI_MARK_END("before");
    CALI_MARK_LOOP_BEGIN(inner, "inner");
    for (int i = 0; i < rounds; ++i) {
        CALI_MARK_ITERATION_BEGIN(inner, i);
        take(30);
        CALI_MARK_ITERATION_END(inner);
    }
    CALI_MARK_LOOP_END(inner);
}

/* 4 times 4 blocks of 30 bytes. */
void macros()
{
    cali::ConfigManager manager;
    manager.add("runtime-report");
    manager.start();
    CALI_MARK_FUNCTION_BEGIN;
    {
        CALI_CXX_MARK_SCOPE("early");
    }
    CALI_CXX_MARK_LOOP_BEGIN(outer, "outer");
    for (int i = 0; i < 4; ++i) {
        CALI_CXX_MARK_LOOP_ITERATION(outer, i);
        macro_loop(4);
    }
    CALI_CXX_MARK_LOOP_END(outer);
    CALI_MARK_FUNCTION_END;
    manager.flush();
}

/* A block of 40 bytes while a channel has a value of 42. */
void channels()
{
    Caliper c;
    const Attribute id =
        c.create_attribute("channel.id", CALI_TYPE_INT, CALI_ATTR_SCOPE_PROCESS);
    for (int i = 1; i <= 42; ++i) {
        cali::Channel *channel =
            c.create_channel(("channel." + std::to_string(i)).c_str(),
                             cali::RuntimeConfig::get_default_config());
        c.set(channel, id, Variant(i));
    }
    cali_begin_byname("all.made");
    take(40);
    cali_end_byname("all.made");
}

/* Ends in the wrong order: a block of 50 bytes in all three, one of 51 behind. */
void nesting()
{
    Caliper c;
    const Attribute one = c.create_attribute("wrong.A", CALI_TYPE_INT,
                                             CALI_ATTR_SCOPE_THREAD | CALI_ATTR_NESTED);
    const Attribute plain =
        c.create_attribute("wrong.N", CALI_TYPE_INT, CALI_ATTR_SCOPE_THREAD);
    const Attribute two = c.create_attribute("wrong.B", CALI_TYPE_INT,
                                             CALI_ATTR_SCOPE_THREAD | CALI_ATTR_NESTED);
    c.begin(one, Variant(16));
    c.begin(plain, Variant(25));
    c.begin(two, Variant(32));
    take(50);
    c.end(plain); /* of no region: in order */
    c.end(one);   /* wrong */
    c.end(two);
    take(51);
    const Attribute text =
        c.create_attribute("missing", CALI_TYPE_STRING, CALI_ATTR_SCOPE_THREAD);
    c.begin(text, Variant(CALI_TYPE_STRING, "outer!", 5));
    c.begin(text, Variant(CALI_TYPE_STRING, "inner!", 5));
    take(52);
    c.end(text);
    take(53);
}

cali_id_t number_attribute = CALI_INV_ID;

void *in_a_thread(void *number)
{
    CALI_CXX_MARK_FUNCTION;
    cali_set_int(number_attribute, *static_cast<int *>(number));
    take(60);
    return nullptr;
}

/* Four threads, one block of 60 bytes in each. */
void threads()
{
    CALI_CXX_MARK_FUNCTION;
    number_attribute = cali_create_attribute(
        "my.number", CALI_TYPE_INT, CALI_ATTR_SCOPE_THREAD | CALI_ATTR_UNALIGNED);
    Caliper c;
    cali::RuntimeConfig configuration;
    configuration.set("CALI_SERVICES_ENABLE", "event,trace,pthread,recorder");
    cali::Channel channel = c.create_channel("threads", configuration);
    if (!channel || !channel.is_active())
        std::exit(1);
    Annotation("local", CALI_ATTR_SCOPE_THREAD | CALI_ATTR_UNALIGNED).set(99);
    Annotation("global", CALI_ATTR_SCOPE_PROCESS | CALI_ATTR_UNALIGNED).set(999);
    int numbers[] = {16, 25, 36, 49};
    pthread_t ids[4];
    for (int i = 0; i < 4; ++i)
        pthread_create(&ids[i], nullptr, in_a_thread, &numbers[i]);
    for (int i = 0; i < 4; ++i)
        pthread_join(ids[i], nullptr);
}

/* A snapshot with one value; nothing is allocated. */
void snapshots()
{
    Caliper c;
    cali::Channel channel = c.get_channel(0);
    channel.events().postprocess_snapshot.connect(
        [](Caliper *, cali::Channel *, std::vector<cali::Entry> &) { std::exit(1); });
    const Attribute value =
        c.create_attribute("snapshot.value", CALI_TYPE_INT, CALI_ATTR_ASVALUE);
    const cali_id_t id = value.id();
    const Variant number(49);
    const cali::SnapshotRecord record(1, &id, &number);
    c.push_snapshot(channel, 0, &record);
    const cali::Entry entry(value, Variant(50));
    c.push_snapshot(&channel, cali::SnapshotView(1, &entry));
}

class Binding : public cali::AnnotationBinding
{
  public:
    const char *service_tag() const override
    {
        return "binding";
    }
    void initialize(Caliper *c, cali::Channel *) override
    {
        c->create_attribute("bound", CALI_TYPE_STRING, CALI_ATTR_UNALIGNED);
    }
};

/* A block of 70 bytes in outer/inner, in which a value is "default". */
void bindings()
{
    Caliper c;
    cali::Channel channel = c.get_channel(0);
    cali::AnnotationBinding::make_binding<Binding>(&c, &channel);
    const Attribute nested =
        c.create_attribute("a.nested", CALI_TYPE_STRING, CALI_ATTR_NESTED);
    const Attribute plain =
        c.create_attribute("a.plain", CALI_TYPE_STRING, CALI_ATTR_DEFAULT);
    c.begin(nested, Variant(CALI_TYPE_STRING, "outer", 5));
    c.begin(nested, Variant(CALI_TYPE_STRING, "inner", 5));
    c.begin(plain, Variant(CALI_TYPE_STRING, "default", 7));
    take(70);
    c.end(plain);
    c.end(nested);
    c.end(nested);
}

/* Reads 16 bytes of itself. */
void reads()
{
    CALI_CXX_MARK_FUNCTION;
    char bytes[16];
    const int file = open("/proc/self/exe", O_RDONLY);
    if (file < 0 || read(file, bytes, sizeof(bytes)) != sizeof(bytes))
        std::exit(1);
    close(file);
    take(80);
}

void multiply(std::size_t m, std::size_t w, std::size_t n)
{
    const std::size_t extents[][2] = {{m, w}, {w, n}, {m, n}};
    const char *const names[] = {"A", "B", "C"};
    double *matrices[3];
    CALI_MARK_BEGIN("allocate");
    for (int i = 0; i < 3; ++i) {
        matrices[i] = new double[extents[i][0] * extents[i][1]];
        cali_datatracker_track_dimensional(matrices[i], names[i], sizeof(double),
                                           extents[i], 2);
    }
    CALI_MARK_END("allocate");
    CALI_MARK_BEGIN("free");
    for (int i = 0; i < 3; ++i) {
        cali_datatracker_untrack(matrices[i]);
        delete[] matrices[i];
    }
    CALI_MARK_END("free");
}

/* 3 matrices of 6 x 4, 4 x 5 and 6 x 5 doubles in each of 4 iterations. */
void matrices()
{
    CALI_CXX_MARK_FUNCTION;
    CALI_CXX_MARK_LOOP_BEGIN(loop, "loop");
    for (std::size_t i = 0; i < 4; i++) {
        CALI_CXX_MARK_LOOP_ITERATION(loop, i);
        multiply(6, 4, 5);
    }
    CALI_CXX_MARK_LOOP_END(loop);
}

/* The products of matrices, marked by macros: labels are the names of variables, and nothing is freed. */
void matrix_macros()
{
    CALI_MARK_BEGIN("benchmark");
    CALI_CXX_MARK_LOOP_BEGIN(loop, "loop");
    for (std::size_t i = 0; i < 4; i++) {
        CALI_CXX_MARK_LOOP_ITERATION(loop, i);
        std::size_t extents[] = {6, 4};
        double *first = static_cast<double *>(std::malloc(6 * 4 * sizeof(double)));
        double *second = static_cast<double *>(std::malloc(100));
        CALI_DATATRACKER_TRACK_DIMENSIONAL(first, sizeof(double), extents, 2);
        CALI_DATATRACKER_TRACK(second, 100);
        CALI_DATATRACKER_UNTRACK(first);
        CALI_DATATRACKER_UNTRACK(second);
        kept = first;
        kept = second;
    }
    CALI_CXX_MARK_LOOP_END(loop);
    CALI_MARK_END("benchmark");
}

int add(int one, int other)
{
    take(90);
    return one + other;
}

/* A block of 90 bytes in sum, 1 of 91 made and freed by wrapped functions. */
void wrapped()
{
    auto sum = cali::wrap_function_and_args("sum", add);
    auto allocate = cali::wrap_function_and_args("allocate", std::malloc);
    auto release = cali::wrap_function("release", std::free);
    if (sum(3, 4) != 7)
        std::exit(1);
    void *const block = allocate(static_cast<std::size_t>(91));
    release(block);
}

void step(int i)
{
    CALI_CXX_MARK_FUNCTION;
    take(static_cast<std::size_t>(100 + i));
}

/* A block in each of 4 iterations, of 100 to 103 bytes. */
void manager()
{
    cali::ConfigManager manager;
    manager.set_default_parameter("aggregate_across_ranks", "false");
    for (const std::string &word : manager.available_config_specs())
        std::puts(manager.get_documentation_for_spec(word.c_str()).c_str());
    manager.add("event-trace(output=none)");
    if (manager.error())
        std::puts(manager.error_msg().c_str());
    manager.start();
    cali_set_global_int_byname("iterations", 4);
    cali_set_global_string_byname("configuration", "event-trace");
    CALI_MARK_FUNCTION_BEGIN;
    CALI_CXX_MARK_LOOP_BEGIN(loop, "main loop");
    for (int i = 0; i < 4; ++i) {
        CALI_CXX_MARK_LOOP_ITERATION(loop, i);
        step(i);
    }
    CALI_CXX_MARK_LOOP_END(loop);
    CALI_MARK_FUNCTION_END;
    manager.flush();
}

/* A block of 110 bytes; times of regions are none. */
void profile()
{
    cali::RegionProfile profile;
    profile.start();
    CALI_MARK_BEGIN("timed");
    take(110);
    CALI_MARK_END("timed");
    profile.stop();
    std::map<std::string, double> times;
    double total;
    std::tie(times, std::ignore, total) = profile.inclusive_region_times();
    if (times["timed"] + total != 0)
        std::exit(1);
    std::tie(times, std::ignore, total) = profile.exclusive_region_times("function");
}

void *end_event(void *event)
{
    static_cast<cali::TimedAsyncEvent *>(event)->end();
    return nullptr;
}

/* Two events, one of which ends in another thread; a third does not end. */
void events()
{
    cali_init();
    cali::TimedAsyncEvent own = cali::TimedAsyncEvent::begin("own");
    cali::TimedAsyncEvent other =
        cali::TimedAsyncEvent::begin(std::string("queued for a thread").c_str());
    const cali::TimedAsyncEvent open = cali::TimedAsyncEvent::begin("open");
    pthread_t id;
    pthread_create(&id, nullptr, end_event, &other);
    pthread_join(id, nullptr);
    own.end();
    own.end();
    (void)open;
}

/* A block of 120 bytes, with a value of the run. */
void basics()
{
    CALI_CXX_MARK_FUNCTION;
    CALI_MARK_BEGIN("init");
    Annotation("goodness", CALI_ATTR_GLOBAL).set(9999999);
    take(120);
    CALI_MARK_END("init");
}

} // namespace

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"loops", loops},
                 {"values", values},
                 {"macros", macros},
                 {"channels", channels},
                 {"nesting", nesting},
                 {"threads", threads},
                 {"snapshots", snapshots},
                 {"bindings", bindings},
                 {"reads", reads},
                 {"matrices", matrices},
                 {"matrix_macros", matrix_macros},
                 {"wrapped", wrapped},
                 {"manager", manager},
                 {"profile", profile},
                 {"events", events},
                 {"basics", basics}};
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    for (const auto &one : cases)
        if (count > 1 && std::strcmp(words[1], one.name) == 0) {
            one.run();
            return 0;
        }
    return 2;
}
