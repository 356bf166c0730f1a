/* tests/bench/loads/compile_me.cpp - a source for compilers to chew on; it is not linked. */
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

template <int N> struct layer {
    std::map<int, std::vector<std::string>> map;
    std::unordered_map<std::string, std::function<int(int)>> table;
    layer<N - 1> below;

    int work(const std::string &text)
    {
        const std::regex word("([a-z]+)([0-9]*)");
        std::smatch match;
        if (std::regex_search(text, match, word))
            map[N].push_back(match[1]);
        table[text] = [this](int x) { return x + int(map.size()) + N; };
        std::sort(map[N].begin(), map[N].end());
        return table[text](N) + below.work(text);
    }
};

template <> struct layer<0> {
    int work(const std::string &text)
    {
        return int(text.size());
    }
};

int work(const std::string &text)
{
    layer<12> all;
    return all.work(text);
}
