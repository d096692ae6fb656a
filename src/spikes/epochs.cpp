#include "spikeweave/spikes/epochs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/text.hpp"
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

void keep_notes(const spike_sequence& from, spike_sequence& in) {
    in.set_doubtful_pairs({from.doubtful_pairs().begin(), from.doubtful_pairs().end()});
    in.set_places(from.places());
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
    keep_notes(spikes, out.spikes);
    return out;
}

spike_sequence within_epochs(const spike_sequence& spikes, std::span<const time_span> epochs) {
    concatenated_epochs joined = concatenate_epochs(spikes, epochs, duration{0});
    std::vector<std::int64_t> times_us;
    times_us.reserve(joined.spikes.size());
    for (const std::int64_t time : joined.spikes.times_us())
        times_us.push_back(joined.original(duration{time}).count());
    spike_sequence out(std::move(times_us),
                       {joined.spikes.units().begin(), joined.spikes.units().end()},
                       spikes.unit_names(), {epochs.front().begin, epochs.back().end});
    out.epochs_ = std::move(joined.sources);
    keep_notes(spikes, out);
    return out;
}

spike_sequence taken_from(const spike_sequence& from, spike_sequence spikes) {
    keep_notes(from, spikes);
    return from.epochs().empty() ? std::move(spikes) : within_epochs(spikes, from.epochs());
}

spike_sequence within_span(const spike_sequence& spikes, const time_span& span) {
    const auto times = spikes.times_us();
    const auto first = std::lower_bound(times.begin(), times.end(), span.begin.count());
    const auto end = std::upper_bound(first, times.end(), span.end.count());
    const auto units = spikes.units().subspan(static_cast<std::size_t>(first - times.begin()),
                                              static_cast<std::size_t>(end - first));
    spike_sequence out({first, end}, {units.begin(), units.end()}, spikes.unit_names(), span);
    keep_notes(spikes, out);
    return out;
}

separated_epochs::separated_epochs(const spike_sequence& spikes, duration reach)
    : given_(spikes.epochs().empty() ? &spikes : nullptr) {
    if (given_ != nullptr) return;
    joined_ = concatenate_epochs(spikes, spikes.epochs(), reach);
    joined_.spikes = within_epochs(joined_.spikes, joined_.spans);
}

epochs_of_events epochs_around(std::span<const std::int64_t> events_us, duration from,
                               duration to) {
    if (to <= from)
        throw invalid_argument(fmt::format("an epoch cannot be from {} to {} around an event",
                                           format_duration(from), format_duration(to)));
    epochs_of_events out;
    std::vector<time_span>& epochs = out.epochs;
    epochs.reserve(events_us.size());
    for (const std::int64_t event : events_us) {
        const time_span epoch{duration{event} + from, duration{event} + to};
        if (!epochs.empty() && epoch.begin < epochs.back().begin)
            throw invalid_argument("events are not in the order of their times");
        if (!epochs.empty() && epoch.begin == epochs.back().begin) {
            ++out.repeated;
            continue;
        }
        if (!epochs.empty() && epoch.begin < epochs.back().end) {
            ++out.shortened;
            epochs.back().end = epoch.begin;
        }
        epochs.push_back(epoch);
    }
    return out;
}

std::vector<std::string> warnings_of(const epochs_of_events& made) {
    std::vector<std::string> out;
    if (made.shortened > 0)
        out.push_back(fmt::format(
            "{} of {} epochs around events {} shorter, because the next one begins before {}.",
            core::grouped(made.shortened), core::grouped(made.epochs.size()),
            made.shortened == 1 ? "is" : "are", made.shortened == 1 ? "its end" : "their ends"));
    if (made.repeated > 0)
        out.push_back(fmt::format("{} at the time of another one: one epoch is around both.",
                                  made.repeated == 1
                                      ? std::string("1 event is")
                                      : core::grouped(made.repeated) + " events are"));
    return out;
}

}  // namespace spikeweave
