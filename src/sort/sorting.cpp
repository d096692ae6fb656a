#include "spikeweave/sort/sorting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave {

sorted_spikes to_spikes(const sorting& sorted) {
    if (!sorted.has_times())
        throw invalid_argument("the times of these spikes are not known in seconds");
    if (sorted.samples.size() != sorted.labels.size())
        throw invalid_argument(fmt::format("there are {} times for {} spikes",
                                           sorted.samples.size(), sorted.labels.size()));
    if (!sorted.fractions.empty() && sorted.fractions.size() != sorted.labels.size())
        throw invalid_argument(fmt::format("there are {} fractions for {} spikes",
                                           sorted.fractions.size(), sorted.labels.size()));
    sorted_spikes out;
    spike_sequence_builder builder;
    std::vector<unit_id> units;
    units.reserve(sorted.unit_count);
    for (std::uint32_t u = 1; u <= sorted.unit_count; ++u)
        units.push_back(builder.unit(std::to_string(u)));
    const auto time_of = [&](double sample) {
        return sorted.begin + duration_from_seconds(sample / sorted.sample_rate);
    };
    // A peak before the time of the first sample is moved to that sample.
    const auto sample_of = [&](std::size_t n) {
        const auto sample = static_cast<double>(sorted.samples[n]);
        return sorted.fractions.empty() ? sample : std::max(0.0, sample + sorted.fractions[n]);
    };
    time_span span{duration::max(), duration::min()};
    if (sorted.sample_count > 0)
        span = {sorted.begin, time_of(static_cast<double>(sorted.sample_count))};
    for (std::size_t n = 0; n < sorted.labels.size(); ++n) {
        const duration time = time_of(sample_of(n));
        span.begin = std::min(span.begin, time);
        span.end = std::max(span.end, time);
        const std::uint32_t label = sorted.labels[n];
        if (label > sorted.unit_count)
            throw invalid_argument(
                fmt::format("spike {} belongs to unit {} of {}", n, label, sorted.unit_count));
        if (label == 0) {
            ++out.noise;
        } else {
            builder.append(time.count(), units[label - 1]);
        }
    }
    out.spikes = sorted.labels.empty() ? builder.finish() : builder.finish(span);
    out.duplicates = builder.duplicates();
    return out;
}

}  // namespace spikeweave
