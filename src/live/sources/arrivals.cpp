#include "live/sources/arrivals.hpp"

#include <algorithm>

namespace spikeweave::live {

void arrival_bound::looked(bool nothing_waits, clock::time_point now) {
    constexpr std::chrono::milliseconds longest_usual{100};
    constexpr std::chrono::milliseconds until_others_received{50};
    if (now - last_look_ > longest_usual) believed_from_ = now + until_others_received;
    last_look_ = now;
    if (nothing_waits && now >= believed_from_) empty_at_ = now;
}

void arrivals::add(const source_block& block, clock::time_point since) {
    const clock::time_point now = clock::now();
    while (!blocks_.empty() && now - blocks_.front().times.taken > longest_memory)
        blocks_.pop_front();
    if (block.spikes.empty()) return;
    const auto [first, last] = std::ranges::minmax_element(block.spikes, {}, &spike_event::time_us);
    blocks_.push_back({first->time_us, last->time_us, {since, now}});
}

std::optional<block_times> arrivals::of(std::int64_t time_us) const {
    const auto found = std::ranges::find_if(blocks_, [&](const block_arrival& one) {
        return one.first_us <= time_us && time_us <= one.last_us;
    });
    if (found == blocks_.end()) return {};
    return found->times;
}

}  // namespace spikeweave::live
