#include "spikeweave/spikes/epochs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "spikes/files/time_scale.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using spikes::largest_time_us;

namespace {

std::string described(const time_span& epoch) {
    return fmt::format("({} to {})", format_duration(epoch.begin), format_duration(epoch.end));
}

void check(std::span<const time_span> epochs, duration separation) {
    if (epochs.empty()) throw invalid_argument("there are no epochs to concatenate");
    if (separation < duration{0})
        throw invalid_argument(fmt::format("the separation of epochs must be at least 0, not {}",
                                           format_duration(separation)));
    for (std::size_t i = 0; i < epochs.size(); ++i) {
        if (epochs[i].end <= epochs[i].begin)
            throw invalid_argument(
                fmt::format("epoch {} {} is empty", i + 1, described(epochs[i])));
        if (i > 0 && epochs[i].begin < epochs[i - 1].end)
            throw invalid_argument(fmt::format("epoch {} {} begins before epoch {} {} ends", i + 1,
                                               described(epochs[i]), i, described(epochs[i - 1])));
    }
}

// Epochs do not overlap, so their total length is bounded; separations are not.
std::vector<time_span> line_up(std::span<const time_span> epochs, duration separation) {
    std::vector<time_span> spans;
    spans.reserve(epochs.size());
    duration begin{0};
    for (const time_span& epoch : epochs) {
        if (begin.count() > largest_time_us - epoch.length().count() ||
            separation.count() > largest_time_us)
            throw invalid_argument("the epochs and their separations are too long to be held");
        spans.push_back({begin, begin + epoch.length()});
        begin += epoch.length() + separation;
    }
    return spans;
}

}  // namespace

std::size_t concatenated_epochs::epoch_at(duration time) const {
    if (spans.empty()) throw invalid_argument("there are no epochs that could hold a time");
    const auto behind =
        std::upper_bound(spans.begin(), spans.end(), time,
                         [](duration t, const time_span& span) { return t < span.begin; });
    if (behind == spans.begin()) return 0;
    const auto before = behind - 1;
    const bool nearer_behind =
        behind != spans.end() && time >= before->end && behind->begin - time < time - before->end;
    return static_cast<std::size_t>((nearer_behind ? behind : before) - spans.begin());
}

duration concatenated_epochs::original(duration time) const {
    const std::size_t epoch = epoch_at(time);
    return sources[epoch].begin + (time - spans[epoch].begin);
}

concatenated_epochs concatenate_epochs(const spike_sequence& spikes,
                                       std::span<const time_span> epochs, duration separation) {
    check(epochs, separation);
    concatenated_epochs out{.spans = line_up(epochs, separation),
                            .sources = {epochs.begin(), epochs.end()}};
    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    const auto all = spikes.times_us();
    auto from = all.begin();
    for (std::size_t e = 0; e < epochs.size(); ++e) {
        const std::int64_t shift = (out.spans[e].begin - epochs[e].begin).count();
        from = std::lower_bound(from, all.end(), epochs[e].begin.count());
        const auto end = std::lower_bound(from, all.end(), epochs[e].end.count());
        std::transform(from, end, std::back_inserter(times_us),
                       [shift](std::int64_t t) { return t + shift; });
        const auto kept = spikes.units().subspan(static_cast<std::size_t>(from - all.begin()),
                                                 static_cast<std::size_t>(end - from));
        units.insert(units.end(), kept.begin(), kept.end());
        from = end;
    }
    out.outside = spikes.size() - times_us.size();
    out.spikes = spike_sequence(std::move(times_us), std::move(units), spikes.unit_names(),
                                {duration{0}, out.spans.back().end});
    return out;
}

}  // namespace spikeweave
