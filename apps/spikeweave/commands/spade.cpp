#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
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

/// The options of the analysis, and those of the command itself.
struct spade_command {
    spike_input_options input{};
    bool transactions = false;  ///< FILE has windows, not spikes
    epoch_source_options epochs{};
    std::filesystem::path confirm{};  ///< the recording that tests; empty: the one searched
    output_options output{};
    bool occurrences = false;
    bool nwb = false;
    std::uint64_t max_memory_bytes = 0;
    part_options parts{};
    std::string window{};  ///< as typed; empty: that of `analysis`
    spade_options analysis{};

    // Patterns that are only written go straight to the file.
    bool is_collected() const {
        return analysis.is_tested() || analysis.reduce || analysis.stability || nwb || output.json;
    }
};

void describe_output(option_list& list, spade_command& options) {
    describe_output(list, options.output,
                    "patterns.tsv, signatures.tsv, spectrum.tsv, funnel.tsv, "
                    "run.json and report.html");
    list.add("occurrences", options.occurrences,
             "write the times of occurrences even if patterns are not tested; patterns.tsv may "
             "then become large")
        .only_with("output");
    list.add("nwb", options.nwb, "also write patterns.nwb").only_with("output");
}

option_list describe(spade_command& options) {
    option_list list = describe(options.input);
    list.add("transactions", options.transactions,
             "FILE contains windows instead of spikes, one on each line; the items of a window are "
             "the numbers UNIT * WINDOW + BIN")
        .not_with({"only_units", "t_start", "t_stop", "epochs", "around", "surrogates"});
    describe_output(list, options);
    list.add_all(describe(options.analysis));
    describe_epochs(list, options.epochs);
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
    add_confirm(list, options.confirm).only_with("surrogates");
    add_max_memory(list, options.max_memory_bytes);
    return list;
}

// The options that a part is made with, in which the epochs themselves stand, not their table.
option_list describe_part(spade_command& options) {
    option_list list = describe(options);
    list.remove("around");
    list.change("window").bind(options.analysis.window);
    list.change("epochs").bind(options.analysis.epochs);
    return list;
}

/// One call of the command.
struct spade_job {
    const spade_command& options;
    const invocation& now;
    execution run;
};

/// Spikes in which patterns are tested that are searched in others.
struct other_spikes {
    std::optional<replication_spikes> spikes{};
    input_record input{};  ///< their file, if another recording confirms
};

/// What is analysed, and the record of reading it.
struct spade_file {
    spade_input prepared;
    run_record record{};
    other_spikes other{};
};

// Takes the spikes that test: a part, of which the options then search the rest, or another
// recording.
other_spikes take_other(spade_command& options, spike_input& in, const spade_job& job) {
    spade_options& analysis = options.analysis;
    if (analysis.hold_out > 0) {
        divided_recording divided = divide_recording(in.spikes, analysis, in.has_recorded_span);
        analysis = std::move(divided.search);
        return {std::move(divided.held_out)};
    }
    std::optional<spike_input> confirming = read_confirming(
        options.confirm, options.input, options.epochs, in.record, job.now, job.run);
    if (!confirming) return {};
    return {confirming_recording(in.spikes, confirming->spikes, analysis,
                                 confirming->has_recorded_span),
            std::move(confirming->record.input)};
}

spade_file read_file(spade_command& options, const spade_job& job) {
    spade_options& analysis = options.analysis;
    const std::string& path = job.options.input.path;
    if (!job.options.transactions) {
        spike_input in = read_input(job.options.input, job.now, job.run);
        take_epochs(options.epochs, path, in, analysis.epochs, job.run);
        other_spikes other = take_other(options, in, job);
        binned_recording binned =
            bin_recording(std::move(in.spikes), analysis, in.has_recorded_span);
        check_memory(binned, analysis, *job.now.memory);
        return {prepare_spade(std::move(binned), analysis, job.run), std::move(in.record),
                std::move(other)};
    }
    if (is_standard_input(path))
        throw invalid_argument("windows are read from a file, not from standard input");
    spade_windows windows = read_transactions(path, analysis.window, job.run);
    check_memory(windows, *job.now.memory);
    return {prepare_spade(std::move(windows), analysis),
            {.parameters = parameters_of(describe(options.input)),
             .input = describe_input(path, job.run)}};
}

// Says what the search will cost if it will take long or progress is shown.
void announce(const spade_input& prepared, const spade_job& job) {
    if (!job.now.is_root()) return;
    const spade_options& analysis = job.options.analysis;
    const spade_cost cost =
        estimate_search(prepared, analysis, job.options.is_collected(), job.run);
    if (cost.bytes > job.now.memory->most())
        throw invalid_argument(
            fmt::format("{}: {}", describe_cost(cost, analysis), job.now.memory->too_much()));
    check_duration(cost, analysis);
    if (job.now.quiet) return;
    const std::string text =
        describe_estimate(cost, prepared, analysis, job.now.progress.shown(), job.run);
    if (text.empty()) return;
    job.now.progress.clear();
    write_stderr(fmt::format("spikeweave: {}\n", text));
}

template <class Result>
pattern_report report_on(Result result, spade_file& in, const spade_job& job) {
    job.now.stop_if_asked();
    job.now.memory->check();
    pattern_report report = report_of(std::move(in.prepared.spikes), std::move(result), job.run);
    report.with_nwb = job.options.nwb;
    report.run.warnings = in.record.warnings;
    spade_command options = job.options;
    add_parameters(in.record.parameters, describe(options),
                   {"confirm", "transactions", "max_memory"});
    complete_record(options.output, report, std::move(in.record), job.now);
    return report;
}

void print(const pattern_report& report, const spade_job& job) {
    const auto text_of = [&](const pattern_report& made) {
        std::string text = summarize(made, shows_colour(STDOUT_FILENO)) +
                           with_command_line_names(summarize_search(made, job.options.analysis));
        const std::string to = job.options.output.to.string();
        return to.empty() ? text : text + fmt::format("\nwritten to {}\n", to);
    };
    print_result(job.options.output, report, job.now, text_of);
}

// Mines without holding the patterns; the largest are shown.
void stream(spade_file& in, const spade_job& job) {
    constexpr std::size_t most_shown = 2'000;  // a few megabytes with their page
    const spade_command& options = job.options;
    std::unique_ptr<pattern_stream> file;
    if (!options.output.to.empty() && job.now.is_root())
        file = std::make_unique<pattern_stream>(options.output.to, in.prepared.axes,
                                                options.occurrences, options.output.overwrite);
    // All ranks mine with occurrences, though only the first one writes.
    spade_stream_result result = stream_spade(
        in.prepared, options.analysis, most_shown,
        [&](const pattern_table& block) {
            if (file) file->take(block);
        },
        options.occurrences && !options.output.to.empty(), job.run);
    if (!job.now.is_root()) return;
    const pattern_report report = report_on(std::move(result), in, job);
    if (file) file->commit(report, job.run);
    print(report, job);
}

void collect(spade_file& in, const spade_job& job) {
    const spade_command& options = job.options;
    const auto tallied = merged_tally<maxima_tally>(options.parts.merged, in.record.input);
    spade_result found =
        run_spade(in.prepared, options.analysis, job.run, tallied ? &*tallied : nullptr);
    if (in.other.spikes) replicate(found, *in.other.spikes, job.run);
    if (!job.now.is_root()) return;
    job.now.warn(in.record, found.warnings);
    pattern_report report = report_on(std::move(found), in, job);
    report.replication_input = std::move(in.other.input);
    if (!options.output.to.empty())
        write_pattern_report(options.output.to, report, options.output.overwrite, job.run);
    print(report, job);
}

// Mines a part of the surrogates.
void divide(spade_file& in, spade_command options, const spade_job& job) {
    part_record record{.verb = "spade", .part = options.parts.part};
    record.tally = tally_part(in.prepared, options.analysis, record.part, job.run).to_bytes();
    record.run.seed = options.analysis.surrogates.seed;
    write_part(options.output.to, options.output.overwrite, std::move(record), std::move(in.record),
               describe_part(options), job.now, job.run);
}

void find(spade_command& options, const invocation& now) {
    const spade_job job{options, now, now.run(options.analysis.run.threads)};
    // Epochs may be known only when the file is read; then all is checked.
    if (!options.epochs.given()) check_spade(options.analysis, !options.transactions);
    check_part(options.parts, options.analysis.surrogates, options.output.to);
    const result_kind kind = options.parts.part.is_all() ? result_kind::spade : result_kind::part;
    check_place(options.output, kind, now);
    spade_file in = read_file(options, job);
    add_warnings(in.record, in.prepared.warnings);
    // Warnings are shown now that it is clear that the search can begin.
    now.warn(in.record.warnings);
    if (!options.parts.part.is_all()) return divide(in, options, job);
    announce(in.prepared, job);
    if (options.is_collected())
        collect(in, job);
    else
        stream(in, job);
}

// The window in bins, of what was typed.
void take_window(spade_command& options) {
    if (options.window.empty()) return;
    const bool is_time = options.window.find_first_not_of("0123456789") != std::string::npos;
    if (!is_time) {
        const option_list list = describe(options.analysis);
        return list.find("window").set_text(options.window);
    }
    try {
        const duration length = parse_duration(options.window);
        if (length < options.analysis.bin || length % options.analysis.bin != duration{0})
            throw invalid_argument(fmt::format("'{}' is not a multiple of the bin of {}",
                                               options.window,
                                               format_duration(options.analysis.bin)));
        const auto bins = length / options.analysis.bin;
        const option_list list = describe(options.analysis);
        list.find("window").set_text(std::to_string(bins));
    } catch (const invalid_argument& error) {
        throw invalid_argument("window", error.what());
    }
}

void run(spade_command& options, invocation& now) {
    take_window(options);
    run_within_memory(
        options.max_memory_bytes,
        "a larger --min-occ or --min-spikes, or a smaller --window, gives fewer patterns", now,
        [&](const invocation& guarded) { find(options, guarded); });
}

}  // namespace

void merge_spade(const std::vector<part_record>& parts, const merge_target& target,
                 invocation& now) {
    spade_command options{
        .input = {.path = target.input}, .output = target.output, .parts = {.merged = parts}};
    take_parameters(parts, describe_part(options));
    run(options, now);
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
