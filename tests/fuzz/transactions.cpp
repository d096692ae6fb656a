#include <fmt/format.h>

#include <algorithm>

#include "fuzz/harness.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave::fuzz {

SPIKEWEAVE_FUZZ_TARGET(transactions, bytes, nullptr) {
    constexpr std::uint32_t window_bins = 5;
    const spade_windows first =
        read_transactions(folder.file("a.txt", bytes), window_bins, one_thread());
    std::string text;
    for (std::size_t window = 0; window < first.size(); ++window) {
        for (const pattern_item item : first.items(window)) text += fmt::format("{} ", item);
        text += '\n';
    }
    const spade_windows second =
        read_transactions(folder.file("again.txt", text), window_bins, one_thread());
    bool same = first.size() == second.size() && first.unit_count() == second.unit_count();
    for (std::size_t window = 0; same && window < first.size(); ++window) {
        const auto one = first.items(window);
        const auto other = second.items(window);
        same = std::equal(one.begin(), one.end(), other.begin(), other.end());
    }
    require(same, "windows come back as others");
}

}  // namespace spikeweave::fuzz
