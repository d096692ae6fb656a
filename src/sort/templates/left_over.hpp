#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spikeweave::templates {

/// The remainder that spikes of a unit leave in the scores of another filter, at the lag at which
/// the two correlate most, after all spikes are subtracted.
struct left_over {
    std::uint64_t count = 0;   ///< spikes without one of the other unit beside them
    std::int64_t sizes = 0;    ///< sum of their sizes
    std::int64_t squares = 0;  ///< sum of the squares of the scores

    void add(const left_over& other) {
        count += other.count;
        sizes += other.sizes;
        squares += other.squares;
    }
};

/// By unit, then by row of its overlaps.
using left_over_table = std::vector<std::vector<left_over>>;

inline void add(const left_over_table& part, left_over_table& into) {
    if (into.empty()) into = left_over_table(part.size());
    for (std::size_t unit = 0; unit < part.size(); ++unit) {
        into[unit].resize(part[unit].size());
        for (std::size_t row = 0; row < part[unit].size(); ++row)
            into[unit][row].add(part[unit][row]);
    }
}

}  // namespace spikeweave::templates
