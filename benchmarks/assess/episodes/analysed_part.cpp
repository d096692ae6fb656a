#include "analysed_part.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/unit_groups.hpp"

namespace null_recordings {

using namespace spikeweave;

namespace {

// Returns the times of events, whole epochs of which lie in the recording.
std::vector<std::int64_t> events(const time_span& span, duration before, duration after,
                                 std::uint32_t seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> gap(1);
    std::vector<std::int64_t> out;
    for (double t = gap(random);; t += gap(random)) {
        const duration at = duration_from_seconds(t);
        if (at + after > span.end) return out;
        if (at > before) out.push_back(at.count());
    }
}

}  // namespace

analysed_part::analysed_part(const std::string& text)
    : null(text.substr(0, text.find_first_of("/@"))) {
    const std::size_t at = text.find('@');
    if (text.size() > null.size() && text[null.size()] == '/')
        units_of_group = std::stoul(text.substr(null.size() + 1, at));
    if (at == std::string::npos) return;
    const std::string times = text.substr(at + 1);
    const std::size_t dots = times.find("..");
    const std::size_t colon = times.find(':');
    if (dots != std::string::npos) {
        before = parse_duration(times.substr(0, dots));
        after = parse_duration(times.substr(dots + 2));
    } else if (colon != std::string::npos) {
        time.trial_length = parse_duration(times.substr(0, colon));
        time.trial_separation = parse_duration(times.substr(colon + 1));
    } else {
        throw invalid_argument(fmt::format(
            "'{}' is neither EPOCH:GAP, such as 400ms:100ms, nor BEFORE..AFTER", times));
    }
}

spike_sequence analysed_part::grouped(spike_sequence spikes) const {
    if (units_of_group == 1) return spikes;
    unit_groups groups;
    for (std::size_t u = 0; u < spikes.unit_count(); ++u)
        groups[spikes.unit_names()[u]] = fmt::format("group {}", u / units_of_group);
    return group_units(spikes, groups).spikes;
}

spike_sequence analysed_part::cut(spike_sequence spikes, std::uint32_t seed) const {
    epoch_options how = time;
    if (after > duration{0})
        how.epochs =
            epochs_around(events(spikes.span(), before, after, seed), -before, after).epochs;
    chosen_time part = choose_time(spikes, how);
    return part.spikes ? std::move(*part.spikes) : std::move(spikes);
}

spike_sequence analysed_part::of(spike_sequence spikes, std::uint32_t seed) const {
    return cut(grouped(std::move(spikes)), seed);
}

}  // namespace null_recordings
