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

// Warnings are shown once it is clear that the search can begin.
void note_warnings(run_record& record, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings)
        record.warnings.push_back(with_command_line_names(warning));
}

// Memory is checked before it is allocated: a system that promises more than it has would kill the
// process.
void check_memory(std::uint64_t bytes, const std::string& what, const memory_guard& memory) {
    if (bytes <= memory.most()) return;
    throw invalid_argument(
        fmt::format("{} may take {}, {}", what, format_memory(bytes), memory.too_much()));
}

// A search counts the windows of all items that there could be.
void check_items_fit(std::size_t units, std::uint64_t window, const memory_guard& memory) {
    constexpr std::uint64_t bytes_per_item = 12;
    constexpr std::uint64_t bytes_per_unit = 64;
    const std::uint64_t numbered = std::numeric_limits<std::int32_t>::max();
    if (units * window > numbered) return;  // `spade_windows` refuses these
    check_memory(units * (window * bytes_per_item + bytes_per_unit),
                 fmt::format("{} units in windows of {} bins", grouped(units), window), memory);
}

// Items are UNIT * WINDOW + BIN: units are known by their numbers only.
spade_file_input read_given_windows(const spade_command& options, const memory_guard& memory,
                                    const execution& run) {
    if (is_standard_input(options.path))
        throw invalid_argument("windows are read from a file, not from standard input");
    spade_windows windows = read_transactions(options.path, options.analysis.window, run);
    check_items_fit(windows.unit_count(), options.analysis.window, memory);
    run_record record{.input = describe_input(options.path, run)};
    spade_input prepared = prepare_spade(std::move(windows), options.analysis);
    note_warnings(record, prepared.warnings);
    return {.prepared = std::move(prepared), .record = std::move(record)};
}

void check_windows_fit(const binned_spikes& binned, std::uint32_t window,
                       const memory_guard& memory) {
    // A window begins at a spike, and a spike is in a window once.
    const std::uint64_t windows =
        std::min<std::uint64_t>(binned.size(), std::min(window, binned.bin_count()));
    check_memory(
        binned.size() * windows * sizeof(pattern_item),
        fmt::format("{} binned spikes in windows of {} bins", grouped(binned.size()), window),
        memory);
    check_items_fit(binned.unit_count(), window, memory);
}

spade_file_input read_recording(const spade_command& options, const memory_guard& memory,
                                const execution& run, const session& now) {
    if (is_standard_input(options.path) && now.ranks)
        throw invalid_argument("several processes cannot share standard input: name a file");
    const spike_source source(options.path, now.stop);
    spike_file file = source.read(options.how, run);
    run_record record{.input = source.describe(run),
                      .duplicates = file.duplicates,
                      .stimuli = file.stimulus_us.size()};
    note_warnings(record, warnings_of(file));
    now.stop_if_asked();
    if (!options.only_units.empty()) file.spikes = only_units(file.spikes, options.only_units);
    binned_recording binned =
        bin_recording(std::move(file.spikes), options.analysis, file.has_recorded_span);
    check_windows_fit(binned.binned, options.analysis.window, memory);
    spade_input prepared = prepare_spade(std::move(binned), options.analysis, run);
    note_warnings(record, prepared.warnings);
    return {.prepared = std::move(prepared), .record = std::move(record)};
}

}  // namespace

spade_file_input read_spade_input(const spade_command& options, const memory_guard& memory,
                                  const session& now) {
    const execution run = now.run(options.analysis.run.threads);
    return options.transactions ? read_given_windows(options, memory, run)
                                : read_recording(options, memory, run, now);
}

}  // namespace spikeweave::cli
