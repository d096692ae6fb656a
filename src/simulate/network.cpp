#include "spikeweave/simulate/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/stop.hpp"
#include "simulate/coupled_units.hpp"
#include "simulate/network_neurons.hpp"
#include "simulate/network_wiring.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

using simulate::network_neurons;
using simulate::network_step_us;
using simulate::network_steps_per_second;
using simulate::network_wiring;
using simulate::wire;

namespace {

constexpr std::uint32_t not_recorded = std::numeric_limits<std::uint32_t>::max();
// Thresholds and backgrounds settle before the recording begins.
constexpr std::int64_t settling_steps = network_steps_per_second;
// The drive changes once a millisecond.
constexpr std::int64_t steps_of_drive = 10;
constexpr double burst_s = 0.2;
constexpr double burst_drive = 0.12;

void check_delays(const char* low_name, duration low, const char* high_name, duration high) {
    for (const auto& [name, delay] : {std::pair{low_name, low}, std::pair{high_name, high}})
        if (delay.count() % network_step_us != 0)
            throw invalid_argument(name, fmt::format("expected a multiple of 0.1 ms, found {}",
                                                     format_duration(delay)));
    if (low > high)
        throw invalid_argument(fmt::format("`{}` ({}) is above `{}` ({})", low_name,
                                           format_duration(low), high_name, format_duration(high)));
}

void check(const network_options& options) {
    check_options(options);
    if (options.units > options.neurons)
        throw invalid_argument(fmt::format("{} units cannot be recorded from {} neurons",
                                           options.units, options.neurons));
    check_delays("epsp_low_delay", options.epsp_low_delay, "epsp_high_delay",
                 options.epsp_high_delay);
    check_delays("ipsp_low_delay", options.ipsp_low_delay, "ipsp_high_delay",
                 options.ipsp_high_delay);
}

// The part of the excitatory background that changes: rhythms and network bursts.
class changing_drive {
public:
    changing_drive(const network_options& options, const network_wiring& network)
        : network_(network),
          rhythms_(options.rhythms),
          values_(rhythms_.size()),
          bursts_(options.seed, random_purpose::network_bursts, 0),
          steps_between_bursts_(static_cast<double>(network_steps_per_second) /
                                options.burst_rate_hz),
          has_bursts_(options.burst_rate_hz > 0),
          changes_(has_bursts_ || (!rhythms_.empty() && options.rhythm_depth > 0)) {
        for (std::size_t i = 0; i < sine_.size(); ++i)
            sine_[i] =
                simulate::sine_of_turns(static_cast<double>(i) / static_cast<double>(sine_.size()));
        for (std::uint32_t r = 0; r < rhythms_.size(); ++r) {
            random_stream random(options.seed, random_purpose::network_bursts, r, 1);
            phases_.push_back(random.below(sine_.size()));
        }
        if (has_bursts_) schedule_burst(0);
    }

    void apply(std::int64_t step, network_neurons& neurons) {
        if (step > 0 && !changes_) return;
        for (std::size_t r = 0; r < rhythms_.size(); ++r)
            values_[r] =
                sine_[(static_cast<std::uint64_t>(step) * rhythms_[r] + phases_[r]) % sine_.size()];
        const double burst = burst_at(step) ? burst_drive : 0;
        for (std::uint32_t n = 0; n < network_.drive.size(); ++n) {
            const double depth = network_.depth[n];
            const double rhythm = depth > 0 ? depth * values_[network_.rhythm[n]] : 0;
            neurons.set_drive(n, network_.drive[n] + rhythm + burst);
        }
    }

private:
    void schedule_burst(std::int64_t after) {
        constexpr double never = 1e15;
        const double quiet = std::min(bursts_.exponential() * steps_between_bursts_, never);
        burst_begins_ = after + static_cast<std::int64_t>(quiet);
        burst_ends_ = burst_begins_ + static_cast<std::int64_t>(
                                          burst_s * static_cast<double>(network_steps_per_second));
    }

    bool burst_at(std::int64_t step) {
        if (!has_bursts_) return false;
        while (step >= burst_ends_) schedule_burst(burst_ends_);
        return step >= burst_begins_;
    }

    const network_wiring& network_;
    std::vector<std::uint32_t> rhythms_;
    std::vector<std::uint64_t> phases_;
    std::vector<double> values_;
    // The sine of a rhythm of 1 Hz in each step.
    std::array<double, network_steps_per_second> sine_{};
    random_stream bursts_;
    double steps_between_bursts_;
    bool has_bursts_;
    bool changes_;
    std::int64_t burst_begins_ = 0;
    std::int64_t burst_ends_ = 0;
};

std::vector<std::uint32_t> units_of_neurons(const network_wiring& network) {
    std::vector<std::uint32_t> units(network.excitatory.size(), not_recorded);
    for (std::uint32_t u = 0; u < network.recorded.size(); ++u) units[network.recorded[u]] = u;
    return units;
}

std::vector<synapse> truth_of(const network_wiring& network,
                              const std::vector<std::uint32_t>& units) {
    std::vector<synapse> out;
    for (std::uint32_t u = 0; u < network.recorded.size(); ++u) {
        const std::size_t first = out.size();
        for (const wire& w : network.wires[network.recorded[u]])
            if (units[w.to] != not_recorded)
                out.push_back({unit_id{u}, unit_id{units[w.to]},
                               duration{w.delay_steps * network_step_us},
                               static_cast<double>(w.weight_mv)});
        std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                  [](const synapse& a, const synapse& b) { return a.to < b.to; });
    }
    return out;
}

using timed_units = std::vector<std::pair<std::int64_t, unit_id>>;

timed_units run_network(const network_options& options, const network_wiring& network,
                        const std::vector<std::uint32_t>& units, const execution& run) {
    network_neurons neurons(options.seed, network.excitatory, network.longest_delay);
    changing_drive drive(options, network);
    const std::int64_t steps = options.length.count() / network_step_us;
    timed_units out;
    for (std::int64_t step = 0; step < settling_steps + steps; ++step) {
        if (step % (network_steps_per_second / 10) == 0) {
            core::throw_if_stopped(run.stop);
            if (run.on_progress)
                run.on_progress({"simulating", static_cast<std::uint64_t>(step),
                                 static_cast<std::uint64_t>(settling_steps + steps)});
        }
        if (step % steps_of_drive == 0) drive.apply(step, neurons);
        for (const std::uint32_t n : neurons.step()) {
            for (const wire& w : network.wires[n])
                neurons.send(w.to, network.excitatory[n] != 0, w.delay_steps, w.conductance);
            if (step >= settling_steps && units[n] != not_recorded)
                out.emplace_back((step - settling_steps) * network_step_us, unit_id{units[n]});
        }
    }
    return out;
}

}  // namespace

simulated_network simulate_network(const network_options& options, const execution& run) {
    check(options);
    const network_wiring network = simulate::draw_wiring(options, run);
    const std::vector<std::uint32_t> units = units_of_neurons(network);
    return {
        sequence_of(run_network(options, network, units, run),
                    simulate::numbered_names("n", options.units), {duration{0}, options.length}),
        truth_of(network, units)};
}

}  // namespace spikeweave
