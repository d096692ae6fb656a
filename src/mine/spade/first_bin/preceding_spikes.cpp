#include "mine/spade/first_bin/preceding_spikes.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/stop.hpp"

namespace spikeweave::spade {

preceding_spikes::preceding_spikes(const item_index& items, bool active,
                                   const std::stop_token& stop)
    : items_(items) {
    if (!active || !items.from_bins() || items.window_bins() == 1 || items.window_count() == 0)
        return;
    std::size_t spikes = 0;
    for (std::uint32_t window = 0; window < items.window_count(); ++window)
        spikes += items.row(window).size();
    // Windows are about as full before their start as after it. With an eighth of the bits set, a
    // few windows have little in common.
    const std::size_t bits = 8 * spikes / items.window_count();
    words_ = std::clamp<std::size_t>(std::bit_ceil(bits / 64 + 1), 1, most_words);
    signatures_.assign(items.window_count() * words_, 0);
    for (std::uint32_t window = 0; window < items.window_count(); ++window) {
        core::stop_at_times(window, stop);
        any_before(window, 0, [&](std::uint32_t before, item_index::item_id item) {
            const std::uint32_t place = hash(before, item);
            signatures_[window * words_ + place / 64] |= std::uint64_t{1} << (place % 64);
            return false;
        });
    }
}

template <class Take>
bool preceding_spikes::any_before(std::uint32_t window, std::uint32_t duration, Take&& take) const {
    const std::uint32_t most = items_.window_bins() - 1 - duration;
    const std::uint32_t start = items_.start(window);
    for (std::uint32_t v = window; v-- > 0;) {
        const std::uint32_t before = start - items_.start(v);
        if (before > most) return false;
        for (const item_index::item_id item : items_.first_bin_of(v))
            if (take(before, item)) return true;
    }
    return false;
}

// Fibonacci hashing: the high bits of a product are well mixed.
std::uint32_t preceding_spikes::hash(std::uint32_t before, item_index::item_id item) const {
    const std::uint32_t slot = before * items_.first_bin_items() + item;
    const auto bits = static_cast<unsigned>(std::countr_zero(words_ * 64));
    return static_cast<std::uint32_t>(slot * std::uint32_t{2654435769}) >> (32 - bits);
}

bool preceding_spikes::precede_all(std::span<const std::uint32_t> windows,
                                   std::uint32_t duration) const {
    if (!active()) return false;
    std::array<std::uint64_t, most_words> common;
    const std::uint64_t* first = signatures_.data() + windows.front() * words_;
    std::copy(first, first + words_, common.begin());
    for (const std::uint32_t window : windows.subspan(1)) {
        const std::uint64_t* signature = signatures_.data() + window * words_;
        std::uint64_t any = 0;
        for (std::size_t i = 0; i < words_; ++i) any |= common[i] &= signature[i];
        if (any == 0) return false;
    }
    const auto fires_before = [&](std::uint32_t window, std::uint32_t before,
                                  item_index::item_id item) {
        return any_before(window, duration, [&](std::uint32_t other, item_index::item_id id) {
            return other == before && id == item;
        });
    };
    return any_before(
        windows.front(), duration, [&](std::uint32_t before, item_index::item_id item) {
            const std::uint32_t place = hash(before, item);
            if ((common[place / 64] >> (place % 64) & 1U) == 0) return false;
            return std::all_of(windows.begin() + 1, windows.end(), [&](std::uint32_t window) {
                return fires_before(window, before, item);
            });
        });
}

}  // namespace spikeweave::spade
