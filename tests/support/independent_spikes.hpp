#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/spade/detector.hpp"

/// Spikes of independent Poisson processes, one after another, so that recordings of many hours
/// need no memory.
class independent_spikes {
public:
    /// Rates are lognormal around `median_hz`.
    independent_spikes(std::uint64_t seed, std::uint32_t units, double median_hz)
        : random_(seed), units_(units) {
        std::lognormal_distribution<> rate(std::log(median_hz), 0.5);
        std::vector<double> rates(units);
        double sum = 0;
        for (double& one : rates) sum += one = rate(random_);
        unit_ = std::discrete_distribution<std::uint32_t>(rates.begin(), rates.end());
        gap_us_ = std::exponential_distribution<>(sum / 1e6);
    }

    std::pair<std::int64_t, spikeweave::unit_id> next() {
        time_us_ += gap_us_(random_);
        return {std::llround(time_us_), spikeweave::unit_id{unit_(random_)}};
    }

    /// A chain of different units with the default delays.
    spikeweave::episode chain(std::size_t size) {
        const auto delays = spikeweave::default_delays();
        spikeweave::episode what;
        for (std::uint32_t i = 0; i < size; ++i) {
            what.units.push_back(other_than(what.units));
            if (i > 0) what.delays.push_back(delays[random_() % delays.size()]);
        }
        return what;
    }

    /// A pattern of different units, one in each bin.
    std::vector<spikeweave::pattern_spike> pattern(std::uint32_t size) {
        std::vector<spikeweave::unit_id> units;
        std::vector<spikeweave::pattern_spike> what;
        for (std::uint32_t lag = 0; lag < size; ++lag) {
            units.push_back(other_than(units));
            what.push_back({units.back(), lag});
        }
        return what;
    }

private:
    spikeweave::unit_id other_than(const std::vector<spikeweave::unit_id>& taken) {
        while (true) {
            const auto unit = spikeweave::unit_id{static_cast<std::uint32_t>(random_() % units_)};
            bool is_free = true;
            for (const spikeweave::unit_id one : taken) is_free = is_free && one != unit;
            if (is_free) return unit;
        }
    }

    std::mt19937_64 random_;
    std::uint32_t units_;
    std::discrete_distribution<std::uint32_t> unit_{};
    std::exponential_distribution<> gap_us_{};
    double time_us_ = 0;
};
