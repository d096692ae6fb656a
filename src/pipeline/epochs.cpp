#include "spikeweave/pipeline/epochs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

std::string spaceless(duration time) {
    std::string text = format_duration(time);
    std::erase(text, ' ');
    return text;
}

std::string text_of(const time_span& span) {
    return fmt::format("{} to {}", format_duration(span.begin), format_duration(span.end));
}

// The part from `t_start` to `t_stop` that was recorded.
time_span chosen_span(const time_span& recorded, const epoch_options& options) {
    const time_span span{std::max(recorded.begin, options.t_start.value_or(recorded.begin)),
                         std::min(recorded.end, options.t_stop.value_or(recorded.end))};
    if (span.begin >= span.end)
        throw invalid_argument(fmt::format(
            "nothing was recorded between `t_start` {} and `t_stop` {}: the recording is {}",
            format_duration(options.t_start.value_or(recorded.begin)),
            format_duration(options.t_stop.value_or(recorded.end)), text_of(recorded)));
    return span;
}

// The recorded parts of the epochs. An epoch does not contain its end, but the span does.
std::vector<time_span> recorded_part(const std::vector<time_span>& epochs,
                                     const time_span& recorded,
                                     std::vector<std::string>& warnings) {
    std::vector<time_span> kept;
    std::size_t cut = 0;
    for (const time_span& epoch : epochs) {
        const time_span part{std::max(epoch.begin, recorded.begin),
                             std::min(epoch.end, recorded.end + duration{1})};
        if (part != epoch) ++cut;
        if (part.begin < part.end || epoch.begin >= epoch.end) kept.push_back(part);
    }
    if (kept.empty())
        throw invalid_argument(fmt::format(
            "`epochs`: nothing was recorded in them; the recording is {}", text_of(recorded)));
    if (cut > 0)
        warnings.push_back(fmt::format(
            "{} of {} epochs are partly or wholly outside of the recording, which is {}: only what "
            "was recorded is used.",
            core::grouped(cut), core::grouped(epochs.size()), text_of(recorded)));
    return kept;
}

}  // namespace

void describe_span(option_list& list, std::optional<duration>& t_start,
                   std::optional<duration>& t_stop, std::vector<time_span>& epochs,
                   std::string epochs_help) {
    list.add("t_start", t_start, "ignore earlier spikes")
        .by_default("the beginning of the recording")
        .not_with({"epochs"});
    list.add("t_stop", t_stop, "ignore later spikes")
        .by_default("the end of the recording")
        .not_with({"epochs"});
    list.add("epochs", epochs, std::move(epochs_help))
        .basic()
        .written("EPOCHS")
        .by_default("the whole recording");
}

option_list describe(epoch_options& options) {
    option_list list;
    list.begin_group("Time");
    describe_span(list, options.t_start, options.t_stop, options.epochs,
                  "use only the spikes in these epochs; no occurrence reaches from one epoch into "
                  "the next, and counts, rates and tests refer to the time in the epochs");
    list.add("trial_length", options.trial_length,
             "the recording consists of trials of this length, from its beginning or `t_start`; "
             "each is an epoch, also a shorter last one")
        .above(0)
        .by_default("no trials")
        .not_with({"epochs"});
    list.add("trial_separation", options.trial_separation,
             "time between the end of a trial and the beginning of the next one; it is left out")
        .at_least(0)
        .only_with("trial_length");
    return list;
}

chosen_time choose_time(const spike_sequence& spikes, const epoch_options& options) {
    check_options(options);
    chosen_time out;
    if (options == epoch_options{}) return out;
    std::vector<time_span> epochs = options.epochs;
    if (epochs.empty()) {
        const time_span span = chosen_span(spikes.span(), options);
        out.spikes = within_span(spikes, span);
        if (!options.trial_length) return out;
        epochs = regular_trials(span, *options.trial_length, options.trial_separation);
        epochs.back().end = std::min(epochs.back().end, span.end + duration{1});
        if (std::string note =
                note_of_cut_trial(span, *options.trial_length, options.trial_separation);
            !note.empty())
            out.warnings.push_back(std::move(note));
    } else {
        epochs = recorded_part(epochs, spikes.span(), out.warnings);
    }
    out.spikes = within_epochs(spikes, epochs);
    if (const std::size_t outside = spikes.size() - out.spikes->size(); outside > 0)
        out.warnings.push_back(fmt::format("{} of {} spikes are in no epoch.",
                                           core::grouped(outside), core::grouped(spikes.size())));
    return out;
}

option_value option_codec<std::vector<time_span>>::show(const std::vector<time_span>& field) {
    if (field.empty()) return nullptr;
    std::vector<std::string> parts;
    parts.reserve(field.size());
    for (const time_span& epoch : field)
        parts.push_back(fmt::format("{}:{}", spaceless(epoch.begin), spaceless(epoch.end)));
    return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<time_span> option_codec<std::vector<time_span>>::read(const option_value& value) {
    std::vector<time_span> epochs;
    for (const std::string_view part : core::split(std::get<std::string>(value), ",")) {
        const std::size_t colon = part.find(':');
        if (colon == std::string_view::npos)
            throw invalid_argument(fmt::format("'{}' is not BEGIN:END, such as 0s:4s", part));
        epochs.push_back(
            {parse_duration(part.substr(0, colon)), parse_duration(part.substr(colon + 1))});
    }
    return epochs;
}

}  // namespace spikeweave
