#include "null_recordings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace null_recordings {
namespace {

using namespace spikeweave;
using namespace std::chrono_literals;

// The properties of the units of a recording. Rates are in Hz, times in seconds.
struct recipe {
    std::uint32_t units = 20;
    double mean_hz = 10;
    double log_sd = 0.5;  // of the units' rates, which are lognormal
    double dead_s = 0;
    int gamma_order = 1;
    /// A common factor of all rates over time; it is at most `highest`.
    std::function<double(double)> common = nullptr;
    double highest = 1;
    bool own_bursts = false;
    double burst_hz = 100;     // one over the mean of an interval in a burst, without its 2 ms
    double burst_hz_before{};  // the same in the first half of the recording, if it differs
    double doublets = 0;   // share of spikes that are followed by another one after 0.4 to 1.5 ms
    bool on_grid = false;  // at most one spike per millisecond
    std::vector<delay_interval> delays = default_delays();
};

// Returns network bursts with sudden or slow rises and decays of 200 ms, one every four seconds on
// average.
std::function<double(double)> bursts(double rise_s, std::int64_t length_s,
                                     std::mt19937_64& random) {
    std::vector<double> begins;
    std::exponential_distribution<double> gap(1 / 3.5);
    for (double t = gap(random); t < static_cast<double>(length_s); t += 0.5 + gap(random))
        begins.push_back(t);
    return [=](double t) {
        const auto next = std::upper_bound(begins.begin(), begins.end(), t);
        if (next == begins.begin()) return 0.3;
        const double since = t - *(next - 1);
        const double up = std::min(1.0, since / rise_s);
        return 0.3 + 12 * up * std::exp(-std::max(0.0, since - rise_s) / 0.2);
    };
}

// Returns a random walk of the logarithm, smoothed with a memory of two seconds.
std::function<double(double)> slow_changes(std::int64_t length_s, std::mt19937_64& random) {
    constexpr double step_s = 0.1;
    std::normal_distribution<double> normal;
    std::vector<double> values;
    double value = normal(random);
    const double keep = std::exp(-step_s / 2);
    for (std::int64_t i = 0; i < 10 * length_s + 2; ++i) {
        values.push_back(std::min(5.0, std::exp(0.7 * value - 0.245)));
        value = keep * value + std::sqrt(1 - keep * keep) * normal(random);
    }
    return [values](double t) {
        const double at = t / step_s;
        const auto i = static_cast<std::size_t>(at);
        const double part = at - static_cast<double>(i);
        return values[i] * (1 - part) + values[i + 1] * part;
    };
}

recipe recipe_of(std::string_view name, std::int64_t length_s, std::mt19937_64& random) {
    const auto wave = [](double t) { return 1 + 0.9 * std::sin(2 * std::numbers::pi * 8 * t); };
    if (name == "poisson") return {.log_sd = 0};
    if (name == "spread") return {.log_sd = 1};
    if (name == "dead-time") return {.units = 15, .mean_hz = 40, .log_sd = 0, .dead_s = 0.003};
    if (name == "contaminated")
        return {.units = 15, .mean_hz = 40, .log_sd = 0, .dead_s = 0.003, .doublets = 0.002};
    if (name == "gamma") return {.gamma_order = 5};
    if (name == "own-bursts") return {.own_bursts = true};
    if (name == "own-bursts-denser") return {.own_bursts = true, .burst_hz_before = 500};
    if (name == "wide") return {.units = 6, .mean_hz = 20, .log_sd = 0, .delays = {{0ms, 200ms}}};
    if (name == "slow") return {.common = slow_changes(length_s, random), .highest = 5};
    if (name == "rhythm") return {.common = wave, .highest = 1.9};
    if (name == "rhythm-grid") return {.common = wave, .highest = 1.9, .on_grid = true};
    if (name == "bursts-slow") return {.common = bursts(0.12, length_s, random), .highest = 12.3};
    if (name == "bursts-fast") return {.common = bursts(0.005, length_s, random), .highest = 12.3};
    if (name == "bursts-grid")
        return {.common = bursts(0.12, length_s, random), .highest = 12.3, .on_grid = true};
    throw invalid_argument(fmt::format("there is no null '{}'", name));
}

std::vector<double> train(const recipe& what, double rate_hz, double length_s,
                          std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform;
    std::gamma_distribution<double> interval(what.gamma_order, 1.0 / what.gamma_order);
    std::vector<double> times;
    if (what.own_bursts) {
        // Bursts have ten spikes on average; as many spikes are between them.
        std::exponential_distribution<double> between(rate_hz / 20);
        std::exponential_distribution<double> within(what.burst_hz);
        std::exponential_distribution<double> within_before(
            what.burst_hz_before > 0 ? what.burst_hz_before : what.burst_hz);
        for (double t = between(random); t < length_s; t += between(random)) {
            const bool is_before = t < length_s / 2;
            double at = t;
            do {
                times.push_back(at);
                at += 0.002 + (is_before ? within_before : within)(random);
            } while (uniform(random) < 0.9);
        }
        std::exponential_distribution<double> alone(rate_hz / 2);
        for (double t = alone(random); t < length_s; t += alone(random)) times.push_back(t);
    } else {
        const double fastest = rate_hz * what.highest / (1 - rate_hz * what.dead_s);
        for (double t = uniform(random) / fastest; t < length_s;
             t += what.dead_s + interval(random) / fastest)
            if (!what.common || uniform(random) * what.highest < what.common(t)) times.push_back(t);
    }
    std::uniform_real_distribution<double> close(0.0004, 0.0015);
    const std::size_t singles = times.size();
    for (std::size_t i = 0; i < singles; ++i)
        if (uniform(random) < what.doublets) times.push_back(times[i] + close(random));
    std::sort(times.begin(), times.end());
    if (!what.on_grid) return times;
    std::vector<double> kept;
    for (const double t : times)
        if (kept.empty() || std::floor(kept.back() * 1e3) < std::floor(t * 1e3)) kept.push_back(t);
    return kept;
}

// Units of 5 Hz that also fire in events: at a latency of each unit in every event, or in the
// cycles of an event at a phase of each unit.
spike_sequence make_ordered(std::string_view name, std::int64_t length_s, std::mt19937_64& random) {
    constexpr std::uint32_t units = 20;
    std::uniform_real_distribution<double> uniform;
    std::normal_distribution<double> normal;
    const auto length = static_cast<double>(length_s);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    std::vector<std::string> names;
    const auto add = [&](double at, unit_id unit) {
        if (at > 0 && at < length) all.emplace_back(static_cast<std::int64_t>(at * 1e6), unit);
    };
    for (std::uint32_t u = 0; u < units; ++u) {
        names.push_back(fmt::format("n{}", u));
        std::exponential_distribution<double> gap(5);
        for (double t = gap(random); t < length; t += gap(random)) add(t, unit_id{u});
        const double own = uniform(random);
        if (name == "stimulus") {
            for (double t = 0.25; t < length; t += 0.5)
                if (uniform(random) < 0.5)
                    add(t + 0.005 + 0.02 * own + 0.0015 * normal(random), unit_id{u});
        } else {
            const bool is_ripple = name == "ripples";
            const double period = 1.0 / (is_ripple ? 150 : 40);
            // Ripples last 100 ms, one a second.
            const double probability = is_ripple ? 0.15 : 0.1;
            for (double t = 0; t < length; t += period) {
                if (is_ripple && t - std::floor(t) > 0.1) continue;
                if (uniform(random) < probability)
                    add(t + period * own + 0.15 * period * normal(random), unit_id{u});
            }
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return sequence_of(std::move(all), std::move(names), {0s, std::chrono::seconds(length_s)});
}

}  // namespace

std::vector<null> all() {
    constexpr std::string_view names[]{
        "poisson",       // constant 10 Hz
        "spread",        // constant rates, lognormal with sd 1
        "dead-time",     // 15 units of 40 Hz, dead time 3 ms
        "contaminated",  // the same, a doublet of 0.4 to 1.5 ms in 500 spikes
        "gamma",         // gamma intervals of order 5
        "own-bursts",    // each unit in its own bursts
        "wide",          // 6 units of 20 Hz, one interval of 0 to 200 ms
        "slow",          // rates that rise and fall together over seconds
        "rhythm",        // a common rhythm of 8 Hz, depth 0.9
        "rhythm-grid",   // the same, at most one spike a millisecond
        "bursts-slow",   // network bursts that rise within 120 ms
        "bursts-fast",   // network bursts that rise within 5 ms
        "bursts-grid",   // 120 ms, at most one spike a millisecond
    };
    std::mt19937_64 random;
    std::vector<null> out;
    for (const std::string_view name : names)
        out.push_back({name, recipe_of(name, 1, random).delays});
    return out;
}

seed_range seeds_of(const std::string& recordings) {
    const std::size_t colon = recordings.find(':');
    if (colon == std::string::npos) return {.count = std::stoul(recordings)};
    const std::size_t first = std::stoul(recordings.substr(0, colon));
    const std::size_t end = std::stoul(recordings.substr(colon + 1));
    if (end <= first) throw invalid_argument(fmt::format("there is no seed in '{}'", recordings));
    return {.first = first, .count = end - first};
}

spike_sequence make(std::string_view name, std::int64_t length_s, std::uint32_t seed) {
    std::seed_seq seeds{seed, static_cast<std::uint32_t>(length_s),
                        static_cast<std::uint32_t>(std::hash<std::string_view>{}(name))};
    std::mt19937_64 random(seeds);
    if (std::ranges::find(ordered_nulls, name) != ordered_nulls.end())
        return make_ordered(name, length_s, random);
    const recipe what = recipe_of(name, length_s, random);
    std::lognormal_distribution<double> rate(std::log(what.mean_hz) - what.log_sd * what.log_sd / 2,
                                             what.log_sd);
    spike_sequence_builder builder;
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    for (std::uint32_t u = 0; u < what.units; ++u) {
        const unit_id unit = builder.unit(fmt::format("n{}", u));
        const double hz = what.log_sd > 0 ? std::min(60.0, rate(random)) : what.mean_hz;
        std::int64_t last = -1;
        for (const double t : train(what, hz, static_cast<double>(length_s), random)) {
            const auto us = static_cast<std::int64_t>(t * 1e6);
            if (us <= last || us >= length_s * 1'000'000) continue;
            spikes.emplace_back(last = us, unit);
        }
    }
    std::sort(spikes.begin(), spikes.end());
    for (const auto& [us, unit] : spikes) builder.append(us, unit);
    return builder.finish({0s, std::chrono::seconds(length_s)});
}

spike_sequence with_connections(const spike_sequence& null, std::span<const connection> connections,
                                std::uint32_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    const spike_trains trains(null);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::size_t i = 0; i < null.size(); ++i)
        all.emplace_back(null.times_us()[i], null.units()[i]);
    for (const auto& [from, to, strength] : connections)
        for (const std::int64_t time : trains.times_us(unit_id{from})) {
            const auto follower = time + static_cast<std::int64_t>(4200 + 1600 * uniform(random));
            if (uniform(random) < strength && follower < null.span().end.count())
                all.emplace_back(follower, unit_id{to});
        }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return sequence_of(std::move(all), null.unit_names(), null.span());
}

spike_sequence with_connections(const spike_sequence& null, const pair_strengths& strengths,
                                std::uint32_t seed) {
    std::array<connection, planted_pairs> connections{};
    for (std::uint32_t pair = 0; pair < planted_pairs; ++pair)
        connections[pair] = {2 * pair, 2 * pair + 1, strengths[pair]};
    return with_connections(null, connections, seed);
}

spike_sequence with_connections(const spike_sequence& null, double strength, std::uint32_t seed) {
    pair_strengths strengths{};
    strengths.fill(strength);
    return with_connections(null, strengths, seed);
}

spike_sequence joined(const spike_sequence& one, const spike_sequence& next) {
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (const spike_sequence* const part : {&one, &next})
        for (std::size_t i = 0; i < part->size(); ++i)
            all.emplace_back(part->times_us()[i], part->units()[i]);
    return sequence_of(std::move(all), one.unit_names(), {one.span().begin, next.span().end});
}

spike_sequence thinned(const spike_sequence& spikes, double kept, std::uint32_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    std::vector<std::pair<std::int64_t, unit_id>> all;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        if (uniform(random) < kept) all.emplace_back(spikes.times_us()[i], spikes.units()[i]);
    return sequence_of(std::move(all), spikes.unit_names(), spikes.span());
}

}  // namespace null_recordings
