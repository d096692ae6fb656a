#include "mine/assemblies/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::assemblies {
namespace {

constexpr std::uint64_t most_bins = std::uint64_t{1} << 31;

// Adds one spike. Those of a unit are in order, so that only the last bin can be hit again.
void add_spike(series& unit, std::uint32_t position, const spike_sequence& spikes, std::size_t i,
               duration bin) {
    if (unit.at.empty() || unit.at.back() != position) {
        unit.at.push_back(position);
        unit.count.push_back(1);
        return;
    }
    if (unit.count.back() == std::numeric_limits<std::int16_t>::max())
        throw invalid_argument(
            "bins", fmt::format("unit '{}' has more than {} spikes in a bin of {}",
                                spikes.name(spikes.units()[i]),
                                core::grouped(static_cast<std::uint64_t>(unit.count.back())),
                                format_duration(bin)));
    ++unit.count.back();
}

}  // namespace

layout::layout(const spike_sequence& spikes, duration width, std::uint32_t longest_lag,
               std::uint32_t chunk_bins)
    : bin(width), max_lag(longest_lag) {
    std::uint64_t position = longest_lag;
    for (const time_span& span : spikes.observed()) {
        const auto length =
            static_cast<std::uint64_t>((span.length() + duration{1}).count() / width.count());
        if (position + length + longest_lag > most_bins)
            throw invalid_argument("bins",
                                   fmt::format("the recording has more than {} bins of {}",
                                               core::grouped(most_bins), format_duration(width)));
        if (length <= longest_lag) continue;
        const auto starts = static_cast<std::uint32_t>(length - longest_lag);
        const std::uint32_t chunks = (starts + chunk_bins - 1) / chunk_bins;
        segments.push_back({.first = static_cast<std::uint32_t>(position),
                            .length = static_cast<std::uint32_t>(length),
                            .usable = starts,
                            .chunk = starts / chunks,
                            .chunks = chunks,
                            .begin = span.begin});
        bins += length;
        usable += starts;
        position += length + longest_lag;
    }
    positions = static_cast<std::uint32_t>(position);
}

duration layout::time_of(std::uint32_t position) const {
    const auto after = std::ranges::upper_bound(segments, position, {}, &segment::first);
    const segment& part = *(after - 1);
    return part.begin + bin * static_cast<std::int64_t>(position - part.first);
}

void series::finish(std::uint64_t bins) {
    floor = 0;
    total = 0;
    at_least.clear();
    if (count.size() == bins && bins > 0) floor = *std::ranges::min_element(count);
    for (std::size_t i = 0; i < size(); ++i) {
        const auto here = static_cast<std::size_t>(above_floor(i));
        if (here == 0) continue;
        if (at_least.size() < here) at_least.resize(here);
        ++at_least[here - 1];
        total += here;
    }
    for (std::size_t level = at_least.size(); level-- > 1;) at_least[level - 1] += at_least[level];
}

std::vector<series> series_of(const spike_sequence& spikes, const layout& bins,
                              const std::stop_token& stop) {
    std::vector<series> out(spikes.unit_count());
    auto part = bins.segments.begin();
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        core::stop_at_times(i, stop);
        const std::int64_t time = spikes.times_us()[i];
        const auto bin_of = [&] { return (time - part->begin.count()) / bins.bin.count(); };
        while (part != bins.segments.end() && bin_of() >= part->length) ++part;
        if (part == bins.segments.end()) break;
        if (time < part->begin.count()) continue;
        add_spike(out[to_index(spikes.units()[i])],
                  part->first + static_cast<std::uint32_t>(bin_of()), spikes, i, bins.bin);
    }
    for (series& unit : out) unit.finish(bins.bins);
    return out;
}

}  // namespace spikeweave::assemblies
