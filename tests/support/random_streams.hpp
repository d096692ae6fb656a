#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Tiny random streams on the grid of the delay bounds, where mistakes at the boundaries show:
/// ties, repeated units, bursts, times before zero.
class random_streams {
public:
    explicit random_streams(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t n) { return random_() % n; }

    spikeweave::spike_sequence spikes(std::size_t most_spikes, std::uint32_t units) {
        spikeweave::spike_sequence_builder builder;
        std::vector<spikeweave::unit_id> ids;
        for (std::uint32_t u = 0; u < units; ++u)
            ids.push_back(builder.unit(std::string(1, static_cast<char>('a' + u))));
        std::int64_t time = below(3) == 0 ? -static_cast<std::int64_t>(below(8))
                                          : static_cast<std::int64_t>(below(3));
        const std::uint64_t widest_gap = 1 + below(8);
        const std::size_t n = below(most_spikes + 1);
        bool burst = false;
        for (std::size_t i = 0; i < n; ++i) {
            if (below(6) == 0) burst = !burst;
            builder.append(time, ids[below(units)]);
            time += static_cast<std::int64_t>(burst ? below(2) : below(widest_gap + 1));
        }
        return builder.finish();
    }

    spikeweave::delay_interval interval() {
        const auto low = static_cast<std::int64_t>(below(3) == 0 ? 0 : below(5));
        return {spikeweave::duration{low},
                spikeweave::duration{low + 1 + static_cast<std::int64_t>(below(10))}};
    }

    spikeweave::episode episode(std::size_t size, std::uint32_t units) {
        spikeweave::episode what;
        for (std::size_t k = 0; k < size; ++k) {
            what.units.push_back(spikeweave::unit_id{static_cast<std::uint32_t>(below(units))});
            if (k > 0) what.delays.push_back(interval());
        }
        return what;
    }

private:
    std::mt19937_64 random_;
};

/// Half of the spikes in bursts of a fifth of the time, all on a grid of ten microseconds, on which
/// the bounds of the tests' delays lie, too.
inline spikeweave::spike_sequence bursting_stream(std::uint64_t seed, std::uint32_t units,
                                                  std::size_t spikes, std::int64_t length) {
    random_streams draw(seed);
    spikeweave::spike_sequence_builder builder;
    for (std::uint32_t u = 0; u < units; ++u) builder.unit(std::to_string(u));
    for (std::size_t i = 0; i < spikes; ++i) {
        auto time = static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(length)));
        if (draw.below(2) == 0) time = time / 1000 * 1000 + time % 1000 / 5;
        builder.append(time / 10 * 10,
                       spikeweave::unit_id{static_cast<std::uint32_t>(draw.below(units))});
    }
    return builder.finish();
}

inline std::string counterexample(const spikeweave::spike_sequence& spikes,
                                  const spikeweave::episode& what) {
    std::string text = "spikes:";
    for (std::size_t i = 0; i < spikes.size(); ++i)
        text += " " + spikes.name(spikes.units()[i]) + std::to_string(spikes.times_us()[i]);
    text += "\nepisode: " + spikes.name(what.units[0]);
    for (std::size_t k = 0; k < what.delays.size(); ++k) {
        text += " (" + std::to_string(what.delays[k].low.count()) + "," +
                std::to_string(what.delays[k].high.count()) + "] " + spikes.name(what.units[k + 1]);
    }
    return text;
}
