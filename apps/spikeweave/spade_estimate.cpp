#include "spade_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "output.hpp"
#include "spikeweave/parallel/thread_count.hpp"
#include "surrogate_time.hpp"

namespace spikeweave::cli {
namespace {

// The threads of all ranks.
int workers(const spade_options& options, const session& now) {
    return thread_count(now.run(options.run.threads)) * (now.ranks ? now.ranks->size() : 1);
}

// The time of all surrogates, estimated from the first.
tried_time time_of_tests(const spade_input& prepared, const spade_options& options,
                         const session& now) {
    if (!options.is_tested()) return {};
    tried_time tests = try_once(
        [&](std::stop_token stop) {
            const spade_windows windows(prepared.maker->make(0), options.window);
            find_occurrence_maxima(windows, prepared.mining, options.spectrum,
                                   {.threads = 1, .stop = std::move(stop)});
        },
        now.stop);
    const std::uint32_t surrogates = options.surrogates.surrogates;
    tests.seconds *= surrogates;
    tests.seconds /= std::min<double>(workers(options, now), surrogates);
    return tests;
}

std::string text_of(const tried_time& tests, const spade_options& options, const session& now) {
    if (!options.is_tested()) return "";
    const int threads = workers(options, now);
    return fmt::format("; then {}{} for {} surrogates on {} thread{}",
                       tests.at_least ? "more than " : "", rough_time(tests.seconds),
                       grouped(options.surrogates.surrogates), threads, threads == 1 ? "" : "s");
}

}  // namespace

void announce(const spade_input& prepared, const spade_command& options, bool is_collected,
              const memory_guard& guard, const session& now) {
    if (!now.is_root()) return;
    const spade_options& analysis = options.analysis;
    const bool is_fp_growth = analysis.strategy == spade_strategy::fp_growth;
    pattern_mining_options how = prepared.mining;
    how.with_occurrences = is_collected || is_fp_growth;
    execution alone = now.run(analysis.run.threads);
    alone.ranks = nullptr;
    const spade_estimate expected = estimate_mining(prepared.windows, how, alone);
    // Of tested patterns, only significant ones are held in memory, except with FP-growth.
    const bool all_held =
        (is_collected && (!analysis.is_tested() || analysis.filters_by_stability())) ||
        is_fp_growth;
    const std::uint64_t bytes =
        resident_memory_bytes() + expected.search_bytes + (all_held ? expected.table_bytes : 0);
    const std::string text =
        fmt::format("{} {} candidates, {} patterns, {} on one thread{}, {}",
                    expected.at_least ? "more than" : "about", grouped(expected.candidates),
                    grouped(expected.patterns), rough_time(expected.seconds),
                    analysis.is_tested() ? " for the data alone" : "", format_memory(bytes));
    if (bytes > guard.most()) throw invalid_argument(fmt::format("{}: {}", text, guard.too_much()));
    if (now.quiet) return;
    const tried_time tests = time_of_tests(prepared, analysis, now);
    constexpr double long_run = 10;
    if (!now.progress.shown() && expected.seconds + tests.seconds < long_run) return;
    now.progress.clear();
    write_stderr(fmt::format("spikeweave: estimate: {}{}\n", text, text_of(tests, analysis, now)));
}

}  // namespace spikeweave::cli
