#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "cli.hpp"
#include "output.hpp"
#include "spade_input.hpp"
#include "spade_options.hpp"
#include "spikeweave/spikeweave.hpp"
#include "surrogate_time.hpp"

namespace spikeweave::cli {
namespace {

constexpr std::size_t most_shown = 12;

class spade_job {
public:
    spade_job(spade_choices choices, const session& now)
        : choices_(std::move(choices)),
          guard_(choices_.max_memory_bytes, now.stop,
                 {.bound = "--max-memory",
                  .advice = "a larger --min-occ or --min-spikes, or a smaller --window, gives "
                            "fewer patterns"}),
          now_(guarded(now)),
          run_(now_.run(choices_.threads)) {}

    void run() {
        try {
            run_all();
        } catch (const cancelled&) {
            guard_.check();
            throw;
        }
    }

private:
    using clock = std::chrono::steady_clock;

    session guarded(const session& now) const {
        session out = now;
        out.stop = guard_.stop();
        return out;
    }

    void run_all() {
        if (!choices_.epochs_path.empty())
            choices_.epochs = read_epochs(choices_.epochs_path, run_);
        check(choices_);
        if (!choices_.to.empty() && now_.is_root())
            check_output_place(choices_.to, choices_.overwrite);
        in_ = std::make_unique<spade_file_input>(read_input(choices_, guard_, now_));
        choices_.surrogates = in_->prepared.surrogates;
        now_.warn(in_->record.warnings);
        begin_report();
        announce();
        if (is_collected())
            collect();
        else
            stream();
    }

    // Patterns that nothing is done to but to write them go straight to the file.
    bool is_collected() const {
        return choices_.is_tested() || choices_.reduce || choices_.stable || choices_.nwb ||
               choices_.json;
    }

    void begin_report() {
        const spade_input& prepared = in_->prepared;
        report_.axes = prepared.axes;
        report_.input = prepared.facts;
        report_.spectrum = choices_.spectrum;
        report_.mining = prepared.mining;
        report_.testing = choices_.testing();
        report_.surrogate = choices_.surrogates;
        report_.with_nwb = choices_.nwb;
        report_.table.window_bins = choices_.window;
        report_.run = in_->record;
        report_.run.command = now_.command_line;
        report_.run.parameters = resolved_parameters(choices_, prepared.mining.rules);
        if (!prepared.beginning.empty())
            report_.run.parameters.emplace_back("beginning", prepared.beginning);
        report_.run.version = version();
        report_.run.seed = choices_.surrogates.seed;
        report_.run.threads = thread_count(run_);
    }

    // Says what is to come before it is waited for, and refuses what cannot be before it is begun.
    void announce() const {
        if (!now_.is_root()) return;
        pattern_mining_options how = in_->prepared.mining;
        how.with_occurrences = is_collected() || choices_.strategy == spade_strategy::fp_growth;
        execution alone = run_;
        alone.ranks = nullptr;
        const spade_estimate expected = estimate_mining(in_->prepared.windows, how, alone);
        // Of tested patterns, only significant ones are held in memory, except with FP-growth.
        const bool all_held =
            (is_collected() && (!choices_.is_tested() || choices_.filters_by_stability())) ||
            choices_.strategy == spade_strategy::fp_growth;
        const std::uint64_t bytes =
            resident_memory_bytes() + expected.search_bytes + (all_held ? expected.table_bytes : 0);
        const std::string text =
            fmt::format("{} {} candidates, {} patterns, {} on one thread{}, {}",
                        expected.at_least ? "more than" : "about", grouped(expected.candidates),
                        grouped(expected.patterns), rough_time(expected.seconds),
                        choices_.is_tested() ? " for the data alone" : "", format_memory(bytes));
        if (bytes > guard_.most())
            throw invalid_argument(fmt::format("{}: {}", text, guard_.too_much()));
        if (now_.quiet) return;
        const tried_time tests = time_of_tests();
        constexpr double long_run = 10;
        if (!now_.progress.shown() && expected.seconds + tests.seconds < long_run) return;
        now_.progress.clear();
        write_stderr(fmt::format("spikeweave: estimate: {}{}\n", text, text_of(tests)));
    }

    // The time of all surrogates, estimated from the first.
    tried_time time_of_tests() const {
        if (!choices_.is_tested()) return {};
        const spade_input& prepared = in_->prepared;
        tried_time tests = try_once(
            [&](std::stop_token stop) {
                const spade_windows windows(prepared.maker->make(0), choices_.window);
                find_occurrence_maxima(windows, prepared.mining, choices_.spectrum,
                                       {.threads = 1, .stop = std::move(stop)});
            },
            now_.stop);
        tests.seconds *= choices_.surrogates.surrogates;
        tests.seconds /= std::min<double>(workers(), choices_.surrogates.surrogates);
        return tests;
    }

    // Threads of all ranks.
    int workers() const { return thread_count(run_) * (now_.ranks ? now_.ranks->size() : 1); }

    std::string text_of(const tried_time& tests) const {
        if (!choices_.is_tested()) return "";
        return fmt::format("; then {}{} for {} surrogates on {} thread{}",
                           tests.at_least ? "more than " : "", rough_time(tests.seconds),
                           grouped(choices_.surrogates.surrogates), workers(),
                           workers() == 1 ? "" : "s");
    }

    void stream() {
        std::unique_ptr<pattern_stream> file;
        if (!choices_.to.empty() && now_.is_root())
            file = std::make_unique<pattern_stream>(choices_.to, in_->prepared.axes,
                                                    choices_.occurrences, choices_.overwrite);
        pattern_tally tally(choices_.window, choices_.spectrum, most_shown);
        pattern_mining_options how = in_->prepared.mining;
        // On all ranks, though only the first one writes.
        how.with_occurrences = choices_.occurrences && !choices_.to.empty();
        const mining_summary found = mine_patterns(
            in_->prepared.windows, how,
            [&](const pattern_table& block) {
                tally.take(block);
                if (file) file->take(block);
            },
            run_);
        if (!now_.is_root()) return;
        report_.ran_on = found.ran_on;
        report_.funnel = search_steps(found, choices_);
        report_.patterns = tally.patterns();
        report_.signatures = tally.signatures();
        show(tally);
        end_report();
        if (file) file->commit(report_, run_);
        print();
    }

    // The largest patterns, with their occurrences.
    void show(const pattern_tally& tally) {
        const pattern_table best = tally.best();
        report_.numbers = tally.best_numbers();
        for (std::size_t i = 0; i < best.size(); ++i)
            report_.table.append(best.pattern(i), best.counts[i], occurrences_of(best.pattern(i)));
    }

    std::vector<std::uint32_t> occurrences_of(std::span<const pattern_item> pattern) const {
        std::vector<pattern_item> items(pattern.begin(), pattern.end());
        std::ranges::sort(items);
        const spade_windows& windows = in_->prepared.windows;
        std::vector<std::uint32_t> starts;
        for (std::size_t w = 0; w < windows.size(); ++w)
            if (std::ranges::includes(windows.items(w), items))
                starts.push_back(windows.starts()[w]);
        return starts;
    }

    void collect() {
        spade_result found = find_patterns(in_->prepared, choices_, run_);
        if (!now_.is_root()) return;
        now_.warn(report_.run, found.warnings);
        report_.patterns = found.table.size();
        report_.table = std::move(found.table);
        report_.signatures = std::move(found.signatures);
        report_.assessment = std::move(found.assessment);
        report_.stabilities = std::move(found.stabilities);
        report_.funnel = std::move(found.funnel);
        report_.ran_on = found.ran_on;
        end_report();
        guard_.expect(bytes_of_document());
        if (!choices_.to.empty())
            write_pattern_report(choices_.to, report_, choices_.overwrite, run_);
        print();
    }

    // A document is made whole before it is printed. What nlohmann::json takes for a pattern with
    // its numbers, for an item and for an occurrence, and their text.
    std::uint64_t bytes_of_document() const {
        if (!choices_.json) return 0;
        constexpr std::uint64_t per_pattern = 1500;
        constexpr std::uint64_t per_item = 250;
        constexpr std::uint64_t per_occurrence = 60;
        return per_pattern * report_.table.size() + per_item * report_.table.items.size() +
               per_occurrence * report_.table.occurrences.size();
    }

    void end_report() {
        now_.stop_if_asked();
        guard_.check();
        report_.spikes = std::move(in_->prepared.spikes);
        report_.run.seconds = std::chrono::duration<double>(clock::now() - began_).count();
        report_.run.peak_memory_bytes = peak_memory_bytes();
    }

    std::string how_found() const {
        const bool estimated =
            choices_.rules.empty() && std::holds_alternative<auto_min_occ>(choices_.min_occ);
        std::string text =
            fmt::format("at least   {}{}\n", describe(in_->prepared.mining.rules),
                        estimated ? " (estimated from the rates; --min-occ sets others)" : "") +
            fmt::format("strategy   {}\n", to_string(report_.ran_on));
        if (choices_.is_tested())
            text +=
                fmt::format("surrogates {} by {}, dither {}{}\n", choices_.surrogates.surrogates,
                            to_string(choices_.surrogates.method),
                            format_duration(choices_.surrogates.dither), why_method());
        return text + "\n";
    }

    std::string why_method() const {
        if (choices_.method) return "";
        if (choices_.surrogates.method == surrogate_method::trial_shifting)
            return " (chosen because there are trials)";
        return " (the default without trials)";
    }

    void print() {
        now_.progress.clear();
        if (choices_.json) write_stdout(to_json(report_) + "\n");
        if (choices_.json || now_.quiet) return;
        std::string text = how_found() + summarize(report_);
        if (!choices_.to.empty()) text += fmt::format("\nwritten to {}\n", choices_.to);
        write_stdout(text);
    }

    spade_choices choices_;
    memory_guard guard_;
    session now_;
    execution run_;
    clock::time_point began_ = clock::now();
    std::unique_ptr<spade_file_input> in_{};
    pattern_report report_{};
};

}  // namespace

void add_spade(CLI::App& app, verb& chosen) {
    const auto choices = std::make_shared<spade_choices>();
    CLI::App& sub = *app.add_subcommand(
        "spade", "Find spatio-temporal spike patterns (SPADE) and test them against surrogates.");
    add_options(sub, *choices);
    sub.footer(
        "Examples: spikeweave spade spikes.nwb --bin 5ms --window 20 --surrogates 1000 -o "
        "patterns\n"
        "          spikeweave spade windows.txt.gz --transactions --rule 88,2,2 --rule 25,3,3 -o "
        "patterns");
    sub.callback([choices, &chosen, &sub] {
        for (const CLI::Option* option : sub.get_options())
            if (option->count() > 0) choices->given.insert(option->get_name());
        chosen = [choices](session& now) { spade_job(*choices, now).run(); };
    });
}

}  // namespace spikeweave::cli
