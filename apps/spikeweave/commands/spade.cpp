#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/parts.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/pipeline/spade/cost.hpp"
#include "spikeweave/report/spade.hpp"
#include "spikeweave/report/strategies.hpp"

namespace spikeweave::cli {
namespace {

struct spade_command : divided_command<spade_options> {
    bool transactions = false;  ///< FILE has windows, not spikes
    bool occurrences = false;
    bool nwb = false;
    std::uint64_t max_memory_bytes = 0;
    std::string window{};  ///< as typed; empty: that of `analysis`

    // Patterns that are only written go straight to the file.
    bool is_collected() const {
        return analysis.is_tested() || analysis.reduce || analysis.stability || nwb || output.json;
    }
};

option_list describe(spade_command& options) {
    option_list list = describe_command(
        options,
        "patterns.tsv, signatures.tsv, spectrum.tsv, funnel.tsv, run.json and report.html");
    list.begin_group(list.find("only_units").group);
    list.add("transactions", options.transactions,
             "FILE contains windows instead of spikes, one on each line; the items of a window are "
             "the numbers UNIT * WINDOW + BIN")
        .not_with({"only_units", "t_start", "t_stop", "epochs", "around", "surrogates"});
    list.begin_group(list.find("output").group);
    list.add("occurrences", options.occurrences,
             "write the times of occurrences even if patterns are not tested; patterns.tsv may "
             "then become large")
        .only_with("output");
    list.add("nwb", options.nwb, "also write patterns.nwb").only_with("output");
    describe_epochs(list, options.input.epochs);
    option& window = list.change("window");
    window.bind(options.window).written("BINS|TIME");
    window.help += "; or a time that is a multiple of `bin`, such as 100ms";
    window.get = [&options]() -> option_value {
        if (options.window.empty()) return std::uint64_t{options.analysis.window};
        return options.window;
    };
    list.begin_group(list.find("surrogates").group);
    add_part_option(list, options.parts);
    list.begin_group(list.find("alpha").group);
    add_confirm(list, options.input.confirm).only_with("surrogates");
    add_max_memory(list, options.max_memory_bytes);
    return list;
}

// The options that a part is made with, in which a window has bins.
option_list describe_part(spade_command& options) {
    option_list list = describe(options);
    list.change("window").bind(options.analysis.window);
    return list;
}

std::vector<time_span>& epochs_of(spade_command& options) {
    return options.analysis.epochs;
}

// Passes the cost of a long search on; on a terminal it is of no use when the search has ended.
void show_estimate(std::string_view text, const invocation& call) {
    if (!call.progress.hold({}, std::string(text)))
        write_stderr(fmt::format("spikeweave: {}\n", text));
}

/// The analysis of a file, and its record.
struct prepared_file {
    spade_analysis in;
    run_record record{};
    input_record confirming{};  ///< the file that confirms
};

prepared_file prepare(spade_command& options, const invocation& call, const execution& run) {
    const std::string& path = options.input.path;
    if (options.transactions) {
        if (is_standard_input(path))
            throw invalid_argument("windows are read from a file, not from standard input");
        spade_windows windows = read_transactions(path, options.analysis.window, run);
        check_memory(windows, *call.memory);
        return {{options.analysis, prepare_spade(std::move(windows), options.analysis)},
                {.parameters = parameters_of(describe(options.input)),
                 .input = describe_input(path, run)}};
    }
    spike_input in = read_input(options.input, options.analysis.epochs, call, run);
    std::optional<spike_input> other = read_confirming(options.input, in.record, call, run);
    return {
        prepare_spade(std::move(in.spikes), other ? &other->spikes : nullptr, options.analysis,
                      {in.has_recorded_span, other && other->has_recorded_span}, run, call.memory),
        std::move(in.record), other ? std::move(other->record.input) : input_record{}};
}

// Completes the report of a result, and writes and prints it.
template <class Result>
void finish(spade_command& options, prepared_file file, Result result, pattern_stream* stream,
            const invocation& call, const execution& run) {
    call.stop_if_asked();
    call.memory->check();
    pattern_report report = report_of(std::move(file.in.prepared.spikes), std::move(result), run);
    report.with_nwb = options.nwb;
    report.replication_input = std::move(file.confirming);
    report.run.warnings = file.record.warnings;
    add_parameters(file.record.parameters, describe(options),
                   {"confirm", "transactions", "max_memory"});
    const auto text_of = [&](const pattern_report& shown) {
        const std::string to = options.output.to.string();
        return summarize(shown, shows_colour(STDOUT_FILENO)) +
               with_command_line_names(summarize_search(shown, file.in.search)) +
               (to.empty() ? "" : fmt::format("\nwritten to {}\n", to));
    };
    complete_record(options.output, report, std::move(file.record), call);
    if (stream != nullptr)
        stream->commit(report, run);
    else if (!options.output.to.empty())
        write_report(options.output.to, report, options.output.overwrite, run);
    print_result(options.output, report, call, text_of);
}

// Mines without holding the patterns; the largest are shown.
void stream(spade_command& options, prepared_file file, const invocation& call,
            const execution& run) {
    constexpr std::size_t most_shown = 2'000;  // a few megabytes with their page
    std::optional<pattern_stream> to;
    if (!options.output.to.empty() && call.is_root())
        to.emplace(options.output.to, file.in.prepared.axes, options.occurrences,
                   options.output.overwrite);
    // All ranks mine with occurrences, though only the first one writes.
    spade_stream_result result = stream_spade(
        file.in.prepared, file.in.search, most_shown,
        [&](const pattern_table& block) {
            if (to) to->take(block);
        },
        options.occurrences && !options.output.to.empty(), run);
    if (call.is_root())
        finish(options, std::move(file), std::move(result), to ? &*to : nullptr, call, run);
}

void find(spade_command& options, const invocation& call) {
    execution run = call.run(options.analysis.run.threads);
    if (!call.quiet) run.on_estimate = [&](std::string_view text) { show_estimate(text, call); };
    // Epochs may be known only when the file is read; then all is checked.
    if (!options.input.epochs.given()) check_spade(options.analysis, !options.transactions);
    check_part(options.parts, options.analysis.surrogates, options.output, result_kind::spade,
               call);
    prepared_file file = prepare(options, call, run);
    const spade_analysis& in = file.in;
    // Warnings are shown now that it is clear that the search can begin.
    call.warn(file.record.warnings);
    call.warn(file.record, in.prepared.warnings);
    if (!options.parts.part.is_all())
        return write_part(options, "spade", std::move(file.record),
                          tally_part(in.prepared, in.search, options.parts.part, run), call, run);
    if (call.is_root())
        check_cost(in, options.is_collected(), run, call.memory, call.progress.shown());
    if (!options.is_collected()) return stream(options, std::move(file), call, run);
    const auto tallied = merged_tally<maxima_tally>(options.parts.merged, file.record.input);
    spade_result found = run_spade(in, run, tallied ? &*tallied : nullptr);
    if (!call.is_root()) return;
    call.warn(file.record, found.warnings);
    finish(options, std::move(file), std::move(found), nullptr, call, run);
}

void run(spade_command& options, invocation& call) {
    if (!options.window.empty())
        options.analysis.window = window_in_bins(options.window, options.analysis.bin);
    run_within_memory(
        options.max_memory_bytes,
        "a larger --min-occ or --min-spikes, or a smaller --window, gives fewer patterns", call,
        [&](const invocation& guarded) { find(options, guarded); });
}

}  // namespace

void merge_spade(const std::vector<part_record>& parts, const merge_target& target,
                 invocation& call) {
    run_merged<spade_command>(parts, target, call);
}

void declare_spade(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<spade_command>();
    add_spike_file(sub, options->input.path);
    declare_options(
        sub, chosen, options,
        "Examples: spikeweave spade spikes.nwb --bin 5ms --window 20 --surrogates 1000 -o "
        "patterns\n"
        "          spikeweave spade windows.txt.gz --transactions --rules 88:2:2,25:3:3 -o "
        "patterns");
    add_strategy_list(sub, &list_spade_strategies);
}

}  // namespace spikeweave::cli
