#include "spikeweave/simulate/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "simulate/network_neurons.hpp"
#include "simulate/network_wiring.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave {

using simulate::conductance_of_1_mv;
using simulate::exponential_of;
using simulate::network_neurons;
using simulate::sine_of_turns;

namespace {

using namespace std::chrono_literals;

// A network that is recorded as a whole.
network_options small_network() {
    return {.neurons = 20,
            .units = 20,
            .length = 5s,
            .epsp_mv = 2,
            .epsp_spread = 0.2,
            .epsp_probability = 0.1,
            .rhythms = {},
            .seed = 7};
}

double rate_hz(const simulated_network& made) {
    return static_cast<double>(made.spikes.size()) / static_cast<double>(made.spikes.unit_count()) /
           to_seconds(made.spikes.span().end);
}

template <typename Call>
std::string refusal_of(const Call& call) {
    try {
        call();
    } catch (const invalid_argument& error) {
        return error.what();
    }
    return "nothing thrown";
}

TEST(NetworkFunctions, AreThoseOfTheMathematicalLibrary) {
    for (const double x : {-20.0, -3.0, -0.1, 0.0, 1e-9, 0.5, 2.0, 9.0})
        EXPECT_NEAR(exponential_of(x), std::exp(x), 1e-12 * std::exp(x)) << x;
    for (double turns = 0; turns <= 1; turns += 1.0 / 64)
        EXPECT_NEAR(sine_of_turns(turns), std::sin(2 * std::numbers::pi * turns), 1e-15) << turns;
}

// One excitatory neuron after another, by the equations of the page.
class plain_neuron {
public:
    plain_neuron(std::uint64_t seed, std::uint32_t number)
        : random_(seed, random_purpose::network_noise, number),
          v_(static_cast<float>(-70 + 5 * random_.uniform())) {
        const auto coins = static_cast<double>(std::popcount(random_.next_u64())) - 32;
        const double normal = (coins + static_cast<double>(random_.next_u32()) * 0x1p-32 - 0.5) /
                              std::sqrt(16 + 1 / 12.0);
        rise_ = static_cast<float>(1.5 + 0.25 * normal);
    }

    // Returns whether the neuron fires at the end of step 1, 2, …
    bool step(std::uint64_t number, float arriving) {
        if ((number - 1) % 32 == 0) {
            up_e_ = random_.next_u32();
            up_i_ = random_.next_u32();
        }
        const unsigned bit = 31 - static_cast<unsigned>((number - 1) % 32);
        g_ = g_ * 0.9F + arriving;
        noise_e_ = noise_e_ * keep(2.7) + toss(up_e_ >> bit, 0.016286, 2.7);
        noise_i_ = noise_i_ * keep(10.5) + toss(up_i_ >> bit, 0.026528, 10.5);
        const float excitation = g_ + (0.012343F + noise_e_);
        const float inhibition = 0.032246F + noise_i_;
        v_ += 0.005F * (-70 - v_) + excitation * (0 - v_) + inhibition * (-80 - v_);
        fast_ *= keep(10);
        slow_ *= keep(200);
        const bool rested = number >= last_ + 20;
        if (!rested || v_ < -55 + (fast_ + slow_)) return false;
        fast_ += rise_;
        slow_ += 0.5F;
        last_ = number;
        return true;
    }

    float potential() const { return v_; }

private:
    static float keep(double ms) { return static_cast<float>(1 - 0.1 / ms); }
    static float toss(std::uint32_t coin, double sd, double ms) {
        const double keeps = 1 - 0.1 / ms;
        const auto size = static_cast<float>(sd * 0.1 * std::sqrt(1 - keeps * keeps));
        return (coin & 1U) != 0 ? -size : size;
    }

    random_stream random_;
    float v_;
    float rise_ = 0;
    float g_ = 0;
    float noise_e_ = 0;
    float noise_i_ = 0;
    float fast_ = 0;
    float slow_ = 0;
    std::uint32_t up_e_ = 0;
    std::uint32_t up_i_ = 0;
    std::uint64_t last_ = 0;
};

// Each neuron excites the next one. 70 neurons are more than are computed side by side.
TEST(NetworkNeurons, FollowTheEquations) {
    constexpr std::uint32_t n = 70;
    constexpr std::uint32_t delay = 13;
    constexpr std::uint64_t seed = 5;
    const std::vector<std::uint8_t> excitatory(n, 1);
    const auto strength = static_cast<float>(3 * conductance_of_1_mv(true, true));
    network_neurons neurons(seed, excitatory, delay);
    std::vector<plain_neuron> plain;
    for (std::uint32_t i = 0; i < n; ++i) plain.emplace_back(seed, i);
    std::vector<std::vector<float>> arriving(delay + 1, std::vector<float>(n));
    std::size_t spikes = 0;

    for (std::uint64_t step = 1; step <= 30'000; ++step) {
        std::vector<std::uint32_t> expected;
        std::vector<float>& now = arriving[step % (delay + 1)];
        for (std::uint32_t i = 0; i < n; ++i)
            if (plain[i].step(step, std::exchange(now[i], 0.0F))) expected.push_back(i);
        for (const std::uint32_t i : expected)
            arriving[(step + delay) % (delay + 1)][(i + 1) % n] += strength;

        const auto fired = neurons.step();
        ASSERT_EQ(std::vector(fired.begin(), fired.end()), expected) << step;
        for (const std::uint32_t i : expected) neurons.send((i + 1) % n, true, delay, strength);
        spikes += expected.size();
    }
    for (std::uint32_t i = 0; i < n; ++i)
        EXPECT_NEAR(neurons.potential_mv(i), static_cast<double>(plain[i].potential()), 1e-3);
    EXPECT_GT(spikes, 400U);
}

// Without noise: -V/tau with tau = 1/(1/20 + 0.12343 + 0.32246) ms, and a current that decays in
// 1 or 2 ms.
TEST(NetworkNeurons, HavePotentialsOfTheSizeThatWasAskedFor) {
    const double tau = 1 / (1 / 20.0 + 0.12343 + 0.32246);
    const double rest = tau * (-70 / 20.0 - 80 * 0.32246);
    for (const bool excites : {true, false}) {
        const double decay = excites ? 1 : 2;
        double peak = 0;
        for (double t = 0; t < 10; t += 0.01)
            peak = std::max(
                peak, tau * decay / (tau - decay) * (std::exp(-t / tau) - std::exp(-t / decay)));
        const double per_ms = conductance_of_1_mv(excites, true) / 0.1;
        EXPECT_NEAR(per_ms * peak * std::abs((excites ? 0 : -80) - rest), 1, 0.08) << excites;
    }
}

TEST(NetworkNeurons, AreChangedExactlyAfterTheDelay) {
    const std::vector<std::uint8_t> kinds{1, 1, 0};
    for (const std::uint32_t delay : {1U, 7U, 20U}) {
        network_neurons with(3, kinds, 20);
        network_neurons without(3, kinds, 20);
        for (int i = 0; i < 95; ++i) {
            with.step();
            without.step();
        }
        with.send(1, true, delay, static_cast<float>(conductance_of_1_mv(true, true) / 2));
        with.send(2, false, delay, static_cast<float>(conductance_of_1_mv(false, false) / 2));
        for (std::uint32_t step = 1; step <= delay; ++step) {
            EXPECT_EQ(with.potential_mv(1), without.potential_mv(1)) << step;
            with.step();
            without.step();
        }
        EXPECT_EQ(with.potential_mv(0), without.potential_mv(0));
        EXPECT_GT(with.potential_mv(1), without.potential_mv(1));
        EXPECT_LT(with.potential_mv(2), without.potential_mv(2));
    }
}

TEST(SimulateNetwork, GivesTheSameForOneSeed) {
    network_options options = small_network();
    const simulated_network made = simulate_network(options, {.threads = 1});
    const simulated_network again = simulate_network(options, {.threads = 3});
    EXPECT_EQ(made.spikes, again.spikes);
    EXPECT_EQ(made.truth, again.truth);
    ++options.seed;
    EXPECT_NE(simulate_network(options).spikes, made.spikes);
}

// Whoever changes these changes what every seed gives.
TEST(SimulateNetwork, GivesTheSameOnEveryMachine) {
    const simulated_network made = simulate_network(small_network());
    ASSERT_GT(made.truth.size(), 2U);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < made.spikes.size(); ++i)
        sum += made.spikes.times_us()[i] *
               (1 + static_cast<std::int64_t>(to_index(made.spikes.units()[i])));
    EXPECT_EQ(made.spikes.size(), 561U);
    EXPECT_EQ(sum, 13'456'663'500);
    EXPECT_EQ(static_cast<float>(made.truth[0].weight_mv), 1.554917573928833F);
}

TEST(SimulateNetwork, RecordsTheSynapsesOfItsUnits) {
    network_options options = small_network();
    options.neurons = 200;
    options.units = 100;
    options.length = 100ms;
    const simulated_network made = simulate_network(options);

    std::set<std::pair<unit_id, unit_id>> pairs;
    std::vector<int> sign(options.units);
    std::size_t excitatory = 0;
    for (const synapse& one : made.truth) {
        EXPECT_NE(one.from, one.to);
        EXPECT_TRUE(pairs.emplace(one.from, one.to).second);
        const bool excites = one.weight_mv > 0;
        excitatory += excites ? 1 : 0;
        EXPECT_GE(one.delay, excites ? options.epsp_low_delay : options.ipsp_low_delay);
        EXPECT_LE(one.delay, excites ? options.epsp_high_delay : options.ipsp_high_delay);
        EXPECT_EQ(one.delay.count() % 100, 0);
        EXPECT_NE(one.weight_mv, 0);
        int& of = sign[to_index(one.from)];
        if (of == 0) of = excites ? 1 : -1;
        EXPECT_EQ(of, excites ? 1 : -1);
    }
    // 80 and 20 units with 99 possible targets each, within four standard deviations.
    EXPECT_NEAR(static_cast<double>(excitatory), 80 * 99 * 0.1, 200);
    EXPECT_NEAR(static_cast<double>(made.truth.size() - excitatory), 20 * 99 * 0.25, 200);
    EXPECT_EQ(made.spikes.unit_names().front(), "n0");
    EXPECT_EQ(made.spikes.unit_names().size(), 100U);
    EXPECT_TRUE(
        std::is_sorted(made.truth.begin(), made.truth.end(), [](const auto& a, const auto& b) {
            return std::pair(a.from, a.to) < std::pair(b.from, b.to);
        }));
}

TEST(SimulateNetwork, DrawsTheSizesOfThePublishedNetwork) {
    const simulated_network made =
        simulate_network({.neurons = 400, .units = 400, .length = 1ms, .seed = 1});
    double excitatory = 0;
    double above_1 = 0;
    double above_half = 0;
    double largest = 0;
    for (const synapse& one : made.truth) {
        if (one.weight_mv < 0) continue;
        ++excitatory;
        above_1 += one.weight_mv > 1 ? 1 : 0;
        above_half += one.weight_mv > 0.5 ? 1 : 0;
        largest = std::max(largest, one.weight_mv);
    }
    EXPECT_NEAR(above_1 / excitatory, 0.040, 0.006);
    EXPECT_NEAR(above_half / excitatory, 0.112, 0.012);
    EXPECT_GT(largest, 4);
    EXPECT_LE(largest, 10);
}

TEST(SimulateNetwork, FiresAsTheCortexDoes) {
    const simulated_network made = simulate_network({.length = 10s, .seed = 1});
    const spike_trains trains(made.spikes);
    EXPECT_GT(rate_hz(made), 2);
    EXPECT_LT(rate_hz(made), 7);
    for (std::uint32_t u = 0; u < 60; ++u) {
        const auto times = trains.times_us(unit_id{u});
        EXPECT_LT(times.size(), 300U);
        for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i] - times[i - 1], 2000);
    }
}

TEST(SimulateNetwork, FollowsAStrongSynapseAfterItsDelay) {
    network_options options = small_network();
    options.length = 120s;
    options.epsp_low_delay = options.epsp_high_delay = 8ms;
    const simulated_network made = simulate_network(options);
    const spike_trains trains(made.spikes);
    std::size_t before = 0;
    std::size_t after = 0;
    for (const synapse& one : made.truth) {
        if (one.weight_mv < 0) continue;
        const auto targets = trains.times_us(one.to);
        const auto within = [&](std::int64_t from, std::int64_t until) {
            return static_cast<std::size_t>(
                std::lower_bound(targets.begin(), targets.end(), until) -
                std::lower_bound(targets.begin(), targets.end(), from));
        };
        for (const std::int64_t t : trains.times_us(one.from)) {
            before += within(t + 5'000, t + 8'000);
            after += within(t + 8'000, t + 11'000);
        }
    }
    EXPECT_GT(before, 20U);
    EXPECT_GT(after, 4 * before);
}

TEST(SimulateNetwork, FollowsARhythm) {
    network_options options = small_network();
    options.length = 60s;
    options.rhythms = {8};
    options.rhythmic = 1;
    options.rhythm_depth = 0.1;
    const auto strength = [](const simulated_network& made) {
        double x = 0;
        double y = 0;
        for (const std::int64_t t : made.spikes.times_us()) {
            const double turn = 2 * std::numbers::pi * 8 * static_cast<double>(t) / 1e6;
            x += std::cos(turn);
            y += std::sin(turn);
        }
        return std::hypot(x, y) / static_cast<double>(made.spikes.size());
    };
    EXPECT_GT(strength(simulate_network(options)), 0.4);
    options.rhythms = {};
    EXPECT_LT(strength(simulate_network(options)), 0.1);
}

TEST(SimulateNetwork, HasBurstsOfTheWholeNetwork) {
    network_options options = small_network();
    options.length = 60s;
    const auto most_in_a_tenth = [](const simulated_network& made) {
        std::vector<int> counts(600);
        for (const std::int64_t t : made.spikes.times_us())
            ++counts[static_cast<std::size_t>(std::min<std::int64_t>(t / 100'000, 599))];
        return *std::ranges::max_element(counts);
    };
    const int quiet = most_in_a_tenth(simulate_network(options));
    options.burst_rate_hz = 0.5;
    EXPECT_GT(most_in_a_tenth(simulate_network(options)), 2 * quiet);
}

TEST(SimulateNetwork, WritesItsSynapses) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / "spikeweave_network_test";
    std::filesystem::create_directories(folder);
    const simulated_network made{
        .spikes = spike_sequence({1000}, {unit_id{0}}, {"n0", "n1"}, {duration{0}, 1s}),
        .truth = {{unit_id{0}, unit_id{1}, 3100us, 0.25}, {unit_id{1}, unit_id{0}, 2ms, -0.5}}};
    write_simulation(folder / "s.tsv", made);
    std::ifstream file(folder / "s.truth.tsv");
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(),
              "from\tto\tdelay_ms\tweight_mv\nn0\tn1\t3.1\t0.2500\nn1\tn0\t2\t-0.5000\n");
    std::filesystem::remove_all(folder);
}

TEST(SimulateNetwork, RefusesWhatCannotBe) {
    const auto refused = [](auto change) {
        network_options options = small_network();
        change(options);
        return refusal_of([&] { simulate_network(options); });
    };
    EXPECT_EQ(refused([](auto& o) { o.units = 21; }),
              "21 units cannot be recorded from 20 neurons");
    EXPECT_EQ(refused([](auto& o) { o.epsp_low_delay = 6ms; }),
              "`epsp_low_delay` (6 ms) is above `epsp_high_delay` (5 ms)");
    EXPECT_EQ(refused([](auto& o) { o.ipsp_high_delay = 4050us; }),
              "`ipsp_high_delay`: expected a multiple of 0.1 ms, found 4.05 ms");
    EXPECT_EQ(refused([](auto& o) {
                  o.rhythms = {8, 101};
              }),
              "`rhythms`: expected whole numbers from 1 to 100, found 101");
    EXPECT_NE(refused([](auto& o) { o.epsp_probability = 1.5; }).find("epsp_probability"),
              std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.neurons = 0; }).find("neurons"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.epsp_mv = NAN; }).find("epsp"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.ipsp_low_delay = 0ms; }).find("ipsp_low_delay"),
              std::string::npos);
}

TEST(SimulateNetwork, StopsOnRequest) {
    std::stop_source source;
    execution run;
    run.stop = source.get_token();
    run.on_progress = [&](const progress_report& now) {
        if (now.done > 0) source.request_stop();
    };
    EXPECT_THROW(simulate_network(small_network(), run), cancelled);
}

}  // namespace
}  // namespace spikeweave
