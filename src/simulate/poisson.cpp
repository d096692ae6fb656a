#include <utility>

#include "core/stop.hpp"
#include "simulate/coupled_units.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave {

using simulate::numbered_names;

simulated_spikes simulate_poisson(const poisson_options& options, const execution& run) {
    check_options(options);
    const double mean_gap_us = 1e6 / options.rate_hz;
    const auto end_us = static_cast<double>(options.length.count());
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::uint32_t u = 0; u < options.units; ++u) {
        core::throw_if_stopped(run.stop);
        if (run.on_progress) run.on_progress({"simulating", u, options.units});
        random_stream random(options.seed, random_purpose::poisson_spikes, u);
        std::int64_t last_us = -1;
        for (double at = random.exponential() * mean_gap_us; at < end_us;
             at += random.exponential() * mean_gap_us) {
            const auto time_us = static_cast<std::int64_t>(at);
            // Two spikes in one microsecond are merged.
            if (time_us != std::exchange(last_us, time_us)) all.emplace_back(time_us, unit_id{u});
        }
    }
    return {.spikes = sequence_of(std::move(all), numbered_names("n", options.units),
                                  {duration{0}, options.length})};
}

}  // namespace spikeweave
