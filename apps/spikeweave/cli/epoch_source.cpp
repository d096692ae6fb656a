#include "cli/epoch_source.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::cli {
namespace {

/// A part of time around each event of a name.
struct around_events {
    std::string name;
    duration from;
    duration to;
};

around_events parse_around(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::size_t dots = text.find("..", colon == std::string_view::npos ? 0 : colon);
    if (colon == std::string_view::npos || colon == 0 || dots == std::string_view::npos)
        throw invalid_argument(fmt::format(
            "'{}' is not EVENTS:FROM..TO, such as stimulus:-100ms..400ms or trials:0ms..2s", text));
    around_events out{std::string(text.substr(0, colon)),
                      parse_duration(text.substr(colon + 1, dots - colon - 1)),
                      parse_duration(text.substr(dots + 2))};
    if (out.to <= out.from) throw invalid_argument(fmt::format("'{}' ends before it begins", text));
    return out;
}

// Markers of the file, or the begins of a table of intervals.
std::vector<std::int64_t> events_of(const std::string& name, const std::string& path,
                                    spike_input& input, const execution& run) {
    if (name == "stimulus" && !input.stimulus_us.empty()) return input.stimulus_us;
    if (std::filesystem::path(path).extension() != ".nwb")
        throw invalid_argument(
            "around", fmt::format("'{}' has no events '{}': {}", path, name,
                                  input.stimulus_us.empty() ? "it has no stimulus markers"
                                                            : "its markers are called stimulus"));
    std::vector<std::string> warnings;
    std::vector<std::int64_t> begins = read_nwb_begins(path, name, run, &warnings);
    add_warnings(input.record, warnings);
    return begins;
}

}  // namespace

option& add_around(option_list& list, std::string name, epoch_source_options& options,
                   std::string_view help) {
    option& around = list.add(std::move(name), options.around,
                              fmt::format("{}: the stimulus markers of FILE, or the beginnings in "
                                          "a table of intervals of an NWB file, such as trials",
                                          help));
    around.written("EVENTS:FROM..TO").may_be_unset = true;
    around.get = [&text = options.around]() -> option_value {
        if (text.empty()) return nullptr;
        return text;
    };
    return around.obeys([&text = options.around] {
        if (!text.empty()) parse_around(text);
    });
}

void describe_epochs(option_list& list, epoch_source_options& options) {
    option& epochs = list.change("epochs");
    epochs.bind(options.epochs);
    epochs.help +=
        "; EPOCHS is a table of beginnings and ends in seconds, or an NWB file with trials";
    list.begin_group(epochs.group);
    add_around(list, "around", options,
               "use only this time around each event, as an epoch that ends where the epoch of the "
               "next event begins")
        .by_default("the whole recording")
        .not_with({"epochs", "t_start", "t_stop", "trial_length"});
}

void take_epochs(const epoch_source_options& options, const std::string& path, spike_input& input,
                 std::vector<time_span>& into, const execution& run) {
    std::vector<std::string> warnings;
    if (!options.epochs.empty()) into = read_epochs(options.epochs, run, &warnings);
    add_warnings(input.record, warnings);
    if (options.around.empty()) return;
    const around_events around = parse_around(options.around);
    epochs_of_events made =
        epochs_around(events_of(around.name, path, input, run), around.from, around.to);
    add_warnings(input.record, warnings_of(made));
    into = std::move(made.epochs);
}

}  // namespace spikeweave::cli
