#include "cli/spike_input.hpp"

#include <fmt/format.h>

#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/spikes/epoch_labels.hpp"
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

// Markers of the file, or the begins of a table of intervals, whose labels the epochs get.
std::vector<std::int64_t> events_of(const around_events& around, const std::string& label_column,
                                    const std::string& path, spike_input& input,
                                    const execution& run) {
    const std::string& name = around.name;
    if (name == "stimulus" && !input.stimulus_us.empty()) {
        if (!label_column.empty())
            throw invalid_argument("epoch_labels", "the stimulus markers of a file have no labels");
        return input.stimulus_us;
    }
    if (std::filesystem::path(path).extension() != ".nwb")
        throw invalid_argument(
            "around", fmt::format("'{}' has no events '{}': {}", path, name,
                                  input.stimulus_us.empty() ? "it has no stimulus markers"
                                                            : "its markers are called stimulus"));
    std::vector<std::string> warnings;
    std::vector<std::int64_t> begins = read_nwb_begins(path, name, run, &warnings);
    add_warnings(input.record, warnings);
    input.record.epoch_labels = read_nwb_labels(path, name, label_column, run);
    for (epoch_label& one : input.record.epoch_labels) one.begin += around.from;
    return begins;
}

void unset_if_empty(option& one, const std::string& text) {
    one.may_be_unset = true;
    one.get = [&text]() -> option_value {
        if (text.empty()) return nullptr;
        return text;
    };
}

}  // namespace

bool is_named_as_samples(const std::string& path) {
    const auto extension = std::filesystem::path(path).extension();
    return extension == ".bin" || extension == ".dat" || extension == ".raw";
}

void refuse_recording_options(const recording_read_options& options, const std::string& path) {
    if (options != recording_read_options{})
        throw invalid_argument(fmt::format(
            "'{}' is a file of spikes, to which the options of recordings do not apply", path));
}

spike_source::spike_source(const std::string& path, const std::stop_token& stop) : path_(path) {
    if (!is_standard_input(path)) return;
    held_.emplace(stop);
    path_ = held_->path();
}

spike_file spike_source::read(const spike_read_options& reading, const execution& run) const {
    const auto renamed = [this](std::string text) {
        for (const std::string& name : {"'" + path_ + "'", path_})
            if (const std::size_t at = text.find(name); at != std::string::npos)
                text.replace(at, name.size(), "standard input");
        return text;
    };
    try {
        return read_spikes(path_, reading, run);
    } catch (const std::bad_alloc&) {
        throw io_error(
            fmt::format("'{}': there is not enough memory for its spikes: --only-units reads some "
                        "of them, and episodes --stream holds only a part in memory at a time",
                        held_ ? "standard input" : path_));
    } catch (const io_error& error) {
        if (!held_) throw;
        throw io_error(renamed(error.what()));
    } catch (const invalid_argument& error) {
        if (!held_) throw;
        throw invalid_argument(renamed(error.what()));
    }
}

input_record spike_source::describe(const execution& run) const {
    input_record record = describe_input(path_, run);
    if (held_) record.path = "-";
    return record;
}

void add_spike_file(CLI::App& app, std::string& path, const std::string& what) {
    add_argument(app, "FILE", path, what + "; - is standard input");
}

option_list describe(spike_input_options& options) {
    return describe(options.reading);
}

spike_input read_input(const spike_input_options& options, const invocation& call,
                       const execution& run) {
    if (is_standard_input(options.path) && call.ranks)
        throw invalid_argument("several processes cannot share standard input: name a file");
    const spike_source source(options.path, call.stop);
    spike_file file = source.read(options.reading, run);
    spike_read_options reading = options.reading;
    spike_input in{.has_recorded_span = file.has_recorded_span,
                   .record = {.parameters = parameters_of(describe(reading)),
                              .input = source.describe(run),
                              .duplicates = file.duplicates,
                              .stimuli = file.stimulus_us.size()}};
    add_warnings(in.record, warnings_of(file));
    in.stimulus_us = std::move(file.stimulus_us);
    call.stop_if_asked();
    in.left_out = units_left_out(file);
    in.spikes = std::move(file.spikes);
    return in;
}

spike_input read_input(const spike_input_options& options, std::vector<time_span>& epochs,
                       const invocation& call, const execution& run) {
    spike_input in = read_input(options, call, run);
    take_epochs(options.epochs, options.path, in, epochs, run);
    return in;
}

std::vector<episode> read_given(const std::filesystem::path& file, const spike_input& input) {
    if (!input.left_out.empty()) check_not_left_out(input.left_out, units_of_episodes(file));
    return read_episodes(file, input.spikes);
}

void add_epoch_labels(option_list& list, epoch_source_options& options) {
    option& labels =
        list.add("epoch_labels", options.labels,
                 "the column with the label of each epoch, such as its condition, in EPOCHS or the "
                 "table of EVENTS; the page has a curve and a block of rows for each label")
            .by_default("the column condition, label, stimulus or trial_type, if there is one")
            .written("COLUMN")
            .obeys([&options] {
                if (!options.labels.empty() && !options.given())
                    throw invalid_argument("it is a column of EPOCHS or EVENTS: give one of them");
            });
    unset_if_empty(labels, options.labels);
}

option& add_around(option_list& list, std::string name, epoch_source_options& options,
                   std::string_view help) {
    option& around = list.add(std::move(name), options.around,
                              fmt::format("{}: the stimulus markers of FILE, or the beginnings in "
                                          "a table of intervals of an NWB file, such as trials",
                                          help));
    around.written("EVENTS:FROM..TO");
    unset_if_empty(around, options.around);
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
    if (!options.epochs.empty())
        into =
            read_epochs(options.epochs, options.labels, input.record.epoch_labels, run, &warnings);
    add_warnings(input.record, warnings);
    if (options.around.empty()) return;
    const around_events around = parse_around(options.around);
    epochs_of_events around_each =
        epochs_around(events_of(around, options.labels, path, input, run), around.from, around.to);
    add_warnings(input.record, warnings_of(around_each));
    into = std::move(around_each.epochs);
}

option& add_confirm(option_list& list, std::filesystem::path& file) {
    return list
        .add("confirm", file,
             "search in FILE, and test findings with p below alpha again in this other recording "
             "of the same units, corrected for these findings only; units are the same if they "
             "have the same name")
        .by_default("FILE is both searched and tested")
        .written("OTHER")
        .not_with({"hold_out"});
}

std::optional<spike_input> read_confirming(spike_input_options input, run_record& of_file,
                                           const invocation& call, const execution& run) {
    if (input.confirm.empty()) return {};
    if (is_standard_input(input.confirm) && is_standard_input(input.path))
        throw invalid_argument("confirm", "standard input can be only one of the two recordings");
    input.path = input.confirm.string();
    std::optional<spike_input> out;
    try {
        out = read_input(input, call, run);
    } catch (const invalid_argument& error) {
        throw invalid_argument(fmt::format("'{}': {}", input.path, error.what()));
    }
    if (!input.epochs.around.empty()) {
        epoch_options around;
        take_epochs({.around = input.epochs.around, .labels = input.epochs.labels}, input.path,
                    *out, around.epochs, run);
        chosen_time chosen = choose_time(out->spikes, around);
        out->spikes = std::move(*chosen.spikes);
        add_warnings(out->record, chosen.warnings);
    }
    for (const std::string& warning : out->record.warnings)
        add_warnings(of_file, {fmt::format("'{}': {}", input.path, warning)});
    return out;
}

input_record exchange_inputs(run_record& of_file, spike_input& confirming) {
    confirming.record.warnings = std::move(of_file.warnings);
    std::swap(of_file, confirming.record);
    return std::move(confirming.record.input);
}

}  // namespace spikeweave::cli
