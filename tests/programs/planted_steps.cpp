// tests/programs/planted_steps.cpp - many short vectors, none of them reserved.
#include <cstdio>
#include <vector>

namespace
{

constexpr unsigned LISTS = 40000;

__attribute__((noinline)) unsigned neighbours(unsigned of)
{
    std::vector<unsigned> found;
    for (unsigned i = 0; i < 40; i++)
        found.push_back(of * i);
    return found[of % found.size()];
}

} // namespace

int main()
{
    unsigned sum = 0;
    for (unsigned i = 0; i < LISTS; i++)
        sum += neighbours(i);
    // One grows to 1, 2, 4, ... 64.
    std::printf("{\"kind\": \"growth\", \"function\": \"neighbours\", \"bytes\": %u, "
                "\"calls\": %u}\n",
                LISTS * 127 * 4, LISTS * 7);
    return sum == 1;
}
