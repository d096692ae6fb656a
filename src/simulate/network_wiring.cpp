#include "simulate/network_wiring.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/stop.hpp"
#include "simulate/network_neurons.hpp"
#include "simulate/random_values.hpp"

namespace spikeweave::simulate {
namespace {

constexpr double largest_epsp_mv = 10;
// Standard deviation of the normal distribution of IPSPs, relative to its mean.
constexpr double ipsp_spread = 0.79;
// Between neurons, of the mean excitatory background, relative to it. It makes their rates differ.
constexpr double drive_spread = 0.03;

double draw_epsp_mv(const network_options& options, random_stream& random) {
    const double spread = options.epsp_spread;
    const double median = options.epsp_mv / exponential_of(spread * spread / 2);
    for (;;) {
        const double mv = median * exponential_of(spread * nearly_normal(random));
        if (mv <= largest_epsp_mv) return mv;
    }
}

double draw_ipsp_mv(const network_options& options, random_stream& random) {
    for (;;) {
        const double relative = 1 + ipsp_spread * nearly_normal(random);
        if (relative > 0) return relative * options.ipsp_mv;
    }
}

std::vector<wire> wires_of(std::uint32_t from, const network_wiring& network,
                           const network_options& options) {
    random_stream random(options.seed, random_purpose::network_synapses, from);
    const bool excites = network.excitatory[from] != 0;
    const double probability = excites ? options.epsp_probability : options.ipsp_probability;
    const std::uint32_t low =
        network_steps(excites ? options.epsp_low_delay : options.ipsp_low_delay);
    const std::uint32_t high =
        network_steps(excites ? options.epsp_high_delay : options.ipsp_high_delay);
    const double by_mv[2] = {conductance_of_1_mv(excites, false),
                             conductance_of_1_mv(excites, true)};
    std::vector<wire> out;
    for (std::uint32_t to = 0; to < options.neurons; ++to) {
        if (to == from || !(random.uniform() < probability)) continue;
        const double mv = excites ? draw_epsp_mv(options, random) : draw_ipsp_mv(options, random);
        const auto delay = low + static_cast<std::uint32_t>(random.below(high - low + 1));
        out.push_back({to, delay, static_cast<float>(mv * by_mv[network.excitatory[to]]),
                       static_cast<float>(excites ? mv : -mv)});
    }
    return out;
}

// The first of a random order of all neurons.
std::vector<std::uint32_t> draw_recorded(const network_options& options) {
    random_stream random(options.seed, random_purpose::network_units, 0);
    std::vector<std::uint32_t> all(options.neurons);
    std::iota(all.begin(), all.end(), 0U);
    for (std::uint32_t i = 0; i < options.units; ++i)
        std::swap(all[i], all[i + random.below(options.neurons - i)]);
    all.resize(options.units);
    return all;
}

void draw_drives(network_wiring& network, const network_options& options) {
    const auto rhythms = options.rhythms.size();
    for (std::uint32_t n = 0; n < options.neurons; ++n) {
        random_stream random(options.seed, random_purpose::network_drives, n);
        network.drive.push_back(options.drive * (1 + drive_spread * nearly_normal(random)));
        const bool follows = random.uniform() < options.rhythmic && rhythms > 0;
        network.rhythm.push_back(follows ? static_cast<std::uint32_t>(random.below(rhythms)) : 0);
        network.depth.push_back(follows ? options.rhythm_depth * between(random, 0.5, 1.5) : 0);
    }
}

}  // namespace

std::uint32_t network_steps(duration d) {
    return static_cast<std::uint32_t>((d.count() + network_step_us / 2) / network_step_us);
}

double exponential_of(double x) {
    constexpr int halvings = 10;
    const double small = x * 0x1p-10;
    double power = 1;
    double sum = 1;
    for (double n = 1; n < 12; ++n) {
        power *= small / n;
        sum += power;
    }
    for (int i = 0; i < halvings; ++i) sum *= sum;
    return sum;
}

double sine_of_turns(double turns) {
    // sin is odd around half a turn and even around a quarter.
    const double half = turns <= 0.5 ? turns : turns - 0.5;
    const double quarter = half <= 0.25 ? half : 0.5 - half;
    const double x = 2 * std::numbers::pi * quarter;
    double power = x;
    double sum = x;
    for (double n = 2; n < 24; n += 2) {
        power *= -x * x / (n * (n + 1));
        sum += power;
    }
    return turns <= 0.5 ? sum : -sum;
}

network_wiring draw_wiring(const network_options& options, const execution& run) {
    network_wiring out;
    out.excitatory.resize(options.neurons);
    // Which neurons these are does not matter, because those recorded are drawn at random.
    const auto excitatory =
        static_cast<std::uint32_t>(std::lround(options.excitatory * options.neurons));
    std::fill_n(out.excitatory.begin(), excitatory, std::uint8_t{1});
    for (std::uint32_t from = 0; from < options.neurons; ++from) {
        core::throw_if_stopped(run.stop);
        out.wires.push_back(wires_of(from, out, options));
        for (const wire& w : out.wires.back())
            out.longest_delay = std::max(out.longest_delay, w.delay_steps);
    }
    out.recorded = draw_recorded(options);
    draw_drives(out, options);
    return out;
}

}  // namespace spikeweave::simulate
