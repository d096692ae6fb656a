#include <fmt/format.h>

#include <algorithm>

#include "simulate/coupled_units.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {

using simulate::coupled_units;
using simulate::numbered_names;
using simulate::plant_chains;
using simulate::run_coupled_units;
using simulate::whole_ticks;

namespace {

void check(const culture_options& options) {
    check_options(options);
    if (options.burst_low_hz > options.burst_high_hz)
        throw invalid_argument(fmt::format("`burst_low` ({} Hz) is above `burst_high` ({} Hz)",
                                           options.burst_low_hz, options.burst_high_hz));
    whole_ticks(options.burst_length, "burst_length");
    if (options.burst_every <= options.burst_length)
        throw invalid_argument(fmt::format("bursts of {} cannot come every {}",
                                           format_duration(options.burst_length),
                                           format_duration(options.burst_every)));
}

// Gives each channel its own rate at the start of a burst and resets it at the end. The quiet time
// between bursts is exponential.
class bursts {
public:
    explicit bursts(const culture_options& options)
        : options_(options), times_(options.seed, random_purpose::culture_bursts, 0) {
        begin_tick_ = quiet_ticks();
    }

    void operator()(std::int64_t tick, std::span<double> rates) {
        if (tick == 0) std::fill(rates.begin(), rates.end(), options_.background_hz);
        if (tick == begin_tick_) {
            // Bursts are numbered from 1, because sub-stream 0 of channel 0 holds the times.
            ++number_;
            for (std::uint32_t c = 0; c < rates.size(); ++c) {
                random_stream random(options_.seed, random_purpose::culture_bursts, c, number_);
                rates[c] = options_.burst_low_hz +
                           (options_.burst_high_hz - options_.burst_low_hz) * random.uniform();
            }
            end_tick_ = tick + options_.burst_length.count() / 1000;
        } else if (tick == end_tick_) {
            std::fill(rates.begin(), rates.end(), options_.background_hz);
            begin_tick_ = tick + quiet_ticks();
        }
    }

private:
    std::int64_t quiet_ticks() {
        const auto mean =
            static_cast<double>((options_.burst_every - options_.burst_length).count()) / 1000;
        return 1 + static_cast<std::int64_t>(times_.exponential() * mean);
    }

    culture_options options_;
    random_stream times_;
    std::uint32_t number_ = 0;
    std::int64_t begin_tick_ = 0;
    std::int64_t end_tick_ = -1;
};

}  // namespace

simulated_spikes simulate_culture(const culture_options& options, const execution& run) {
    check(options);
    simulated_spikes out;
    plant_chains(options.chains, options.channels, options.delay, options.probability, out);
    coupled_units units{.names = numbered_names("", options.channels),
                        .length = options.length,
                        .seed = options.seed,
                        .spikes = random_purpose::culture_spikes,
                        .base_rates = bursts(options)};
    for (const planted_edge& edge : out.truth)
        units.couplings.push_back(
            {edge.from, edge.to, whole_ticks(edge.delay, "the delay"), 0, edge.probability});
    out.spikes = run_coupled_units(units, run);
    return out;
}

}  // namespace spikeweave
