#include <algorithm>
#include <map>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

void pattern_table::append(std::span<const pattern_item> pattern, std::uint32_t count,
                           std::span<const std::uint32_t> starts) {
    items.insert(items.end(), pattern.begin(), pattern.end());
    item_offsets.push_back(items.size());
    counts.push_back(count);
    if (starts.empty()) return;
    occurrences.insert(occurrences.end(), starts.begin(), starts.end());
    occurrence_offsets.push_back(occurrences.size());
}

std::vector<signature_count> count_signatures(const pattern_table& table, spectrum_kind kind) {
    std::map<signature_count, std::uint64_t> numbers;
    for (std::size_t i = 0; i < table.size(); ++i)
        ++numbers[{.size = static_cast<std::uint32_t>(table.pattern(i).size()),
                   .count = table.counts[i],
                   .duration = kind == spectrum_kind::size_count ? 0 : table.duration(i)}];
    std::vector<signature_count> out;
    out.reserve(numbers.size());
    for (const auto& [signature, number] : numbers) {
        out.push_back(signature);
        out.back().patterns = number;
    }
    return out;
}

}  // namespace spikeweave
