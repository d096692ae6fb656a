#include "simulate/network_neurons.hpp"

#include <bit>
#include <cmath>

#include "core/processor.hpp"
#include "simulate/random_values.hpp"

namespace spikeweave::simulate {
namespace {

constexpr double step_ms = 0.1;
constexpr double leak_mv = -70;
constexpr double excitation_mv = 0;
constexpr double inhibition_mv = -80;
constexpr double synaptic_excitation_ms = 1;
constexpr double synaptic_inhibition_ms = 2;
constexpr double fast_threshold_ms = 10;
constexpr double slow_threshold_ms = 200;
constexpr std::size_t refractory_steps = 20;

// The fluctuating background of a neuron in a cortex, after Destexhe et al. 2001, as scaled by Endo
// et al.: conductances by the capacitance, in 1/ms.
struct background {
    double mean;
    double sd;
    double decay_ms;
};
constexpr background background_excitation{0.12343, 0.016286, 2.7};
constexpr background background_inhibition{0.32246, 0.026528, 10.5};

constexpr neuron_kind excitatory_kind{20, -55, 1.5, 0.25, 0.5};
constexpr neuron_kind inhibitory_kind{10, -57, 3, 0, 0};

// Makes a threshold that no potential reaches, until it is taken away again.
constexpr float unreachable_mv = 1024;
// Decaying values stay above this, because processors are slow with numbers next to 0.
constexpr float smallest = 1e-20F;
constexpr unsigned coins_in_word = 32;

constexpr float kept(double decay_ms) {
    return static_cast<float>(1 - step_ms / decay_ms);
}

// The size of a step up or down, with equal probability, that gives noise its standard deviation.
float coin_size(const background& of) {
    const double keeps = 1 - step_ms / of.decay_ms;
    return static_cast<float>(of.sd * step_ms * std::sqrt(1 - keeps * keeps));
}

float up_or_down(float size, std::uint32_t coins) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) ^ (coins & 0x80000000U));
}

}  // namespace

// The equations of one step. All neurons do the same operations in the same order, however many are
// computed at once.
struct network_kernel {
    using block = network_neurons::block;

    float excitation_coin = coin_size(background_excitation);
    float inhibition_coin = coin_size(background_inhibition);

    // Returns whether a neuron reaches its threshold.
    [[gnu::always_inline]] inline bool step_over(block& of, float* __restrict excitation,
                                                 float* __restrict inhibition) const {
        constexpr auto mean_inhibition = static_cast<float>(background_inhibition.mean * step_ms);
        std::uint32_t reached = 0;
        for (std::size_t i = 0; i < network_neurons::width; ++i) {
            const float ge =
                of.synaptic_excitation[i] * kept(synaptic_excitation_ms) + excitation[i] + smallest;
            const float gi =
                of.synaptic_inhibition[i] * kept(synaptic_inhibition_ms) + inhibition[i] + smallest;
            excitation[i] = 0;
            inhibition[i] = 0;
            const float ne = of.excitation_noise[i] * kept(background_excitation.decay_ms) +
                             up_or_down(excitation_coin, of.excitation_coins[i]);
            const float ni = of.inhibition_noise[i] * kept(background_inhibition.decay_ms) +
                             up_or_down(inhibition_coin, of.inhibition_coins[i]);
            of.excitation_coins[i] += of.excitation_coins[i];
            of.inhibition_coins[i] += of.inhibition_coins[i];
            const float be = of.mean_excitation[i] + ne;
            const float bi = mean_inhibition + ni;
            const float all_e = ge + (be > 0 ? be : 0);
            const float all_i = gi + (bi > 0 ? bi : 0);
            const float v = of.potential[i];
            const float next = v + (of.leak[i] * (static_cast<float>(leak_mv) - v) +
                                    all_e * (static_cast<float>(excitation_mv) - v) +
                                    all_i * (static_cast<float>(inhibition_mv) - v));
            const float fast = of.fast[i] * kept(fast_threshold_ms) + smallest;
            const float slow = of.slow[i] * kept(slow_threshold_ms) + smallest;
            of.synaptic_excitation[i] = ge;
            of.synaptic_inhibition[i] = gi;
            of.excitation_noise[i] = ne;
            of.inhibition_noise[i] = ni;
            of.potential[i] = next;
            of.fast[i] = fast;
            of.slow[i] = slow;
            reached |= next >= of.floor[i] + (fast + slow) ? 1U : 0U;
        }
        return reached != 0;
    }

    bool step(block& of, float* excitation, float* inhibition) const {
        return step_over(of, excitation, inhibition);
    }

#if defined(SPIKEWEAVE_AVX2)
    SPIKEWEAVE_AVX2 bool step_avx2(block& of, float* excitation, float* inhibition) const {
        return step_over(of, excitation, inhibition);
    }
#else
    bool step_avx2(block& of, float* excitation, float* inhibition) const {
        return step_over(of, excitation, inhibition);
    }
#endif
};

const neuron_kind& kind_of_neuron(bool excitatory) {
    return excitatory ? excitatory_kind : inhibitory_kind;
}

double conductance_of_1_mv(bool from_excitatory, bool to_excitatory) {
    constexpr double tiny = 1e-6;
    const double leak = step_ms / kind_of_neuron(to_excitatory).membrane_ms;
    const double excitation = background_excitation.mean * step_ms;
    const double inhibition = background_inhibition.mean * step_ms;
    const double rest = (leak * leak_mv + excitation * excitation_mv + inhibition * inhibition_mv) /
                        (leak + excitation + inhibition);
    const double reversal_mv = from_excitatory ? excitation_mv : inhibition_mv;
    const double decay_ms = from_excitatory ? synaptic_excitation_ms : synaptic_inhibition_ms;
    double synaptic = tiny;
    double change = 0;  // of the potential, from rest
    double peak = 0;
    for (;;) {
        change += synaptic * (reversal_mv - rest) - (leak + excitation + inhibition) * change;
        if (std::abs(change) < peak) return tiny / peak;
        peak = std::abs(change);
        synaptic *= 1 - step_ms / decay_ms;
    }
}

network_neurons::network_neurons(std::uint64_t seed, std::span<const std::uint8_t> excitatory,
                                 std::uint32_t longest_delay)
    : neurons_(excitatory.size()),
      padded_((neurons_ + width - 1) / width * width),
      slots_(std::size_t{longest_delay} + 1),
      blocks_(padded_ / width),
      excitatory_(excitatory.begin(), excitatory.end()),
      excitation_(slots_ * padded_),
      inhibition_(slots_ * padded_),
      refractory_(refractory_steps) {
    constexpr double highest_start_mv = leak_mv + 5;
    for (std::size_t n = 0; n < padded_; ++n) {
        block& of = blocks_[n / width];
        const std::size_t i = n % width;
        const neuron_kind& kind = kind_of_neuron(n >= neurons_ || excitatory[n] != 0);
        random_stream random(seed, random_purpose::network_noise, static_cast<std::uint32_t>(n));
        of.potential[i] = static_cast<float>(between(random, leak_mv, highest_start_mv));
        of.leak[i] = static_cast<float>(step_ms / kind.membrane_ms);
        of.floor[i] = static_cast<float>(kind.threshold_mv) + (n < neurons_ ? 0 : unreachable_mv);
        of.mean_excitation[i] = static_cast<float>(background_excitation.mean * step_ms);
        if (n >= neurons_) continue;
        rise_mv_.push_back(
            static_cast<float>(kind.fast_mv + kind.fast_sd_mv * nearly_normal(random)));
        noise_.push_back(random);
    }
}

void network_neurons::set_drive(std::uint32_t neuron, double relative) {
    blocks_[neuron / width].mean_excitation[neuron % width] =
        static_cast<float>(background_excitation.mean * step_ms * relative);
}

double network_neurons::potential_mv(std::uint32_t neuron) const {
    return static_cast<double>(blocks_[neuron / width].potential[neuron % width]);
}

void network_neurons::toss_coins() {
    for (std::size_t n = 0; n < neurons_; ++n) {
        blocks_[n / width].excitation_coins[n % width] = noise_[n].next_u32();
        blocks_[n / width].inhibition_coins[n % width] = noise_[n].next_u32();
    }
}

void network_neurons::fire(std::uint32_t neuron) {
    block& of = blocks_[neuron / width];
    const std::size_t i = neuron % width;
    of.fast[i] += rise_mv_[neuron];
    of.slow[i] += static_cast<float>(kind_of_neuron(excitatory_[neuron] != 0).slow_mv);
    of.floor[i] += unreachable_mv;
    refractory_[now_ % refractory_steps].push_back(neuron);
    fired_.push_back(neuron);
}

void network_neurons::end_refractory_periods() {
    std::vector<std::uint32_t>& recovered = refractory_[now_ % refractory_steps];
    for (const std::uint32_t n : recovered) blocks_[n / width].floor[n % width] -= unreachable_mv;
    recovered.clear();
}

std::span<const std::uint32_t> network_neurons::step() {
    static const network_kernel kernel;
    static const bool wide = core::has_avx2();
    if (now_ % coins_in_word == 0) toss_coins();
    ++now_;
    slot_ = now_ % slots_;
    end_refractory_periods();
    fired_.clear();
    float* excitation = excitation_.data() + slot_ * padded_;
    float* inhibition = inhibition_.data() + slot_ * padded_;
    for (std::size_t b = 0; b < blocks_.size(); ++b, excitation += width, inhibition += width) {
        block& of = blocks_[b];
        if (!(wide ? kernel.step_avx2(of, excitation, inhibition)
                   : kernel.step(of, excitation, inhibition)))
            continue;
        for (std::size_t i = 0; i < width; ++i)
            if (of.potential[i] >= of.floor[i] + (of.fast[i] + of.slow[i]))
                fire(static_cast<std::uint32_t>(b * width + i));
    }
    return fired_;
}

}  // namespace spikeweave::simulate
