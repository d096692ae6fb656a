#include "spikeweave/pipeline/spade/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave {
namespace {

// The expected run time of all surrogates.
struct surrogate_time {
    double seconds = 0;     // 0 if patterns are not tested
    bool at_least = false;  // not even the first surrogate was finished in ten seconds
    int threads = 1;        // those of all ranks, which share the surrogates
    // The devices that search the surrogates instead; then no time is estimated.
    std::vector<int> devices{};
};

void check_bytes(std::uint64_t bytes, const std::string& what, const memory_guard& guard) {
    if (bytes <= guard.most()) return;
    throw invalid_argument(
        fmt::format("{} may take {}, {}", what, format_memory(bytes), guard.too_much()));
}

// A search counts the windows of all items that there could be.
void check_items(std::size_t units, std::uint64_t window, const memory_guard& guard) {
    constexpr std::uint64_t bytes_per_item = 12;
    constexpr std::uint64_t bytes_per_unit = 64;
    const std::uint64_t numbered = std::numeric_limits<std::int32_t>::max();
    if (units * window > numbered) return;  // `spade_windows` refuses these
    check_bytes(units * (window * bytes_per_item + bytes_per_unit),
                fmt::format("{} units in windows of {} bins", core::grouped(units), window), guard);
}

void stop_when_too_long(const std::stop_token& over, std::stop_source& source) {
    constexpr std::chrono::seconds most{10};
    std::mutex access;
    std::condition_variable_any woken;
    std::unique_lock lock(access);
    woken.wait_for(lock, over, most, [] { return false; });
    if (!over.stop_requested()) source.request_stop();
}

// Runs the work once, and stops after ten seconds.
template <class Work>
surrogate_time try_once(Work work, const std::stop_token& asked) {
    using clock = std::chrono::steady_clock;
    std::stop_source source;
    const std::stop_callback both(asked, [source]() mutable { source.request_stop(); });
    const std::jthread timer(
        [source](const std::stop_token& over) mutable { stop_when_too_long(over, source); });
    const clock::time_point began = clock::now();
    surrogate_time tried;
    try {
        work(source.get_token());
    } catch (const cancelled&) {
        if (asked.stop_requested()) throw;
        tried.at_least = true;
    }
    tried.seconds = std::chrono::duration<double>(clock::now() - began).count();
    return tried;
}

surrogate_time estimate_surrogates(const spade_input& prepared, const spade_options& options,
                                   const execution& run) {
    if (!options.is_tested()) return {};
    if (std::vector<int> devices = devices_for_surrogates(options); !devices.empty())
        return {.devices = std::move(devices)};
    surrogate_time time = try_once(
        [&](std::stop_token stop) {
            const spade_windows windows(prepared.maker->make(0), options.window);
            find_occurrence_maxima(windows, prepared.mining, options.spectrum,
                                   {.threads = 1, .stop = std::move(stop)});
        },
        run.stop);
    time.threads = thread_count(run) * (run.ranks ? run.ranks->size() : 1);
    const std::uint32_t surrogates = options.surrogates.surrogates;
    time.seconds *= surrogates / std::min<double>(time.threads, surrogates);
    return time;
}

/// The expected cost of the search in the data.
struct search_cost {
    spade_estimate search{};
    std::uint64_t bytes = 0;  ///< resident memory of this process when it has ended
};

search_cost estimate_search(const spade_input& prepared, const spade_options& options,
                            bool is_collected, execution run) {
    const bool is_fp_growth = options.strategy == spade_strategy::fp_growth;
    pattern_mining_options how = prepared.mining;
    how.with_occurrences = is_collected || is_fp_growth;
    run.ranks = nullptr;
    search_cost cost{.search = estimate_mining(prepared.windows, how, run)};
    // Of tested patterns, only significant ones are held in memory, except with FP-growth.
    const bool all_held =
        (is_collected && (!options.is_tested() || options.filters_by_stability())) || is_fp_growth;
    cost.bytes = resident_memory_bytes() + cost.search.search_bytes +
                 (all_held ? cost.search.table_bytes : 0);
    return cost;
}

std::string describe_cost(const search_cost& cost, const spade_options& options) {
    const spade_estimate& search = cost.search;
    return fmt::format("{} {} candidates, {} patterns, {} on one thread{}, {}",
                       search.at_least ? "more than" : "about", core::grouped(search.candidates),
                       core::grouped(search.patterns), format_rough_time(search.seconds),
                       options.is_tested() ? " for the data alone" : "", format_memory(cost.bytes));
}

// Goes on after `describe_cost`; empty if patterns are not tested.
std::string describe_time(const surrogate_time& tests, const spade_options& options) {
    if (!options.is_tested()) return {};
    if (!tests.devices.empty())
        return fmt::format("; then {} surrogates on {}",
                           core::grouped(options.surrogates.surrogates),
                           format_devices(tests.devices));
    return fmt::format("; then {}{} for {} surrogates on {} thread{}",
                       tests.at_least ? "more than " : "", format_rough_time(tests.seconds),
                       core::grouped(options.surrogates.surrogates), tests.threads,
                       tests.threads == 1 ? "" : "s");
}

}  // namespace

void check_memory(const binned_recording& recording, const spade_options& options,
                  const memory_guard& guard) {
    const binned_spikes& binned = recording.binned;
    // A window begins at a spike, and a spike is in a window once.
    const auto windows =
        std::min<std::uint64_t>({binned.size(), options.window, binned.bin_count()});
    check_bytes(binned.size() * windows * sizeof(pattern_item),
                fmt::format("{} binned spikes in windows of {} bins", core::grouped(binned.size()),
                            options.window),
                guard);
    check_items(binned.unit_count(), options.window, guard);
}

void check_memory(const spade_windows& windows, const memory_guard& guard) {
    check_items(windows.unit_count(), windows.window_bins(), guard);
}

void check_cost(const spade_analysis& analysis, bool is_collected, const execution& run,
                const memory_guard* guard, bool always) {
    constexpr double longest_s = 24 * 3600.0;
    constexpr double long_s = 10;
    const spade_options& options = analysis.search;
    const search_cost cost = estimate_search(analysis.prepared, options, is_collected, run);
    if (guard != nullptr && cost.bytes > guard->most())
        throw invalid_argument(
            fmt::format("{}: {}", describe_cost(cost, options), guard->too_much()));
    if (cost.search.seconds >= longest_s)
        throw invalid_argument(fmt::format(
            "{}, which is too long to begin: a larger `min_occ` or `min_spikes`, wider bins "
            "(`bin`), a smaller `window` or a part of the recording (`t_stop`) makes it shorter",
            describe_cost(cost, options)));
    if (!run.on_estimate) return;
    const surrogate_time tests = estimate_surrogates(analysis.prepared, options, run);
    if (always || cost.search.seconds + tests.seconds >= long_s)
        run.on_estimate(fmt::format("estimate: {}{}", describe_cost(cost, options),
                                    describe_time(tests, options)));
}

}  // namespace spikeweave
