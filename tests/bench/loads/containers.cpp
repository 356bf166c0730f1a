/* tests/bench/loads/containers.cpp - C++ as it is written: containers ROUNDS.
 *
 * Maps, strings, vectors, functions and hash maps are filled and dropped under a recursion
 * and a chain of templates; optimised, without frame pointers.
 */
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

static unsigned long sum;
static unsigned state = 1;

static unsigned next()
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static std::string name_of(unsigned number)
{
    return "a name that is too long for the string itself " + std::to_string(number);
}

static void fill_map(unsigned many)
{
    std::map<std::string, std::vector<int>> map;
    for (unsigned i = 0; i < many; i++)
        map[name_of(next() % 64)].push_back(static_cast<int>(i));
    sum += map.size();
}

static void fill_table(unsigned many)
{
    std::unordered_map<unsigned, std::shared_ptr<std::string>> table;
    for (unsigned i = 0; i < many; i++)
        table[next() % 128] = std::make_shared<std::string>(name_of(i));
    sum += table.size();
}

static void call_functions(unsigned many)
{
    std::vector<std::function<unsigned(unsigned)>> list;
    for (unsigned i = 0; i < many; i++) {
        const std::string text = name_of(i);
        list.emplace_back([text](unsigned x) { return x + unsigned(text.size()); });
    }
    for (const auto &function : list)
        sum += function(1);
}

template <unsigned N> struct chain {
    __attribute__((noinline)) static void work(unsigned many)
    {
        chain<N - 1>::work(many);
        sum++;
    }
};

template <> struct chain<0> {
    __attribute__((noinline)) static void work(unsigned many)
    {
        switch (next() % 3) {
        case 0:
            fill_map(many);
            break;
        case 1:
            fill_table(many);
            break;
        default:
            call_functions(many);
        }
        sum++;
    }
};

__attribute__((noinline)) static void descend(unsigned depth, unsigned many)
{
    if (depth == 0)
        chain<6>::work(many);
    else
        descend(depth - 1, many);
    sum++;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
    for (int i = 0; i < rounds; i++)
        descend(next() % 8, 40);
    return sum == 0;
}
