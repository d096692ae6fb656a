#include "mine/spade/fp_growth/record_groups.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "core/stop.hpp"
#include "mine/spade/fp_growth/checked_uint32.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::spade {
namespace {

// The last step of SplitMix64 (Steele et al. 2014, doi:10.1145/2660193.2660195).
std::uint64_t mix(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9U;
    value = (value ^ value >> 27U) * 0x94D049BB133111EBU;
    return value ^ value >> 31U;
}

// A hash: equal for equal bins, mostly different for different ones.
std::uint64_t key_of(std::span<const std::uint32_t> bins, std::uint32_t later) {
    std::uint64_t key = 0;
    for (const std::uint32_t bin : bins) key += mix(std::uint64_t{bin} + later);
    return key;
}

// Whether each item of `part`, shifted later by this many bins, is in `whole`. Both are in time
// order. A shift below zero wraps round and does not find the first item, which has lag 0.
bool is_part(const pattern_table& table, std::span<const pattern_item> part,
             std::span<const pattern_item> whole, std::uint32_t later) {
    std::size_t at = 0;
    for (const pattern_item item : part) {
        const std::uint32_t lag = table.lag(item) + later;
        while (at < whole.size() && (table.lag(whole[at]) < lag ||
                                     (table.lag(whole[at]) == lag && whole[at] < item + later)))
            ++at;
        if (at == whole.size() || whole[at] != item + later) return false;
        ++at;
    }
    return true;
}

class grouping {
public:
    // @param later  returns the shift of the first of two patterns
    using shift = std::function<std::uint32_t(const record& part, const record& whole)>;
    grouping(std::span<const pattern_table> tables, shift later)
        : tables_(tables), later_(std::move(later)) {}

    // Leaves out patterns that are part of another one with the same key and count.
    std::vector<record> without_parts(const std::vector<record>& records,
                                      const execution& run) const {
        std::array<std::vector<record>, 256> piles;
        for (const record& one : records) piles[one.key >> 56U].push_back(one);
        parallel::parallel_for(piles.size(), run, "comparing patterns",
                               [&](std::size_t i) { remove_parts(piles[i], run.stop); });
        std::vector<record> kept;
        for (std::vector<record>& pile : piles) {
            kept.insert(kept.end(), pile.begin(), pile.end());
            pile = {};
        }
        return kept;
    }

private:
    const pattern_table& table(const record& one) const { return tables_[one.table]; }
    std::span<const pattern_item> items(const record& one) const {
        return table(one).pattern(one.row);
    }

    void remove_parts(std::vector<record>& pile, const std::stop_token& stop) const {
        // Larger patterns first, so that a whole precedes its parts.
        std::sort(pile.begin(), pile.end(), [&](const record& a, const record& b) {
            return a.key != b.key ? a.key < b.key : items(a).size() > items(b).size();
        });
        std::size_t kept = 0;
        std::size_t group = 0;  // index of the first pattern kept with this key
        for (std::size_t i = 0; i < pile.size(); ++i) {
            const record one = pile[i];
            if (i % 4096 == 0) core::throw_if_stopped(stop);
            if (group < kept && pile[group].key != one.key) group = kept;
            const bool part =
                std::any_of(pile.begin() + static_cast<std::ptrdiff_t>(group),
                            pile.begin() + static_cast<std::ptrdiff_t>(kept),
                            [&](const record& whole) { return is_part_of(one, whole); });
            if (!part) pile[kept++] = one;
        }
        pile.resize(kept);
    }

    bool is_part_of(const record& part, const record& whole) const {
        return table(part).counts[part.row] == table(whole).counts[whole.row] &&
               is_part(table(part), items(part), items(whole), later_(part, whole));
    }

    std::span<const pattern_table> tables_;
    shift later_;
};

}  // namespace

std::vector<record> closed_records(std::span<const pattern_table> tables, const execution& run) {
    std::vector<record> records;
    for (std::uint32_t t = 0; t < tables.size(); ++t) {
        core::throw_if_stopped(run.stop);
        for (std::size_t row = 0; row < tables[t].size(); ++row)
            records.push_back({key_of(tables[t].occurrences_of(row), 0), t,
                               checked_uint32(row, "patterns of one item")});
    }
    return grouping(tables, [](const record&, const record&) { return 0U; })
        .without_parts(records, run);
}

std::vector<record> without_window_subsets(std::span<const pattern_table> tables,
                                           std::vector<record> records, const execution& run) {
    const auto last_lag = [&](const record& one) { return tables[one.table].duration(one.row); };
    for (record& one : records)
        one.key = key_of(tables[one.table].occurrences_of(one.row), last_lag(one));
    return grouping(tables, [&](const record& part,
                                const record& whole) { return last_lag(whole) - last_lag(part); })
        .without_parts(records, run);
}

}  // namespace spikeweave::spade
