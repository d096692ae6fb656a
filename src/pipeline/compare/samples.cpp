#include "pipeline/compare/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/text.hpp"
#include "pipeline/call_facts.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::pipeline {
namespace {

// No delay in use reaches from one recording into the next; and epochs keep them apart anyway.
constexpr duration between_recordings = std::chrono::seconds{1};

bool has_unit(const spike_sequence& spikes, const std::string& name) {
    return std::ranges::find(spikes.unit_names(), name) != spikes.unit_names().end();
}

std::vector<std::string> common_units(std::span<const spike_sequence* const> recordings,
                                      std::vector<std::string>& warnings) {
    std::vector<std::string> names = recordings.front()->unit_names();
    std::size_t most = names.size();
    for (const spike_sequence* const one : recordings) {
        most = std::max(most, one->unit_count());
        std::erase_if(names, [&](const std::string& name) { return !has_unit(*one, name); });
    }
    if (names.empty())
        throw invalid_argument(
            "no unit is in all recordings: units are the same if they have the same name");
    if (names.size() < most)
        warnings.push_back(
            fmt::format("{} units are in all recordings, and the largest recording has {}; all "
                        "others are left out.",
                        core::grouped(names.size()), core::grouped(most)));
    return names;
}

// The blocks of a recording. The last one holds its last spike, and a rest that is too short.
std::vector<time_span> cut_into_blocks(const time_span& span, duration length) {
    std::vector<time_span> blocks = regular_trials(span, length, duration{0});
    const duration end = span.end + duration{1};
    if (blocks.size() > 1 && 2 * (end - blocks.back().begin) < length) blocks.pop_back();
    if (!blocks.empty()) blocks.back().end = end;
    return blocks;
}

std::vector<time_span> epochs_of_recording(const spike_sequence& spikes) {
    if (spikes.epochs().empty()) return {{spikes.span().begin, spikes.span().end + duration{1}}};
    return {spikes.epochs().begin(), spikes.epochs().end()};
}

duration time_in(std::span<const time_span> epochs) {
    duration out{0};
    for (const time_span& one : epochs) out += one.length();
    return out;
}

// A last block that holds the end of the recording may differ from the others by a microsecond.
// Blocks with the same counts have the same rate, so that labellings that are ties stay ties.
duration time_of_block(const time_span& one, duration block) {
    constexpr duration moment{1};
    const duration time = one.length();
    return block - moment <= time && time <= block + moment ? block : time;
}

// Puts recordings one after another.
class recording_row {
public:
    explicit recording_row(std::vector<std::string> names) : names_(std::move(names)) {}

    // Returns by how much its times are shifted.
    duration add(const spike_sequence& recording) {
        std::vector<std::optional<unit_id>> place(recording.unit_count());
        for (std::size_t u = 0; u < names_.size(); ++u)
            place[to_index(recording.unit(names_[u]))] = unit_id{static_cast<std::uint32_t>(u)};
        const duration shift = end_ - recording.span().begin;
        for (std::size_t i = 0; i < recording.size(); ++i)
            if (const auto unit = place[to_index(recording.units()[i])])
                spikes_.emplace_back(recording.times_us()[i] + shift.count(), *unit);
        end_ = recording.span().end + shift + between_recordings;
        return shift;
    }

    spike_sequence joined() && {
        return sequence_of(std::move(spikes_), std::move(names_), {duration{0}, end_});
    }

private:
    std::vector<std::string> names_;
    std::vector<std::pair<std::int64_t, unit_id>> spikes_{};
    duration end_{0};
};

std::vector<time_span> shifted(std::vector<time_span> epochs, duration by) {
    for (time_span& one : epochs) one = {one.begin + by, one.end + by};
    return epochs;
}

}  // namespace

compared_samples take_samples(const compared_recordings& of, duration block) {
    const auto& [a, b] = of.of;
    if (a.empty() || b.empty()) throw invalid_argument("each condition needs a recording");
    compared_samples out;
    std::vector<const spike_sequence*> recordings;
    for (const auto& condition : of.of)
        for (const spike_sequence& one : condition) recordings.push_back(&one);
    const bool of_recordings = recordings.size() > 2;
    const bool have_epochs = !a[0].epochs().empty();
    if (!of_recordings && have_epochs != !b[0].epochs().empty())
        throw invalid_argument(
            "epochs can be compared only with epochs, and whole recordings only with whole "
            "recordings");
    out.kind = of_recordings ? sample_kind::recordings
               : have_epochs ? sample_kind::epochs
                             : sample_kind::blocks;
    recording_row row(common_units(recordings, out.warnings));
    std::vector<time_span> epochs;
    for (std::size_t i = 0; i < recordings.size(); ++i) {
        const spike_sequence& one = *recordings[i];
        const std::size_t condition = i < a.size() ? 0 : 1;
        std::vector<time_span> own =
            shifted(out.kind == sample_kind::blocks ? cut_into_blocks(one.span(), block)
                                                    : epochs_of_recording(one),
                    row.add(one));
        epochs.insert(epochs.end(), own.begin(), own.end());
        if (of_recordings) {
            out.samples.push_back(own);
            out.observed.push_back(time_in(own));
        } else {
            for (const time_span& epoch : own) {
                out.samples.push_back({epoch});
                out.observed.push_back(out.kind == sample_kind::blocks ? time_of_block(epoch, block)
                                                                       : epoch.length());
            }
        }
        if (condition == 0) out.samples_a = out.samples.size();
        out.searches.emplace_back(condition, std::move(own));
    }
    out.spikes = within_epochs(std::move(row).joined(), epochs);
    for (const auto& [condition, own] : out.searches) {
        const spike_sequence part = within_epochs(out.spikes, own);
        condition_summary& summary = out.conditions[condition];
        ++summary.recordings;
        summary.observed += part.observed_time();
        summary.spikes += part.size();
    }
    out.conditions[0].samples = out.samples_a;
    out.conditions[1].samples = out.samples.size() - out.samples_a;
    return out;
}

}  // namespace spikeweave::pipeline

namespace spikeweave {

compared_recordings conditions_of(const spike_sequence& spikes, std::span<const time_span> a,
                                  std::span<const time_span> b) {
    for (const time_span& one : a)
        for (const time_span& other : b)
            if (one.begin < other.end && other.begin < one.end)
                throw invalid_argument(
                    fmt::format("epochs of the two conditions overlap: {} to {}, and {} to {}",
                                format_duration(one.begin), format_duration(one.end),
                                format_duration(other.begin), format_duration(other.end)));
    compared_recordings out;
    for (const std::size_t condition : {0U, 1U}) {
        const std::span<const time_span> epochs = condition == 0 ? a : b;
        if (epochs.empty()) throw invalid_argument("each condition needs epochs");
        epoch_options these;
        these.epochs.assign(epochs.begin(), epochs.end());
        chosen_time chosen = choose_time(spikes, these);
        // Spikes that are in no epoch of one condition need no warning.
        if (chosen.warnings.size() > 1)
            pipeline::add_new_warnings(out.warnings, {chosen.warnings.front()});
        out.of[condition].push_back(std::move(*chosen.spikes));
    }
    return out;
}

}  // namespace spikeweave
