#include "spade_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "output.hpp"
#include "spike_source.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

void take_warnings(run_record& record, std::vector<std::string> more) {
    for (std::string& warning : more) record.warnings.push_back(std::move(warning));
}

// Before the memory is asked for: a system that promises more than it has would end us.
void check_memory(std::uint64_t bytes, const std::string& what, const memory_guard& memory) {
    if (bytes <= memory.most()) return;
    throw invalid_argument(
        fmt::format("{} may take {}, {}", what, format_memory(bytes), memory.too_much()));
}

// A search counts the windows of all items that there could be.
void check_items_fit(std::size_t units, const spade_choices& choices, const memory_guard& memory) {
    constexpr std::uint64_t bytes_per_item = 12;
    constexpr std::uint64_t bytes_per_unit = 64;
    const std::uint64_t numbered = std::numeric_limits<std::int32_t>::max();
    if (units * std::uint64_t{choices.window} > numbered) return;  // which is refused anyway
    check_memory(units * (std::uint64_t{choices.window} * bytes_per_item + bytes_per_unit),
                 fmt::format("{} units in windows of {} bins", grouped(units), choices.window),
                 memory);
}

// Items are UNIT * WINDOW + BIN: all that is known of units is their numbers.
spade_file_input read_given_windows(const spade_choices& choices, const memory_guard& memory,
                                    const execution& run) {
    if (is_standard_input(choices.path))
        throw invalid_argument("windows are read from a file, not from standard input");
    spade_windows windows = read_transactions(choices.path, choices.window, run);
    check_items_fit(windows.unit_count(), choices, memory);
    run_record record{.input = describe_input(choices.path, run)};
    take_warnings(record, warnings_of(choices));
    spade_input prepared = prepare_spade(std::move(windows), choices);
    take_warnings(record, std::exchange(prepared.warnings, {}));
    return {.prepared = std::move(prepared), .record = std::move(record)};
}

void note_file(run_record& record, const spike_file& file) {
    record.warnings = warnings_of(file);
    record.duplicates = file.duplicates;
    record.stimuli = file.stimulus_us.size();
}

void check_windows_fit(const binned_spikes& binned, const spade_choices& choices,
                       const memory_guard& memory) {
    // A window begins at a spike, and a spike is in a window once.
    const std::uint64_t windows =
        std::min<std::uint64_t>(binned.size(), std::min(choices.window, binned.bin_count()));
    check_memory(binned.size() * windows * sizeof(pattern_item),
                 fmt::format("{} binned spikes in windows of {} bins", grouped(binned.size()),
                             choices.window),
                 memory);
    check_items_fit(binned.unit_count(), choices, memory);
}

spade_file_input read_recording(const spade_choices& choices, const memory_guard& memory,
                                session& now) {
    const execution run = now.run(choices.threads);
    run_record record;
    if (is_standard_input(choices.path) && now.ranks)
        throw invalid_argument("several processes cannot share standard input: name a file");
    const spike_source source(choices.path, now.stop);
    spike_file file = source.read(choices.how, run);
    note_file(record, file);
    record.input = source.describe(run);
    now.stop_if_asked();
    if (!choices.only_units.empty()) file.spikes = only_units(file.spikes, choices.only_units);
    binned_recording binned =
        bin_recording(std::move(file.spikes), choices, file.has_recorded_span);
    take_warnings(record, std::exchange(binned.warnings, {}));
    take_warnings(record, warnings_of(choices));
    check_windows_fit(binned.binned, choices, memory);
    spade_input prepared = prepare_spade(std::move(binned), choices, run);
    take_warnings(record, std::exchange(prepared.warnings, {}));
    return {.prepared = std::move(prepared), .record = std::move(record)};
}

}  // namespace

spade_file_input read_input(const spade_choices& choices, const memory_guard& memory,
                            session& now) {
    return choices.transactions ? read_given_windows(choices, memory, now.run(choices.threads))
                                : read_recording(choices, memory, now);
}

}  // namespace spikeweave::cli
