#include "spikeweave/mine/spade/pattern_blocks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/stop.hpp"

namespace spikeweave {
namespace {

// Length of one array of a block. Memory of that size returns to the system as soon as it is freed,
// so a joined table and its blocks never exist side by side.
constexpr std::size_t most_numbers = std::size_t{1} << 23U;

template <class T>
void join_values(std::deque<pattern_table>& blocks, std::vector<T> pattern_table::*field,
                 std::vector<T>& into, const std::stop_token& stop) {
    constexpr std::size_t piece = std::size_t{1} << 18U;
    std::size_t total = 0;
    for (const pattern_table& block : blocks) total += (block.*field).size();
    into.reserve(total);
    for (pattern_table& block : blocks) {
        const std::span<const T> values(block.*field);
        for (std::size_t at = 0; at < values.size(); at += piece) {
            core::throw_if_stopped(stop);
            const auto some = values.subspan(at, std::min(piece, values.size() - at));
            into.insert(into.end(), some.begin(), some.end());
        }
        block.*field = {};
    }
}

void join_offsets(std::deque<pattern_table>& blocks,
                  std::vector<std::uint64_t> pattern_table::*field,
                  std::vector<std::uint64_t>& into) {
    std::size_t total = 1;
    for (const pattern_table& block : blocks) total += (block.*field).size() - 1;
    into.reserve(total);
    for (pattern_table& block : blocks) {
        const std::uint64_t base = into.back();
        for (std::size_t i = 1; i < (block.*field).size(); ++i)
            into.push_back(base + (block.*field)[i]);
        block.*field = {};
    }
}

}  // namespace

// Returns a block with room for this many more numbers.
pattern_table& pattern_blocks::block_for(std::size_t items, std::size_t occurrences) {
    const auto is_full = [&](const pattern_table& block) {
        return std::max({block.items.size() + items, block.occurrences.size() + occurrences,
                         2 * (block.size() + 1)}) > most_numbers;
    };
    if (!blocks_.empty() && (blocks_.back().empty() || !is_full(blocks_.back())))
        return blocks_.back();
    const bool first = blocks_.empty();
    pattern_table& block = blocks_.emplace_back(pattern_table{.window_bins = window_bins_});
    // Pages that are never written take no memory.
    if (!first) {
        block.items.reserve(std::max(items, most_numbers));
        block.occurrences.reserve(std::max(occurrences, most_numbers));
        block.item_offsets.reserve(most_numbers / 2 + 1);
        block.occurrence_offsets.reserve(most_numbers / 2 + 1);
        block.counts.reserve(most_numbers);
    }
    return block;
}

void pattern_blocks::append(std::span<const pattern_item> pattern, std::uint32_t count,
                            std::span<const std::uint32_t> starts) {
    block_for(pattern.size(), starts.size()).append(pattern, count, starts);
}

void pattern_blocks::append(const pattern_table& table) {
    const bool with_occurrences = table.occurrence_offsets.size() > 1;
    for (std::size_t i = 0; i < table.size(); ++i)
        append(table.pattern(i), table.counts[i],
               with_occurrences ? table.occurrences_of(i) : std::span<const std::uint32_t>{});
}

pattern_table pattern_blocks::joined(const std::stop_token& stop) {
    pattern_table out{.window_bins = window_bins_};
    std::deque<pattern_table> blocks = std::exchange(blocks_, {});
    if (blocks.empty()) return out;
    if (blocks.size() == 1) return std::move(blocks.front());
    join_values(blocks, &pattern_table::items, out.items, stop);
    join_values(blocks, &pattern_table::counts, out.counts, stop);
    join_values(blocks, &pattern_table::occurrences, out.occurrences, stop);
    join_offsets(blocks, &pattern_table::item_offsets, out.item_offsets);
    join_offsets(blocks, &pattern_table::occurrence_offsets, out.occurrence_offsets);
    return out;
}

void keep_patterns(pattern_table& table, std::span<const std::size_t> kept) {
    const bool with_occurrences = table.occurrence_offsets.size() > 1;
    std::uint64_t items = 0;
    std::uint64_t occurrences = 0;
    const auto move_down = [](auto& values, std::uint64_t from, std::uint64_t to,
                              std::uint64_t at) {
        std::copy(values.begin() + static_cast<std::ptrdiff_t>(from),
                  values.begin() + static_cast<std::ptrdiff_t>(to),
                  values.begin() + static_cast<std::ptrdiff_t>(at));
        return at + to - from;
    };
    for (std::size_t row = 0; row < kept.size(); ++row) {
        const std::size_t i = kept[row];
        // The offsets written here lie before those still to be read.
        const std::uint64_t end = table.item_offsets[i + 1];
        items = move_down(table.items, table.item_offsets[i], end, items);
        table.counts[row] = table.counts[i];
        if (with_occurrences) {
            const std::uint64_t last = table.occurrence_offsets[i + 1];
            occurrences =
                move_down(table.occurrences, table.occurrence_offsets[i], last, occurrences);
        }
        table.item_offsets[row + 1] = items;
        if (with_occurrences) table.occurrence_offsets[row + 1] = occurrences;
    }
    table.items.resize(items);
    table.counts.resize(kept.size());
    table.item_offsets.resize(kept.size() + 1);
    table.occurrences.resize(occurrences);
    table.occurrence_offsets.resize(with_occurrences ? kept.size() + 1 : 1);
}

}  // namespace spikeweave
