#include "mine/bursts/steps.hpp"

#include <algorithm>
#include <cstddef>

namespace spikeweave::bursts {
namespace {

// Both ends belong to a burst. Those of a unit do not overlap.
std::vector<time_span> times_of_many(const std::vector<unit_burst>& bursts, std::uint64_t units) {
    std::vector<duration> ends;
    ends.reserve(bursts.size());
    for (const unit_burst& one : bursts) ends.push_back(one.end);
    std::ranges::sort(ends);
    std::vector<time_span> out;
    std::uint64_t now = 0;
    std::size_t next_end = 0;
    for (const unit_burst& one : bursts) {
        for (; ends[next_end] < one.begin; ++next_end)
            if (now-- == units) out.back().end = ends[next_end];
        if (++now == units) out.push_back({.begin = one.begin});
    }
    for (; now >= units; ++next_end)
        if (now-- == units) out.back().end = ends[next_end];
    return out;
}

// Whether both are in the same epoch.
class epoch_finder {
public:
    explicit epoch_finder(const spike_sequence& spikes) : observed_(spikes.observed()) {}

    bool share_one(const network_burst& a, const network_burst& b) const { return of(a) == of(b); }

private:
    std::ptrdiff_t of(const network_burst& one) const {
        return std::ranges::upper_bound(observed_, one.begin, {}, &time_span::begin) -
               observed_.begin();
    }

    std::vector<time_span> observed_;
};

std::vector<network_burst> joined(const std::vector<time_span>& times, const spike_sequence& spikes,
                                  const burst_options& options) {
    const epoch_finder epochs(spikes);
    std::vector<network_burst> out;
    for (const time_span& time : times) {
        const network_burst next{.begin = time.begin, .end = time.end};
        if (!out.empty() && epochs.share_one(out.back(), next) &&
            next.begin - out.back().end < options.min_separation)
            out.back().end = next.end;
        else
            out.push_back(next);
    }
    std::erase_if(
        out, [&](const network_burst& one) { return one.end - one.begin < options.min_duration; });
    for (std::size_t i = 1; i < out.size(); ++i)
        if (epochs.share_one(out[i - 1], out[i])) out[i].interval = out[i].begin - out[i - 1].end;
    return out;
}

void count_spikes(std::vector<network_burst>& network, std::span<const std::int64_t> times_us) {
    constexpr std::int64_t width_us = 10'000;
    for (network_burst& one : network) {
        const auto* const first =
            std::lower_bound(times_us.data(), times_us.data() + times_us.size(), one.begin.count());
        const auto* const end =
            std::upper_bound(first, times_us.data() + times_us.size(), one.end.count());
        one.spikes = static_cast<std::uint64_t>(end - first);
        std::ptrdiff_t most = 0;
        for (const std::int64_t *from = first, *to = first; to != end; ++to) {
            while (*to - *from >= width_us) ++from;
            most = std::max(most, to - from + 1);
        }
        one.peak_rate_hz = static_cast<double>(most) * 1e6 / static_cast<double>(width_us);
    }
}

// A burst that overlaps two network bursts counts for both, and has the first one.
void find_participating(std::vector<network_burst>& network, std::vector<unit_burst>& bursts,
                        std::size_t units) {
    // The last network burst of each unit, so that none is counted twice.
    std::vector<std::size_t> last(units, network.size());
    std::size_t first = 0;
    for (unit_burst& one : bursts) {
        while (first < network.size() && network[first].end < one.begin) ++first;
        for (std::size_t i = first; i < network.size() && network[i].begin <= one.end; ++i) {
            if (!one.network) one.network = i;
            std::size_t& of_unit = last[to_index(one.unit)];
            if (of_unit == network.size() || of_unit < i) {
                of_unit = i;
                ++network[i].participating;
            }
        }
    }
}

}  // namespace

std::vector<network_burst> network_bursts(const spike_sequence& spikes,
                                          std::vector<unit_burst>& bursts, std::uint64_t units,
                                          const burst_options& options) {
    std::vector<network_burst> network = joined(times_of_many(bursts, units), spikes, options);
    count_spikes(network, spikes.times_us());
    find_participating(network, bursts, spikes.unit_count());
    return network;
}

}  // namespace spikeweave::bursts
