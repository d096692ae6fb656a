#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

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

struct spade_command : spike_command<spade_options> {
    bool transactions = false;  ///< FILE has windows, not spikes
    bool occurrences = false;
    bool nwb = false;
    std::uint64_t max_memory_bytes = 0;
    part_options parts{};
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

/// One run of the command.
struct spade_job {
    const spade_command& options;
    const invocation& call;
    execution run;
    run_record record{};
    input_record confirming{};  ///< the file that confirms
    spade_analysis in;
};

spade_analysis read_file(spade_command& options, const invocation& call, const execution& run,
                         run_record& record, input_record& confirming) {
    const std::string& path = options.input.path;
    if (options.transactions) {
        if (is_standard_input(path))
            throw invalid_argument("windows are read from a file, not from standard input");
        spade_windows windows = read_transactions(path, options.analysis.window, run);
        check_memory(windows, *call.memory);
        record.parameters = parameters_of(describe(options.input));
        record.input = describe_input(path, run);
        return {options.analysis, prepare_spade(std::move(windows), options.analysis)};
    }
    spike_input in = read_input(options.input, options.analysis.epochs, call, run);
    std::optional<spike_input> other = read_confirming(options.input, in.record, call, run);
    record = std::move(in.record);
    if (other) confirming = std::move(other->record.input);
    return prepare_spade(std::move(in.spikes), other ? &other->spikes : nullptr, options.analysis,
                         {in.has_recorded_span, other && other->has_recorded_span}, run,
                         call.memory);
}

// Checks the cost of the search, and shows it if that will take long or progress is shown.
void announce(const spade_job& job) {
    const auto& [options, call, run, record, confirming, in] = job;
    if (!call.is_root()) return;
    const spade_cost cost = estimate_search(in.prepared, in.search, options.is_collected(), run);
    if (cost.bytes > call.memory->most())
        throw invalid_argument(
            fmt::format("{}: {}", describe_cost(cost, in.search), call.memory->too_much()));
    check_duration(cost, in.search);
    if (call.quiet) return;
    const std::string text =
        describe_estimate(cost, in.prepared, in.search, call.progress.shown(), run);
    // On a terminal it is of no use when the search has ended.
    if (!text.empty() && !call.progress.hold({}, text))
        write_stderr(fmt::format("spikeweave: {}\n", text));
}

// Completes the report of a result, and writes and prints it.
template <class Result, class Write>
void finish(spade_job& job, Result result, const Write& write) {
    const invocation& call = job.call;
    call.stop_if_asked();
    call.memory->check();
    spade_command options = job.options;
    pattern_report report =
        report_of(std::move(job.in.prepared.spikes), std::move(result), job.run);
    report.with_nwb = options.nwb;
    report.replication_input = std::move(job.confirming);
    report.run.warnings = job.record.warnings;
    add_parameters(job.record.parameters, describe(options),
                   {"confirm", "transactions", "max_memory"});
    const auto text_of = [&](const pattern_report& shown) {
        std::string text = summarize(shown, shows_colour(STDOUT_FILENO)) +
                           with_command_line_names(summarize_search(shown, job.in.search));
        const std::string to = options.output.to.string();
        return to.empty() ? text : text + fmt::format("\nwritten to {}\n", to);
    };
    complete_record(options.output, report, std::move(job.record), call);
    if (!options.output.to.empty()) write(report);
    print_result(options.output, report, call, text_of);
}

// Mines without holding the patterns; the largest are shown.
void stream(spade_job& job) {
    constexpr std::size_t most_shown = 2'000;  // a few megabytes with their page
    const spade_command& options = job.options;
    std::unique_ptr<pattern_stream> file;
    if (!options.output.to.empty() && job.call.is_root())
        file = std::make_unique<pattern_stream>(options.output.to, job.in.prepared.axes,
                                                options.occurrences, options.output.overwrite);
    // All ranks mine with occurrences, though only the first one writes.
    spade_stream_result result = stream_spade(
        job.in.prepared, job.in.search, most_shown,
        [&](const pattern_table& block) {
            if (file) file->take(block);
        },
        options.occurrences && !options.output.to.empty(), job.run);
    if (job.call.is_root())
        finish(job, std::move(result),
               [&](const pattern_report& report) { file->commit(report, job.run); });
}

void collect(spade_job& job) {
    const auto tallied = merged_tally<maxima_tally>(job.options.parts.merged, job.record.input);
    spade_result found = run_spade(job.in, job.run, tallied ? &*tallied : nullptr);
    if (!job.call.is_root()) return;
    job.call.warn(job.record, found.warnings);
    const output_options& output = job.options.output;
    finish(job, std::move(found), [&](const pattern_report& report) {
        write_pattern_report(output.to, report, output.overwrite, job.run);
    });
}

void find(spade_command& options, const invocation& call) {
    const execution run = call.run(options.analysis.run.threads);
    // Epochs may be known only when the file is read; then all is checked.
    if (!options.input.epochs.given()) check_spade(options.analysis, !options.transactions);
    check_part(options.parts, options.analysis.surrogates, options.output, result_kind::spade,
               call);
    run_record record;
    input_record confirming;
    spade_analysis in = read_file(options, call, run, record, confirming);
    add_warnings(record, in.prepared.warnings);
    // Warnings are shown now that it is clear that the search can begin.
    call.warn(record.warnings);
    if (const surrogate_part part = options.parts.part; !part.is_all())
        return write_part(options.output,
                          {.run = {.seed = options.analysis.surrogates.seed},
                           .verb = "spade",
                           .part = part,
                           .tally = tally_part(in.prepared, in.search, part, run).to_bytes()},
                          std::move(record), describe_part(options), options.analysis.epochs, call,
                          run);
    spade_job job{options, call, run, std::move(record), std::move(confirming), std::move(in)};
    announce(job);
    if (options.is_collected())
        collect(job);
    else
        stream(job);
}

// The window in bins, of what was typed.
void take_window(spade_command& options) {
    if (options.window.empty()) return;
    const option_list list = describe(options.analysis);
    if (options.window.find_first_not_of("0123456789") == std::string::npos)
        return list.find("window").set_text(options.window);
    duration length{};
    option_list typed;
    typed.add("window", length, "");
    typed.find("window").set_text(options.window);
    const duration bin = options.analysis.bin;
    if (length < bin || length % bin != duration{0})
        throw invalid_argument("window", fmt::format("'{}' is not a multiple of the bin of {}",
                                                     options.window, format_duration(bin)));
    list.find("window").set_text(std::to_string(length / bin));
}

void run(spade_command& options, invocation& call) {
    take_window(options);
    run_within_memory(
        options.max_memory_bytes,
        "a larger --min-occ or --min-spikes, or a smaller --window, gives fewer patterns", call,
        [&](const invocation& guarded) { find(options, guarded); });
}

}  // namespace

void merge_spade(const std::vector<part_record>& parts, const merge_target& target,
                 invocation& call) {
    spade_command options;
    options.input.path = target.input;
    options.output = target.output;
    options.parts.merged = parts;
    take_parameters(parts, describe_part(options), options.analysis.epochs);
    run(options, call);
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
