#include "spikeweave/assess/episodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "assess/episodes/jitter_null.hpp"
#include "assess/episodes/shared_rates.hpp"
#include "core/given_time.hpp"
#include "core/grouped.hpp"
#include "core/stop.hpp"
#include "spikeweave/assess/surrogate_numbers.hpp"

namespace spikeweave {

using assess::measure_rates_within_cells;
using assess::measure_shared_rates;
using assess::shared_rates;

namespace {

void check_shared_rates(const spike_sequence& spikes, significance_test test,
                        std::vector<std::string>& out) {
    const shared_rates rates = measure_shared_rates(spikes);
    if (!rates.certain) return;
    out.push_back(fmt::format(
        "The units' rates rise and fall together: the number of spikes of all units in 100 ms "
        "varies {:.3g} times as much as that of independent units. The test {} takes rates for "
        "constant, so most of what it calls significant here is not a connection. Use `test` "
        "jitter, the default, or `surrogates` 200.",
        rates.ratio, to_string(test)));
}

// The width within which a test does not preserve rates. Some surrogates have no such width.
std::optional<duration> unpreserved_width(const episode_table& table,
                                          const significance_options& significance,
                                          const surrogate_options& surrogates) {
    if (surrogates.surrogates > 0) {
        if (surrogates.method != surrogate_method::interval_jitter &&
            surrogates.method != surrogate_method::spike_dithering)
            return std::nullopt;
        return 2 * surrogates.dither;
    }
    if (significance.test != significance_test::jitter) return std::nullopt;
    duration width = significance.jitter_window;
    for (const counted_episode& counted : table.episodes)
        for (const delay_interval& delay : counted.what.delays)
            width = std::max(width, assess::intervals_a_cell * (delay.high - delay.low));
    return width;
}

// The widest of a few dithers that preserves the changes that units share.
std::optional<duration> preserving_dither(const spike_sequence& spikes, duration width) {
    for (const int dither_ms : {6, 5, 4, 3, 2, 1}) {
        const duration cell = std::chrono::milliseconds{2 * dither_ms};
        if (cell < width && !measure_rates_within_cells(spikes, cell).certain) return cell / 2;
    }
    return std::nullopt;
}

// Says that what was found may be bursts that rise faster than the test preserves.
void check_fast_rates(const spike_sequence& spikes, duration width, std::vector<std::string>& out) {
    const shared_rates rates = measure_rates_within_cells(spikes, width);
    if (!rates.certain) return;
    const std::optional<duration> dither = preserving_dither(spikes, width);
    out.push_back(fmt::format(
        "The units' rates rise and fall together within {}, which this test takes for timing: the "
        "number of spikes of all units varies {:.3g} times as much there as that of independent "
        "units. Much of what is significant may be common bursts and not connections. {}",
        format_duration(width), rates.ratio,
        dither ? fmt::format("To preserve the bursts, use `surrogates` 200 with `dither` {}.",
                             format_duration(*dither))
               : "No dither of 1 ms or more preserves them."));
}

void check_surrogates(const significance_options& significance, const surrogate_options& surrogates,
                      std::vector<std::string>& out) {
    if (surrogates.surrogates == 0) return;
    if (auto warning = warn_of_few_surrogates(surrogates.surrogates, {significance.alpha}))
        out.push_back(std::move(*warning));
    core::check_given_time("The dither is", surrogates.dither, out);
}

}  // namespace

std::vector<std::string> check_tests(const spike_sequence& spikes,
                                     const significance_options& significance,
                                     const surrogate_options& surrogates) {
    std::vector<std::string> out;
    if (significance.test != significance_test::jitter && surrogates.surrogates == 0)
        check_shared_rates(spikes, significance.test, out);
    check_surrogates(significance, surrogates, out);
    return out;
}

episode_test_result test_episodes(const spike_sequence& spikes, const episode_table& table,
                                  const significance_options& significance,
                                  const surrogate_options& surrogates, const execution& run,
                                  const surrogate_tally* counted) {
    execution on_cpu = run;
    on_cpu.devices.clear();
    episode_test_result out{.assessed = test_against_null(spikes, table, significance, on_cpu)};
    core::throw_if_stopped(run.stop);
    if (surrogates.surrogates > 0)
        out.surrogates = test_against_surrogates(
            spikes, table,
            counted != nullptr ? *counted : count_in_surrogates(spikes, table, surrogates, run),
            significance.correction);
    const std::vector<episode_test> deciding =
        out.surrogates.empty() ? out.assessed : with_surrogate_tests(out.assessed, out.surrogates);
    out.circuit = find_circuit(spikes, table, deciding, {.alpha = significance.alpha}, on_cpu);
    core::throw_if_stopped(run.stop);
    out.warnings = check_tests(spikes, significance, surrogates);
    const auto is_significant = [&](const episode_test& test) {
        return test.q < significance.alpha;
    };
    const std::optional<duration> width = unpreserved_width(table, significance, surrogates);
    if (width && std::ranges::any_of(deciding, is_significant))
        check_fast_rates(spikes, *width, out.warnings);
    return out;
}

}  // namespace spikeweave
