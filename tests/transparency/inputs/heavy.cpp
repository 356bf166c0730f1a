/* inputs/heavy.cpp - much of the standard library, so that compilers allocate. */
#include <algorithm>
#include <any>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#ifdef WITH_REGEX
#    include <regex>
#endif
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

template <std::size_t N> struct deep {
    using type = std::tuple<std::map<std::size_t, typename deep<N - 1>::type>,
                            std::vector<std::optional<int>>>;
};
template <> struct deep<0> {
    using type = int;
};

template <class... Ts> struct overloaded : Ts... {
    using Ts::operator()...;
};
template <class... Ts> overloaded(Ts...) -> overloaded<Ts...>;

int main()
{
    deep<8>::type nested;
    std::get<1>(nested).emplace_back(3);
    std::unordered_map<std::string, std::set<int>> index;
    std::istringstream in{"one1 two22 three333 one4"};
    for (std::string s; in >> s;) {
#ifdef WITH_REGEX
        std::smatch m;
        if (std::regex_match(s, m, std::regex{"([a-z]+)([0-9]*)"}))
            index[m[1]].insert(static_cast<int>(m[2].length()));
#else
        index[s.substr(0, 3)].insert(static_cast<int>(s.length()));
#endif
    }
    std::vector<std::variant<int, double, std::string>> mixed{1, 2.5, "x"};
    double total = 0;
    for (const auto &item : mixed)
        std::visit(overloaded{[&](int i) { total += i; }, [&](double d) { total += d; },
                              [&](const std::string &s) { total += s.size(); }},
                   item);
    std::vector<int> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::stable_sort(numbers.begin(), numbers.end(), std::greater<>{});
    std::function<long(int)> fib = [&](int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    };
    auto shared = std::make_shared<std::any>(fib(15));
    std::thread([&] {
        total += static_cast<double>(std::any_cast<long>(*shared));
    }).join();
    std::cout << index.size() << ' ' << total << ' ' << numbers.front() << '\n';
}
