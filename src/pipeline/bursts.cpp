#include "spikeweave/pipeline/bursts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "pipeline/call_facts.hpp"

namespace spikeweave {
namespace {

// The share of the spikes of a Poisson train that have this many or more in a row with shorter
// intervals between them. Such a row of k spikes has k - 1 short intervals between two long ones.
double share_by_chance(double rate_hz, const burst_options& search) {
    const double is_short = 1 - std::exp(-rate_hz * to_seconds(search.begin_interval));
    double others = 0;
    for (std::uint32_t k = 1; k < search.min_spikes; ++k)
        others += k * std::pow(is_short, k - 1) * std::pow(1 - is_short, 2);
    return 1 - others;
}

// Fixed intervals make bursts of the spikes of a unit that fires fast.
bool looks_random(const unit_bursting& unit, const burst_options& search) {
    constexpr std::uint64_t fewest_spikes = 100;
    constexpr double many = 0.1;
    constexpr double variation_with_bursts = 1.5;
    if (unit.spikes < fewest_spikes || unit.spike_variation > variation_with_bursts) return false;
    const double share = unit.share_in_bursts();
    return share >= many && share < 2 * share_by_chance(unit.rate_hz, search);
}

void warn_of_random_units(const spike_sequence& spikes, burst_result& result) {
    const burst_options& search = result.options.search;
    if (search.method != burst_method::max_interval) return;
    std::vector<std::string> random;
    for (std::size_t u = 0; u < result.found.units.size(); ++u)
        if (looks_random(result.found.units[u], search)) random.push_back(spikes.unit_names()[u]);
    if (random.empty()) return;
    result.warnings.push_back(fmt::format(
        "Bursts of {} are hardly more than chance, because random spikes of the same rate have "
        "bursts, and the intervals between the spikes vary hardly more: {}. `method=log-isi` "
        "adapts to the intervals of each unit.",
        core::plural(random.size(), "fast unit", "fast units"), core::listed(random)));
}

void warn_of_few_units(const spike_sequence& spikes, burst_result& result) {
    if (spikes.unit_count() > 0 && spikes.unit_count() < result.found.units_of_network)
        result.warnings.push_back(fmt::format(
            "Bursts of a network are those of at least {} units, and the recording has {}.",
            result.found.units_of_network, core::plural(spikes.unit_count(), "unit", "units")));
}

}  // namespace

option_list describe(burst_analysis_options& options) {
    option_list list = describe(options.time);
    list.add_all(describe(options.search));
    list.add_all(describe_threads(options.run));
    return list;
}

burst_result find_bursts(const spike_sequence& recording, const burst_analysis_options& options,
                         const execution& run) {
    const pipeline::stop_watch watch;
    check_options(options);
    burst_result result{.options = options};
    chosen_time chosen = choose_time(recording, options.time);
    result.warnings = std::move(chosen.warnings);
    result.chosen = std::move(chosen.spikes);
    const spike_sequence& spikes = result.chosen ? *result.chosen : recording;
    execution mining = run;
    mining.threads = options.run.threads;
    result.found = mine_bursts(spikes, options.search, mining);
    warn_of_random_units(spikes, result);
    warn_of_few_units(spikes, result);
    result.seconds = watch.seconds();
    return result;
}

}  // namespace spikeweave
