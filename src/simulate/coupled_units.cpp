#include "simulate/coupled_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::simulate {
namespace {

constexpr std::int64_t tick_us = 1000;
constexpr double ticks_per_second = 1000;
constexpr double largest_probability = 0.99;
// One spike drives a receiver to at most this share of its largest rate.
constexpr double largest_drive = 0.95;
constexpr std::uint32_t longest_delay_ticks = 60'000;

// The input to one unit in one tick: the product of b/(1-b) over the arriving spikes, and their
// number. The published input is the sum of ln(b/(1-b) R) with R = rate_max/base - 1; the rate
// needs only its exponential, so a product without logarithms suffices.
struct arrivals {
    double odds = 1;
    std::uint32_t spikes = 0;
};

// rate_max / (1 + R exp(-input))
double driven_rate_hz(double base_hz, const arrivals& input) {
    if (input.spikes == 0) return base_hz;
    const double rest = largest_rate_hz() / base_hz - 1;
    double ratio = 1 / input.odds;  // R is divided out once here
    for (std::uint32_t i = 1; i < input.spikes; ++i) ratio /= rest;
    return largest_rate_hz() / (1 + ratio);
}

double drive_odds(double probability) {
    // For larger probabilities the limit applies, and the series would be slow.
    const double b =
        probability >= largest_probability
            ? largest_drive
            : std::min(minus_log_of_complement(probability) * ticks_per_second / largest_rate_hz(),
                       largest_drive);
    return b / (1 - b);
}

struct coupled_synapse {
    std::size_t to;
    std::uint32_t delay_ticks;
    std::uint32_t jitter_ticks;
    double odds;
    random_stream random;
};

struct unit_state {
    random_stream random;
    double hazard_left;  // hazard until the next proposed spike; exponential with mean 1 when drawn
    double last_ticks = -2;
    std::vector<coupled_synapse> synapses{};
};

// The whole simulation: states of the units, and a ring of arrivals in coming ticks.
class machine {
public:
    machine(const coupled_units& what) : units_(what.names.size()), base_hz_(units_) {
        for (std::uint32_t u = 0; u < units_; ++u) {
            random_stream random(what.seed, what.spikes, u);
            const double first = random.exponential();
            states_.push_back({random, first});
        }
        std::uint32_t longest = 0;
        for (const coupling& c : what.couplings) {
            longest = std::max(longest, c.delay_ticks + c.jitter_ticks);
            const auto from = static_cast<std::uint32_t>(to_index(c.from));
            const auto to = static_cast<std::uint32_t>(to_index(c.to));
            // Sub-streams start at 1, because 0 is used for the unit's own spikes.
            states_[from].synapses.push_back({to, c.delay_ticks, c.jitter_ticks,
                                              drive_odds(c.probability),
                                              random_stream(what.seed, what.spikes, from, to + 1)});
        }
        ring_.assign((longest + 1) * units_, {});
    }

    std::span<double> base_hz() { return base_hz_; }

    // Appends this tick's spikes in the order of units.
    void step(std::int64_t tick, std::vector<std::pair<std::int64_t, unit_id>>& out) {
        arrivals* const now = slot(tick);
        for (std::size_t u = 0; u < units_; ++u) {
            const double per_tick = driven_rate_hz(base_hz_[u], now[u]) / ticks_per_second;
            fire(tick, u, per_tick, out);
        }
        std::fill_n(now, units_, arrivals{});
    }

private:
    arrivals* slot(std::int64_t tick) {
        const auto slots = static_cast<std::int64_t>(ring_.size() / units_);
        return ring_.data() + static_cast<std::size_t>(tick % slots) * units_;
    }

    void fire(std::int64_t tick, std::size_t u, double per_tick,
              std::vector<std::pair<std::int64_t, unit_id>>& out) {
        unit_state& state = states_[u];
        const auto begin = static_cast<double>(tick);
        double at = 0;
        for (;;) {
            const double gap = state.hazard_left / per_tick;
            if (!(at + gap < 1)) {
                state.hazard_left = std::max(0.0, state.hazard_left - (1 - at) * per_tick);
                return;
            }
            at += gap;
            state.hazard_left = state.random.exponential();
            if (!(begin + at > state.last_ticks + 1)) continue;  // refractory
            state.last_ticks = begin + at;
            const auto within_us = static_cast<std::int64_t>(at * static_cast<double>(tick_us));
            out.emplace_back(tick * tick_us + std::min(within_us, tick_us - 1),
                             unit_id{static_cast<std::uint32_t>(u)});
            transmit(tick, state);
        }
    }

    void transmit(std::int64_t tick, unit_state& from) {
        for (coupled_synapse& s : from.synapses) {
            std::int64_t due = tick + s.delay_ticks;
            if (s.jitter_ticks > 0)
                due += static_cast<std::int64_t>(s.random.below(2U * s.jitter_ticks + 1)) -
                       s.jitter_ticks;
            arrivals& input = slot(due)[s.to];
            // The limits are far beyond those that affect a rate, and far from overflow.
            input.odds = std::clamp(input.odds * s.odds, 1e-100, 1e100);
            ++input.spikes;
        }
    }

    std::size_t units_;
    std::vector<double> base_hz_;
    std::vector<unit_state> states_;
    std::vector<arrivals> ring_;
};

}  // namespace

double minus_log_of_complement(double p) {
    // -ln(1-p) = 2 atanh(z) with z = p/(2-p), and atanh(z) = z + z³/3 + z⁵/5 + …
    const double z = p / (2 - p);
    const double square = z * z;
    double power = z;
    double sum = z;
    for (double odd = 3;; odd += 2) {
        power *= square;
        const double next = sum + power / odd;
        if (next == sum) return 2 * sum;
        sum = next;
    }
}

double largest_rate_hz() {
    static const double rate = minus_log_of_complement(largest_probability) * ticks_per_second;
    return rate;
}

spike_sequence run_coupled_units(const coupled_units& units, const execution& run) {
    machine all(units);
    const std::int64_t ticks = (units.length.count() + tick_us - 1) / tick_us;
    std::vector<std::int64_t> times_us;
    std::vector<unit_id> fired;
    std::vector<std::pair<std::int64_t, unit_id>> of_tick;
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        if (tick % 1024 == 0) {
            core::throw_if_stopped(run.stop);
            if (run.on_progress)
                run.on_progress({"simulating", static_cast<std::uint64_t>(tick),
                                 static_cast<std::uint64_t>(ticks)});
        }
        units.base_rates(tick, all.base_hz());
        of_tick.clear();
        all.step(tick, of_tick);
        std::sort(of_tick.begin(), of_tick.end());
        for (const auto& [time_us, unit] : of_tick) {
            if (time_us > units.length.count()) break;  // the last tick may be partial
            times_us.push_back(time_us);
            fired.push_back(unit);
        }
    }
    return {std::move(times_us), std::move(fired), units.names, {duration{0}, units.length}};
}

std::vector<std::string> numbered_names(std::string_view prefix, std::uint32_t n) {
    std::vector<std::string> names;
    names.reserve(n);
    for (std::uint32_t u = 0; u < n; ++u) names.push_back(fmt::format("{}{}", prefix, u));
    return names;
}

std::uint32_t whole_ticks(duration d, const std::string& option) {
    if (d.count() % tick_us != 0 || d < duration{0} || d.count() / tick_us > longest_delay_ticks)
        throw invalid_argument(
            option, fmt::format("expected a whole number of milliseconds from 0 to {}, found {}",
                                longest_delay_ticks, format_duration(d)));
    return static_cast<std::uint32_t>(d.count() / tick_us);
}

void plant_chains(std::span<const std::uint32_t> lengths, std::uint32_t units, duration delay,
                  double probability, simulated_spikes& into) {
    if (lengths.empty()) return;
    whole_ticks(delay, "delay");
    if (probability >= 1)
        throw invalid_argument("probability",
                               fmt::format("expected a number below 1, found {}", probability));
    const std::uint64_t needed = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
    if (needed > units)
        throw invalid_argument(
            fmt::format("the chains need {} units, but there are {}", needed, units));
    std::uint32_t next = 0;
    for (const std::uint32_t length : lengths) {
        std::vector<unit_id>& chain = into.chains.emplace_back();
        for (std::uint32_t i = 0; i < length; ++i) chain.push_back(unit_id{next++});
        for (std::size_t i = 1; i < chain.size(); ++i)
            into.truth.push_back({chain[i - 1], chain[i], delay, probability});
    }
}

}  // namespace spikeweave::simulate
