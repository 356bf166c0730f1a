// tests/programs/clean_containers.cpp - an index of words in containers, used as they
// should be: reserved, reused, and gone at the end.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace
{

struct Entry {
    std::string word;
    unsigned first, count;
    std::vector<unsigned> lines;
};

class Index
{
  public:
    explicit Index(size_t words)
    {
        entries_.reserve(words), by_word_.reserve(words);
    }

    void add(const std::string &word, unsigned line)
    {
        const auto known = by_word_.find(word);
        if (known != by_word_.end()) {
            Entry &entry = *entries_[known->second];
            entry.count++;
            if (entry.lines.size() < entry.lines.capacity())
                entry.lines.push_back(line);
            return;
        }
        auto entry = std::make_unique<Entry>();
        entry->word = word;
        entry->first = line;
        entry->count = 1;
        entry->lines.reserve(24);
        entry->lines.push_back(line);
        by_word_.emplace(word, entries_.size());
        entries_.push_back(std::move(entry));
    }

    std::vector<const Entry *> most_used(size_t number) const
    {
        std::vector<const Entry *> sorted;
        sorted.reserve(entries_.size());
        for (const auto &entry : entries_)
            sorted.push_back(entry.get());
        std::stable_sort(
            sorted.begin(), sorted.end(),
            [](const Entry *a, const Entry *b) { return a->count > b->count; });
        sorted.resize(std::min(number, sorted.size()));
        return sorted;
    }

  private:
    std::vector<std::unique_ptr<Entry>> entries_;
    std::unordered_map<std::string, size_t> by_word_;
};

} // namespace

int main()
{
    Index index(6000);
    std::string word;
    word.reserve(64);
    unsigned random = 1;
    for (unsigned line = 0; line < 40000; line++) {
        random = random * 1103515245u + 12345u;
        word.assign("a-word-that-is-long-enough-");
        word += static_cast<char>('a' + (random >> 20) % 26);
        word += static_cast<char>('a' + (random >> 25) % 26);
        word += static_cast<char>('a' + (random >> 15) % 8);
        index.add(word, line);
    }
    unsigned uses = 0;
    for (const Entry *entry : index.most_used(10))
        uses += entry->count;
    std::printf("%u\n", uses);
    return 0;
}
