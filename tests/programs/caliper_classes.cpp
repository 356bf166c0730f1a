/* tests/programs/caliper_classes.cpp - a program annotated for Caliper, in C++, as it is.
 *
 * Prints, as JSON, how many blocks of how many bytes each region has.
 */
#include <caliper/cali-manager.h>
#include <caliper/cali.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace
{

void *volatile kept;

void take(std::size_t bytes)
{
    kept = std::malloc(bytes);
    std::free(kept);
}

void leaves_early(bool early)
{
    CALI_CXX_MARK_FUNCTION;
    take(100);
    if (early)
        throw std::runtime_error("early");
    take(200);
}

void loops()
{
    CALI_CXX_MARK_LOOP_BEGIN(steps, "steps");
    for (int i = 0; i < 5; i++) {
        CALI_CXX_MARK_LOOP_ITERATION(steps, i);
        take(10);
    }
    CALI_CXX_MARK_LOOP_END(steps);
    take(20);
}

void annotates()
{
    cali::Annotation function("function");
    function.begin("annotated");
    take(30);
    function.end();
    const cali::Annotation::Guard guard(cali::Annotation("phase").begin("guarded"));
    cali::Annotation("count").set(7);
    cali::Annotation number("number");
    const cali::Annotation::Guard other(number.begin(3).begin(2.5));
    take(40);
}

} // namespace

int main()
{
    cali::ConfigManager manager;
    manager.add("runtime-report(output=stderr),alloc.stats");
    if (manager.error())
        return 1;
    for (const std::string &spec : manager.available_config_specs())
        std::puts(manager.get_documentation_for_spec(spec.c_str()).c_str());
    manager.start();
    {
        CALI_CXX_MARK_SCOPE("main");
        leaves_early(false);
        try {
            leaves_early(true);
        } catch (const std::runtime_error &) {
            take(1);
        }
        loops();
        annotates();
    }
    manager.flush();
    std::puts("{\"regions\": {\"main/leaves_early\": [3, 400], \"main/steps\": [5, 50],"
              " \"main/annotated\": [1, 30], \"main/guarded\": [1, 40],"
              " \"main\": [2, 21]}}");
    return 0;
}
