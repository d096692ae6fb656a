#include <algorithm>
#include <numeric>
#include <vector>

#include "mine/spade/first_bin/closed_search.hpp"
#include "mine/spade/first_bin/rule_set.hpp"
#include "mine/spade/search/miners.hpp"

namespace spikeweave {
namespace {

// Keeps the largest counts, and wants only patterns that would raise one.
class raising {
public:
    raising(const pattern_mining_options& options, const spade::rule_set& rules, spectrum_kind kind,
            std::uint32_t window_bins)
        : rules_(rules),
          max_occ_(options.max_occ),
          by_duration_(kind == spectrum_kind::size_count_duration) {
        maxima.durations = by_duration_ ? window_bins : 1;
    }

    std::uint32_t least(std::uint32_t size, std::uint32_t units, std::uint32_t duration,
                        std::uint32_t more_items, std::uint32_t more_units) const {
        const std::uint32_t largest =
            more_items > spade::rule_set::none - size ? spade::rule_set::none : size + more_items;
        std::uint32_t least = spade::rule_set::none;
        for (const pattern_rule& rule : rules_.rules()) {
            if (rule.min_occ >= least) break;
            if (!spade::rule_set::reachable(rule, size, units, more_items, more_units)) continue;
            // Maxima never rise with the size, so the largest reachable pattern has the lowest
            // maximum to exceed.
            const std::uint32_t to_beat =
                lowest(std::min(largest, rule.max_spikes), column(duration));
            least = std::min(least, std::max(rule.min_occ, to_beat + 1));
        }
        return least;
    }
    bool wants(std::uint32_t size, std::uint32_t units, std::uint32_t count,
               std::uint32_t duration) const {
        return count > maxima.at(size, column(duration)) && rules_.take(size, units, count);
    }
    bool may_want(std::uint32_t size, std::uint32_t units, std::uint32_t count) const {
        return count > lowest(size, 0) && rules_.take(size, units, count);
    }
    void drop(const spade::found_pattern& /*found*/) {}
    void take(const spade::found_pattern& found) {
        const auto count = static_cast<std::uint32_t>(found.windows.size());
        if (max_occ_ > 0 && count > max_occ_) return;
        const std::size_t columns = maxima.durations;
        const std::size_t size = found.ids.size();
        if (maxima.most.size() < (size + 1) * columns) {
            maxima.most.resize((size + 1) * columns, 0);
            lowest_.resize(maxima.most.size(), 0);
        }
        const std::uint32_t at = column(found.duration);
        for (std::size_t z = 0; z <= size; ++z) {
            std::uint32_t* row = &maxima.most[z * columns];
            if (row[at] >= count) continue;
            row[at] = count;
            for (std::size_t d = at + 1; d-- > 0;)
                lowest_[z * columns + d] =
                    d + 1 < columns ? std::min(row[d], lowest_[z * columns + d + 1]) : row[d];
        }
    }

    occurrence_maxima maxima{};

private:
    std::uint32_t column(std::uint32_t duration) const { return by_duration_ ? duration : 0; }
    // The lowest maximum of patterns of this size and of this duration or a longer one.
    std::uint32_t lowest(std::uint32_t size, std::uint32_t from) const {
        return size < maxima.sizes() ? lowest_[std::size_t{size} * maxima.durations + from] : 0;
    }

    const spade::rule_set& rules_;
    std::uint32_t max_occ_;
    bool by_duration_;
    std::vector<std::uint32_t> lowest_;
};

}  // namespace

occurrence_maxima find_occurrence_maxima(const spade_windows& windows,
                                         const pattern_mining_options& given, spectrum_kind kind,
                                         const execution& run) {
    const pattern_mining_options options = spade::checked_options(windows, given);
    const spade::rule_set rules(options.rules);
    const spade::item_index items(windows, rules.least_occ(), run.stop);
    const spade::preceding_spikes before(items, options.drop_window_subsets, run.stop);
    raising goal(options, rules, kind, windows.window_bins());
    // Units with many spikes are first: their patterns are likely to have the largest counts, and
    // to save the search others.
    std::vector<spade::item_index::item_id> roots(items.first_bin_items());
    std::iota(roots.begin(), roots.end(), 0);
    std::stable_sort(roots.begin(), roots.end(), [&](auto a, auto b) {
        return items.windows_of(a).size() > items.windows_of(b).size();
    });
    spade::closed_search search(items, before, goal, run.stop);
    for (const auto root : roots) search.run(root, 0, std::numeric_limits<std::uint32_t>::max());
    return goal.maxima;
}

}  // namespace spikeweave
