#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cli.hpp"
#include "output.hpp"
#include "spade_estimate.hpp"
#include "spade_input.hpp"
#include "spade_options.hpp"
#include "spade_text.hpp"
#include "spikeweave/assess/pattern_tally.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::cli {
namespace {

constexpr std::size_t most_shown = 12;

// Patterns that are only written go straight to the file.
bool is_collected(const spade_command& options) {
    const spade_options& analysis = options.analysis;
    return analysis.is_tested() || analysis.reduce || analysis.stability || options.nwb ||
           options.json;
}

std::vector<std::uint32_t> occurrences_of(const spade_windows& windows,
                                          std::span<const pattern_item> pattern) {
    std::vector<pattern_item> items(pattern.begin(), pattern.end());
    std::ranges::sort(items);
    std::vector<std::uint32_t> starts;
    for (std::size_t w = 0; w < windows.size(); ++w)
        if (std::ranges::includes(windows.items(w), items)) starts.push_back(windows.starts()[w]);
    return starts;
}

// The estimated memory of a document, which is complete before it is printed: what nlohmann::json
// takes for a pattern with its numbers, for an item and for an occurrence, and their text.
std::uint64_t bytes_of_document(const pattern_table& table) {
    constexpr std::uint64_t per_pattern = 1500;
    constexpr std::uint64_t per_item = 250;
    constexpr std::uint64_t per_occurrence = 60;
    return per_pattern * table.size() + per_item * table.items.size() +
           per_occurrence * table.occurrences.size();
}

class spade_job {
public:
    spade_job(const spade_command& options, const memory_guard& guard, session& now)
        : options_(options),
          guard_(guard),
          now_(now),
          run_(now.run(options.analysis.run.threads)) {}

    void run() {
        check_spade(options_.analysis, !options_.transactions);
        if (!options_.to.empty() && now_.is_root())
            check_output_place(options_.to, options_.overwrite);
        spade_file_input in = read_spade_input(options_, guard_, now_);
        now_.warn(in.record.warnings);
        announce(in.prepared, options_, is_collected(options_), guard_, now_);
        if (is_collected(options_))
            collect(in);
        else
            stream(in);
    }

private:
    using clock = std::chrono::steady_clock;

    // Mines without holding the patterns; the largest are shown.
    void stream(spade_file_input& in) {
        const spade_options& analysis = options_.analysis;
        std::unique_ptr<pattern_stream> file;
        if (!options_.to.empty() && now_.is_root())
            file = std::make_unique<pattern_stream>(options_.to, in.prepared.axes,
                                                    options_.occurrences, options_.overwrite);
        pattern_tally tally(analysis.window, analysis.spectrum, most_shown);
        pattern_mining_options how = in.prepared.mining;
        // All ranks mine with occurrences, though only the first one writes.
        how.with_occurrences = options_.occurrences && !options_.to.empty();
        const mining_summary found = mine_patterns(
            in.prepared.windows, how,
            [&](const pattern_table& block) {
                tally.take(block);
                if (file) file->take(block);
            },
            run_);
        if (!now_.is_root()) return;
        spade_result result = search_result(found, in.prepared, analysis);
        result.signatures = tally.signatures();
        const pattern_table best = tally.best();
        for (std::size_t i = 0; i < best.size(); ++i)
            result.table.append(best.pattern(i), best.counts[i],
                                occurrences_of(in.prepared.windows, best.pattern(i)));
        pattern_report report = report_on(std::move(result), in);
        report.patterns = tally.patterns();
        report.numbers = tally.best_numbers();
        if (file) file->commit(report, run_);
        print(report);
    }

    void collect(spade_file_input& in) {
        spade_result found = run_spade(in.prepared, options_.analysis, run_);
        if (!now_.is_root()) return;
        now_.warn(in.record, found.warnings);
        const pattern_report report = report_on(std::move(found), in);
        if (options_.json) guard_.expect(bytes_of_document(report.table));
        if (!options_.to.empty())
            write_pattern_report(options_.to, report, options_.overwrite, run_);
        print(report);
    }

    pattern_report report_on(spade_result found, spade_file_input& in) const {
        now_.stop_if_asked();
        guard_.check();
        found.warnings = std::move(in.record.warnings);
        pattern_report report = report_of(std::move(in.prepared.spikes), std::move(found), run_);
        report.with_nwb = options_.nwb;
        report.run.command = now_.command_line;
        report.run.input = std::move(in.record.input);
        report.run.duplicates = in.record.duplicates;
        report.run.stimuli = in.record.stimuli;
        add_parameters(options_, report.run.parameters);
        report.run.seconds = std::chrono::duration<double>(clock::now() - began_).count();
        return report;
    }

    void print(const pattern_report& report) {
        now_.progress.clear();
        if (options_.json) write_stdout(to_json(report) + "\n");
        if (options_.json || now_.quiet) return;
        std::string text = how_found(report, options_.analysis) + summarize(report);
        if (!options_.to.empty()) text += fmt::format("\nwritten to {}\n", options_.to);
        write_stdout(text);
    }

    const spade_command& options_;
    const memory_guard& guard_;
    session& now_;
    execution run_;
    clock::time_point began_ = clock::now();
};

void spade(spade_command options, const session& now) {
    const memory_guard guard(
        options.max_memory_bytes, now.stop,
        {.bound = "--max-memory",
         .advice = "a larger --min-occ or --min-spikes, or a smaller --window, gives fewer "
                   "patterns"});
    session guarded = now;
    guarded.stop = guard.stop();
    try {
        if (!options.epochs_path.empty())
            options.analysis.epochs = read_epochs(options.epochs_path, guarded.run());
        spade_job(options, guard, guarded).run();
    } catch (const cancelled&) {
        guard.check();
        throw;
    }
}

}  // namespace

void add_spade(CLI::App& app, verb& chosen) {
    const auto options = std::make_shared<spade_command>();
    CLI::App& sub = *app.add_subcommand(
        "spade", "Find spatio-temporal spike patterns (SPADE) and test them against surrogates.");
    declare_spade(sub, *options);
    sub.footer(
        "Examples: spikeweave spade spikes.nwb --bin 5ms --window 20 --surrogates 1000 -o "
        "patterns\n"
        "          spikeweave spade windows.txt.gz --transactions --rules 88:2:2,25:3:3 -o "
        "patterns");
    sub.callback(
        [options, &chosen] { chosen = [options](session& now) { spade(*options, now); }; });
}

}  // namespace spikeweave::cli
