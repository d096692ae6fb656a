#include "cli/confirming.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/epochs.hpp"

namespace spikeweave::cli {

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

std::optional<spike_input> read_confirming(const std::filesystem::path& file,
                                           spike_input_options input,
                                           const epoch_source_options& epochs, run_record& of_file,
                                           const invocation& now, const execution& run) {
    if (file.empty()) return {};
    if (is_standard_input(file) && is_standard_input(input.path))
        throw invalid_argument("confirm", "standard input can be only one of the two recordings");
    input.path = file.string();
    std::optional<spike_input> out;
    try {
        out = read_input(input, now, run);
    } catch (const invalid_argument& error) {
        throw invalid_argument(fmt::format("'{}': {}", input.path, error.what()));
    }
    if (!epochs.around.empty()) {
        epoch_options around;
        take_epochs({.around = epochs.around}, input.path, *out, around.epochs, run);
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
