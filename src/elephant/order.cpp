#include "spikeweave/elephant/order.hpp"

#include <algorithm>
#include <bit>
#include <stop_token>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// For each item, the number of windows that hold it, without windows and items that can be in no
// pattern; 0 for such items.
std::vector<std::uint32_t> reduced_supports(const spade_windows& windows, const pattern_rule& rule,
                                            const std::stop_token& stop) {
    std::vector<std::uint32_t> supports;
    std::vector<bool> frequent(windows.unit_count() * windows.window_bins(), true);
    std::vector<bool> long_enough(windows.size(), true);
    for (bool changed = true; changed;) {
        core::throw_if_stopped(stop);
        supports.assign(frequent.size(), 0);
        for (std::size_t w = 0; w < windows.size(); ++w) {
            if (!long_enough[w]) continue;
            const auto items = windows.items(w);
            const auto length = std::count_if(items.begin(), items.end(),
                                              [&](pattern_item item) { return frequent[item]; });
            long_enough[w] = length >= static_cast<std::ptrdiff_t>(rule.min_spikes);
            if (!long_enough[w]) continue;
            for (const pattern_item item : items)
                if (frequent[item]) ++supports[item];
        }
        changed = false;
        for (pattern_item item = 0; item < supports.size(); ++item) {
            if (supports[item] >= rule.min_occ) continue;
            frequent[item] = false;
            changed = changed || supports[item] > 0;
        }
    }
    return supports;
}

std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& supports) {
    std::vector<pattern_item> items;
    for (auto item = static_cast<pattern_item>(supports.size()); item-- > 0;)
        if (supports[item] > 0) items.push_back(item);
    // Not a stable sort, on purpose: its order of ties is the miner's order.
    std::sort(items.begin(), items.end(),
              [&](pattern_item a, pattern_item b) { return supports[a] > supports[b]; });
    std::vector<std::uint32_t> ranks(supports.size(), 0);
    for (std::uint32_t rank = 0; rank < items.size(); ++rank) ranks[items[rank]] = rank;
    return ranks;
}

// If all windows are the same, they never reach the miner.
bool is_every_window(const pattern_table& table, const spade_windows& windows) {
    if (table.size() != 1 || table.counts[0] != windows.size()) return false;
    for (std::size_t w = 0; w < windows.size(); ++w)
        if (windows.items(w).size() != table.items.size()) return false;
    return true;
}

// Patterns as words whose letters count ranks from the highest down.
class words {
public:
    words(const pattern_table& table, const std::vector<std::uint32_t>& ranks)
        : table_(table), ranks_(ranks), last_(*std::max_element(ranks.begin(), ranks.end())) {}

    /// The first letters as one number, which decides unless it is the same for both words.
    std::uint64_t key(std::size_t pattern, std::vector<std::uint32_t>& letters) const {
        spell(pattern, letters);
        const auto width = static_cast<std::size_t>(std::bit_width(last_ + 1));
        std::uint64_t out = 0;
        for (std::size_t i = 0; i < 64 / width; ++i)
            out = out << width | (i < letters.size() ? letters[i] : last_ + 1);
        return out;
    }
    void spell(std::size_t pattern, std::vector<std::uint32_t>& letters) const {
        letters.clear();
        for (const pattern_item item : table_.pattern(pattern))
            letters.push_back(last_ - ranks_[item]);
        std::sort(letters.begin(), letters.end());
        letters.push_back(last_ + 1);
    }

private:
    const pattern_table& table_;
    const std::vector<std::uint32_t>& ranks_;
    std::uint32_t last_;
};

}  // namespace

elephant_order order_as_elephant(const spade_windows& windows, const pattern_table& table,
                                 const pattern_rule& rule, const execution& run) {
    if (table.window_bins != windows.window_bins())
        throw invalid_argument("the patterns are not of these windows");
    elephant_order out;
    out.ranks = ranks_of(reduced_supports(windows, rule, run.stop));
    if (table.empty()) return out;
    for (const pattern_item item : table.items)
        if (item >= out.ranks.size())
            throw invalid_argument("the patterns are not of these windows");
    if (is_every_window(table, windows)) {
        for (pattern_item item = 0; item < out.ranks.size(); ++item)
            out.ranks[item] = static_cast<std::uint32_t>(out.ranks.size() - 1) - item;
        out.patterns.push_back(0);
        return out;
    }

    struct place {
        std::uint64_t key;
        std::size_t pattern;
        std::uint32_t count;
    };
    const words spelled(table, out.ranks);
    std::vector<std::uint32_t> a;
    std::vector<std::uint32_t> b;
    std::vector<place> places;
    places.reserve(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
        core::stop_at_times(i, run.stop);
        places.push_back({spelled.key(i, a), i, windows.window_bins() > 1 ? table.counts[i] : 0});
    }
    std::size_t comparisons = 0;
    std::sort(places.begin(), places.end(), [&](const place& x, const place& y) {
        core::stop_at_times(++comparisons, run.stop);
        if (x.count != y.count) return x.count < y.count;
        if (x.key != y.key) return x.key < y.key;
        spelled.spell(x.pattern, a);
        spelled.spell(y.pattern, b);
        return a < b;
    });
    out.patterns.reserve(places.size());
    for (const place& p : places) out.patterns.push_back(p.pattern);
    return out;
}

}  // namespace spikeweave
