#include <fmt/format.h>

#include <algorithm>

#include "simulate/coupled_units.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {

using simulate::coupled_units;
using simulate::coupling;
using simulate::numbered_names;
using simulate::plant_chains;
using simulate::run_coupled_units;
using simulate::whole_ticks;

namespace {

constexpr double background_share = 0.25;
constexpr double background_low = 0.01;
constexpr double background_high = 0.03;

// Adds weak connections between pairs without a step of a chain. Every pair has its own random
// numbers, so that another unit or chain does not change the other connections.
void add_background(const sym26_options& options, std::uint32_t delay_ticks,
                    std::uint32_t jitter_ticks, const std::vector<planted_edge>& planted,
                    std::vector<coupling>& couplings) {
    for (std::uint32_t from = 0; from < options.units; ++from)
        for (std::uint32_t to = 0; to < options.units; ++to) {
            if (from == to) continue;
            random_stream random(options.seed, random_purpose::sym26_weights, from, to);
            if (random.uniform() >= background_share) continue;
            const double probability =
                background_low + (background_high - background_low) * random.uniform();
            const bool taken =
                std::any_of(planted.begin(), planted.end(), [&](const planted_edge& edge) {
                    return edge.from == unit_id{from} && edge.to == unit_id{to};
                });
            if (!taken)
                couplings.push_back(
                    {unit_id{from}, unit_id{to}, delay_ticks, jitter_ticks, probability});
        }
}

}  // namespace

simulated_spikes simulate_sym26(const sym26_options& options, const execution& run) {
    check_options(options);
    const std::uint32_t delay_ticks = whole_ticks(options.delay, "delay");
    const std::uint32_t jitter_ticks = whole_ticks(options.jitter, "jitter");
    if (jitter_ticks >= delay_ticks)
        throw invalid_argument(fmt::format("`jitter` ({}) must be shorter than `delay` ({})",
                                           format_duration(options.jitter),
                                           format_duration(options.delay)));

    simulated_spikes out;
    plant_chains(options.chains, options.units, options.delay, options.probability, out);
    coupled_units units{.names = numbered_names("n", options.units),
                        .length = options.length,
                        .seed = options.seed,
                        .spikes = random_purpose::sym26_spikes};
    for (const planted_edge& edge : out.truth)
        units.couplings.push_back(
            {edge.from, edge.to, delay_ticks, jitter_ticks, edge.probability});
    if (options.background)
        add_background(options, delay_ticks, jitter_ticks, out.truth, units.couplings);
    units.base_rates = [rate = options.rest_rate_hz](std::int64_t tick, std::span<double> rates) {
        if (tick == 0) std::fill(rates.begin(), rates.end(), rate);
    };
    out.spikes = run_coupled_units(units, run);
    return out;
}

}  // namespace spikeweave
