#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "cli.hpp"
#include "memory_guard.hpp"
#include "output.hpp"
#include "spade_input.hpp"
#include "spade_options.hpp"
#include "surrogate_time.hpp"
#include "synfire/synfire.hpp"

namespace synfire::cli {
namespace {

constexpr std::size_t most_shown = 12;

class spade_job {
public:
    spade_job(spade_choices choices, const session& now)
        : choices_(std::move(choices)),
          guard_(choices_.max_memory_bytes, now.stop),
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
        check(choices_);
        if (!choices_.to.empty() && now_.speaks())
            check_output_place(choices_.to, choices_.overwrite);
        in_ = std::make_unique<spade_input>(read_input(choices_, now_));
        // Before the search, as it refuses what cannot be.
        if (choices_.surrogates.surrogates > 0)
            maker_.emplace(in_->spikes, choices_.surrogates, in_->bins);
        warn();
        begin_report();
        announce();
        if (is_collected())
            collect();
        else
            stream();
    }

    // Patterns that nothing is done to but to write them go straight to the file.
    bool is_collected() const {
        return choices_.surrogates.surrogates > 0 || choices_.reduce || choices_.stable ||
               choices_.nwb || choices_.json;
    }

    bool is_tested() const { return choices_.surrogates.surrogates > 0; }

    bool filters_by_stability() const {
        return choices_.stable && choices_.least_stable != stability{};
    }

    void warn() {
        std::vector<std::string>& warnings = in_->record.warnings;
        const std::uint32_t surrogates = choices_.surrogates.surrogates;
        for (std::string& warning : warnings_of(choices_)) warnings.push_back(std::move(warning));
        if (surrogates > 0 && 1.0 / (1.0 + surrogates) > choices_.alpha)
            warnings.push_back(fmt::format(
                "With {} surrogates nothing can be significant at alpha {}: no p is below {:.2g}.",
                surrogates, choices_.alpha, 1.0 / (1.0 + surrogates)));
        if (in_->windows.size() == 0) warnings.emplace_back("No spike is in a bin.");
        if (!now_.speaks()) return;
        for (const std::string& warning : warnings)
            write_stderr(fmt::format("synfire: warning: {}\n", warning));
    }

    void begin_report() {
        report_.axes = in_->axes;
        report_.input = in_->facts;
        report_.kind = choices_.kind;
        report_.mining = mining();
        report_.testing = {
            .alpha = choices_.alpha, .correct = choices_.correct, .compat = choices_.compat()};
        report_.surrogate = choices_.surrogates;
        report_.with_nwb = choices_.nwb;
        report_.table.window_bins = choices_.window;
        report_.run = in_->record;
        report_.run.command = now_.command_line;
        report_.run.parameters = resolved_parameters(choices_, in_->rules);
        if (!in_->beginning.empty())
            report_.run.parameters.emplace_back("beginning", in_->beginning);
        report_.run.version = version();
        report_.run.seed = choices_.surrogates.seed;
        report_.run.threads = thread_count(run_);
    }

    spade_options mining() const {
        return {.rules = in_->rules,
                .max_occ = choices_.max_occ,
                .drop_window_subsets = !choices_.keep_window_subsets && choices_.window > 1 &&
                                       in_->windows.from_bins(),
                .with_occurrences = false,
                .take_identical_windows = choices_.compat() == compatibility::elephant,
                .strategy = choices_.strategy};
    }

    // Says what is to come before it is waited for, and refuses what cannot be before it is begun.
    void announce() const {
        if (!now_.speaks()) return;
        spade_options how = mining();
        how.with_occurrences = is_collected() || choices_.strategy == spade_strategy::fp_growth;
        const spade_estimate expected = estimate_mining(in_->windows, how, alone());
        // Of tested patterns only those that are significant are ever held, but for FP-growth.
        const bool all_held = (is_collected() && (!is_tested() || filters_by_stability())) ||
                              choices_.strategy == spade_strategy::fp_growth;
        const std::uint64_t bytes =
            peak_memory_bytes() + expected.search_bytes + (all_held ? expected.table_bytes : 0);
        const std::string text = fmt::format(
            "{} {} candidates, {} patterns, {} on one thread{}, {}",
            expected.at_least ? "more than" : "about", grouped(expected.candidates),
            grouped(expected.patterns), rough_time(expected.seconds),
            choices_.surrogates.surrogates > 0 ? " for the data alone" : "", memory_text(bytes));
        if (choices_.max_memory_bytes > 0 && bytes > choices_.max_memory_bytes)
            throw invalid_argument(fmt::format(
                "{}: more than --max-memory {} (a larger --min-occ gives fewer patterns)", text,
                memory_text(choices_.max_memory_bytes)));
        if (now_.quiet) return;
        const tried_time tests = time_of_tests();
        constexpr double long_run = 10;
        if (!now_.progress.shown() && expected.seconds + tests.seconds < long_run) return;
        now_.progress.clear();
        write_stderr(fmt::format("synfire: estimate: {}{}\n", text, text_of(tests)));
    }

    // Of all surrogates, from the first.
    tried_time time_of_tests() const {
        if (!is_tested()) return {};
        tried_time tests = try_once(
            [&](std::stop_token stop) {
                const spade_windows windows(maker_->make(0), choices_.window);
                find_occurrence_maxima(windows, mining(), choices_.kind,
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
        if (!is_tested()) return "";
        return fmt::format("; then {}{} for {} surrogates on {} thread{}",
                           tests.at_least ? "more than " : "", rough_time(tests.seconds),
                           grouped(choices_.surrogates.surrogates), workers(),
                           workers() == 1 ? "" : "s");
    }

    void note_search(const mining_summary& found) {
        report_.ran_on = found.ran_on;
        std::uint64_t left = found.closed;
        add_step("closed patterns", 0, left, "");
        add_step("window subsets", found.window_subsets, left,
                 "part of a longer pattern that begins earlier");
        add_step("max-occ", found.too_frequent, left,
                 choices_.max_occ > 0 ? fmt::format("more than {} occurrences", choices_.max_occ)
                                      : "not asked for");
    }

    // Takes what a step removed from what was left.
    void add_step(std::string step, std::uint64_t removed, std::uint64_t& left, std::string why) {
        left -= removed;
        report_.funnel.push_back({std::move(step), removed, left, std::move(why)});
    }

    void stream() {
        std::unique_ptr<pattern_stream> file;
        if (!choices_.to.empty() && now_.speaks())
            file = std::make_unique<pattern_stream>(choices_.to, in_->axes, choices_.occurrences,
                                                    choices_.overwrite);
        pattern_tally tally(choices_.window, choices_.kind, most_shown);
        spade_options how = mining();
        // On all ranks, though only the first one writes.
        how.with_occurrences = choices_.occurrences && !choices_.to.empty();
        const mining_summary found = mine_patterns(
            in_->windows, how,
            [&](const pattern_table& block) {
                tally.take(block);
                if (file) file->take(block);
            },
            run_);
        if (!now_.speaks()) return;
        note_search(found);
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
        std::vector<std::uint32_t> starts;
        for (std::size_t w = 0; w < in_->windows.size(); ++w)
            if (std::ranges::includes(in_->windows.items(w), items))
                starts.push_back(in_->windows.starts()[w]);
        return starts;
    }

    void collect() {
        if (is_tested() && !filters_by_stability())
            collect_significant();
        else
            collect_all();
        if (!now_.speaks()) return;
        reduce();
        if (!filters_by_stability()) judge_stability();
        report_.patterns = report_.table.size();
        end_report();
        if (!choices_.to.empty())
            write_pattern_report(choices_.to, report_, choices_.overwrite, run_);
        print();
    }

    // What is not stable is not tested, so that all have to be held where that is asked for.
    void collect_all() {
        note_search(mine_into_table([](const pattern_table& block) {
            std::vector<std::size_t> all(block.size());
            std::iota(all.begin(), all.end(), std::size_t{0});
            return all;
        }));
        if (now_.speaks()) keep_stable();
        std::vector<signature_count> found = count_signatures(report_.table, choices_.kind);
        if (!is_tested()) {
            report_.signatures = std::move(found);
            return;
        }
        assess(found);
        const std::uint64_t before = report_.table.size();
        keep_only(significant().kept(report_.table));
        note_significance(before);
    }

    // First only counts, so that patterns which are not significant are never held.
    void collect_significant() {
        pattern_tally tally(choices_.window, choices_.kind, 0);
        note_search(mine_patterns(
            in_->windows, mining(), [&](const pattern_table& block) { tally.take(block); }, run_));
        assess(tally.signatures());
        const pattern_filter filter = significant();
        mine_into_table([&](const pattern_table& block) { return filter.kept(block); });
        note_significance(tally.patterns());
    }

    void assess(const std::vector<signature_count>& found) {
        report_.assessment = assess_patterns(
            found, [&](std::uint32_t which) { return maker_->make(which); },
            choices_.surrogates.surrogates, choices_.window, mining(), choices_.kind,
            report_.testing, run_);
        warn_of_too_few_surrogates();
    }

    // With p never below 1 / (n + 1), a correction for many tests can ask for more surrogates.
    void warn_of_too_few_surrogates() {
        std::size_t tested = 0;
        std::size_t undecided = 0;
        for (const assessed_signature& one : report_.assessment->tests.signatures) {
            tested += one.tested ? 1 : 0;
            undecided += one.reason == test_reason::absent && !one.significant ? 1 : 0;
        }
        if (undecided == 0 || !now_.speaks()) return;
        std::string warning = fmt::format(
            "{} of {} signatures tested were reached by no surrogate, and still are not "
            "significant: "
            "{} surrogates are too few for so many tests. {} would do for any one of them.",
            grouped(undecided), grouped(tested), grouped(choices_.surrogates.surrogates),
            grouped(static_cast<std::uint64_t>(
                std::ceil(static_cast<double>(tested) / choices_.alpha))));
        write_stderr(fmt::format("synfire: warning: {}\n", warning));
        report_.run.warnings.push_back(std::move(warning));
    }

    pattern_filter significant() const {
        return {choices_.kind, report_.assessment->tests.not_significant};
    }

    void note_significance(std::uint64_t before) {
        add_step("significance", before - report_.table.size(), before,
                 fmt::format("signature not significant at alpha {} by {}", choices_.alpha,
                             to_string(choices_.correct)));
    }

    // Collects those patterns of each block that `choose` names.
    template <class Choose>
    mining_summary mine_into_table(Choose choose) {
        spade_options how = mining();
        how.with_occurrences = true;
        return mine_patterns(
            in_->windows, how,
            [&](const pattern_table& block) {
                for (const std::size_t i : choose(block))
                    report_.table.append(block.pattern(i), block.counts[i],
                                         block.occurrences_of(i));
            },
            run_);
    }

    // What is done to the collected table needs the first rank only.
    execution alone() const {
        execution out = run_;
        out.ranks = nullptr;
        return out;
    }

    void keep_only(const std::vector<std::size_t>& kept) {
        pattern_table table{.window_bins = choices_.window};
        for (const std::size_t i : kept)
            table.append(report_.table.pattern(i), report_.table.counts[i],
                         report_.table.occurrences_of(i));
        report_.table = std::move(table);
        if (report_.stabilities.empty()) return;
        std::vector<stability> stabilities;
        stabilities.reserve(kept.size());
        for (const std::size_t i : kept) stabilities.push_back(report_.stabilities[i]);
        report_.stabilities = std::move(stabilities);
    }

    // In blocks of ascending count, as the published code lists patterns.
    std::vector<std::size_t> by_count() const {
        std::vector<std::size_t> list(report_.table.size());
        std::iota(list.begin(), list.end(), std::size_t{0});
        std::ranges::stable_sort(list, {}, [&](std::size_t i) { return report_.table.counts[i]; });
        return list;
    }

    reduction_options reduction() const {
        std::uint32_t least = in_->rules.front().min_occ;
        std::uint32_t spikes = in_->rules.front().min_spikes;
        for (const pattern_rule& rule : in_->rules) {
            least = std::min(least, rule.min_occ);
            spikes = std::min(spikes, rule.min_spikes);
        }
        const auto number = [&](std::size_t i) {
            return static_cast<std::int32_t>((*choices_.reduce)[i]);
        };
        return {.kind = choices_.kind,
                .h_subset_filtering = number(0),
                .k_superset_filtering = number(1),
                .l_covered_spikes = number(2),
                .min_spikes = spikes,
                .min_occ = least,
                .compat = choices_.compat()};
    }

    void reduce() {
        if (!choices_.reduce) return;
        const std::vector<signature> none;
        reduced_patterns reduced =
            reduce_patterns(report_.table, by_count(),
                            report_.assessment ? report_.assessment->tests.not_significant : none,
                            reduction(), alone());
        std::uint64_t left = report_.table.size();
        for (const reduction_rule rule :
             {reduction_rule::subset, reduction_rule::superset, reduction_rule::covered})
            add_step(fmt::format("reduction, {}", to_string(rule)), removed_by(reduced, rule), left,
                     why_of(rule));
        std::ranges::sort(reduced.kept);
        keep_only(reduced.kept);
    }

    static std::uint64_t removed_by(const reduced_patterns& reduced, reduction_rule rule) {
        return static_cast<std::uint64_t>(
            std::ranges::count(reduced.rejected, rule, &rejected_pattern::rule));
    }

    static std::string why_of(reduction_rule rule) {
        switch (rule) {
            case reduction_rule::subset:
                return "too seldom beyond a pattern that holds it";
            case reduction_rule::superset:
                return "too few spikes beyond a pattern that it holds";
            case reduction_rule::covered:
                return "another covers more spikes";
        }
        return {};
    }

    void judge_stability() {
        if (!choices_.stable) return;
        stability_options how = *choices_.stable;
        how.seed = choices_.surrogates.seed;
        report_.stabilities = approximate_stability(in_->windows, report_.table, how, alone());
    }

    void keep_stable() {
        if (!filters_by_stability()) return;
        judge_stability();
        const stability& least = choices_.least_stable;
        const std::vector<std::size_t> kept = filter_stable(report_.stabilities, least);
        std::uint64_t left = report_.table.size();
        add_step("stability", left - kept.size(), left,
                 fmt::format("neither above {} (intensional) nor above {} (extensional)",
                             least.intensional, least.extensional));
        keep_only(kept);
    }

    void end_report() {
        now_.stop_if_asked();
        guard_.check();
        report_.spikes = std::move(in_->spikes);
        report_.run.seconds = std::chrono::duration<double>(clock::now() - began_).count();
        report_.run.peak_memory_bytes = peak_memory_bytes();
    }

    std::string how_found() const {
        const bool estimated =
            choices_.rules.empty() && std::holds_alternative<auto_min_occ>(choices_.min_occ);
        std::string text =
            fmt::format("wanted     {}{}\n", describe(in_->rules),
                        estimated ? " (estimated from the rates; --min-occ sets others)" : "") +
            fmt::format("strategy   {}\n", to_string(report_.ran_on));
        if (choices_.surrogates.surrogates > 0)
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
    std::unique_ptr<spade_input> in_{};
    std::optional<surrogate_maker> maker_{};
    pattern_report report_{};
};

}  // namespace

void add_spade(CLI::App& app, verb& chosen) {
    const auto choices = std::make_shared<spade_choices>();
    CLI::App& sub = *app.add_subcommand(
        "spade", "Find spatio-temporal spike patterns (SPADE) and test them by surrogates.");
    add_options(sub, *choices);
    sub.footer(
        "Examples: synfire spade spikes.nwb --bin 5ms --window 20 --surrogates 1000 -o patterns\n"
        "          synfire spade windows.txt.gz --transactions --rule 88,2,2 --rule 25,3,3 -o "
        "patterns");
    sub.callback([choices, &chosen, &sub] {
        for (const CLI::Option* option : sub.get_options())
            if (option->count() > 0) choices->given.insert(option->get_name());
        chosen = [choices](session& now) { spade_job(*choices, now).run(); };
    });
}

}  // namespace synfire::cli
