#include "assess/replay/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "assess/surrogates/generators.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

episode scaled_episode(const episode& chain, double scale) {
    constexpr double most_us = 0x1p62;
    episode out = chain;
    for (delay_interval& delay : out.delays) {
        const double low = static_cast<double>(delay.low.count()) * scale;
        const double high = static_cast<double>(delay.high.count()) * scale;
        if (!(scale > 0 && high < most_us))
            throw invalid_argument(fmt::format("a delay of {} cannot be scaled by {}",
                                               format_duration(delay.high), scale));
        delay.low = duration{std::llround(low)};
        delay.high = std::max(delay.low + duration{1}, duration{std::llround(high)});
    }
    return out;
}

episode reversed_episode(const episode& chain) {
    return {{chain.units.rbegin(), chain.units.rend()},
            {chain.delays.rbegin(), chain.delays.rend()}};
}

namespace assess {

std::vector<episode> scaled_both_ways(const episode& chain, std::span<const double> scales) {
    std::vector<episode> out;
    for (const episode& one : {chain, reversed_episode(chain)})
        for (const double scale : scales) out.push_back(scaled_episode(one, scale));
    return out;
}

namespace {

class surrogate_counter : public replay_counter {
public:
    surrogate_counter(const spike_sequence& spikes, std::span<const episode> chains,
                      const replay_options& options)
        : spikes_(spikes), ties_(options.ties), maker_(spikes, options.surrogates) {
        const std::vector<double> scales = options.scales.values();
        for (const episode& chain : chains)
            for (episode& one : scaled_both_ways(chain, scales)) wanted_.push_back(std::move(one));
    }

    std::vector<std::uint64_t> count(std::uint32_t which, const execution& run) const override {
        const episode_count_options how{.ties = ties_};
        if (which == 0) return count_episodes(spikes_, wanted_, how, run).counts;
        return count_episodes(maker_.make_sequence(which - 1).spikes, wanted_, how, run).counts;
    }

private:
    const spike_sequence& spikes_;
    tie_rule ties_;
    surrogate_maker maker_;
    std::vector<episode> wanted_{};
};

// The spikes of one chain's units in the events, far apart from event to event. Units are numbered
// anew, from 0.
struct chain_in_events {
    std::vector<episode> wanted{};
    concatenated_epochs joined{};
    std::vector<std::size_t> end_of_event{};  // index behind its last spike
};

chain_in_events cut_out(const spike_sequence& spikes, const episode& chain,
                        std::span<const time_span> events, std::span<const double> scales) {
    std::vector<unit_id> units = chain.units;
    std::ranges::sort(units);
    units.erase(std::unique(units.begin(), units.end()), units.end());
    std::vector<std::string> names;
    names.reserve(units.size());
    for (const unit_id unit : units) names.push_back(spikes.name(unit));
    episode own = chain;
    for (unit_id& unit : own.units)
        unit = unit_id{
            static_cast<std::uint32_t>(std::ranges::lower_bound(units, unit) - units.begin())};
    chain_in_events out{.wanted = scaled_both_ways(own, scales)};
    duration reach{0};
    for (const episode& one : out.wanted)
        for (const delay_interval& delay : one.delays) reach = std::max(reach, delay.high);
    out.joined = concatenate_epochs(select_units(spikes, names), events, reach);
    const auto times = out.joined.spikes.times_us();
    for (const time_span& span : out.joined.spans)
        out.end_of_event.push_back(static_cast<std::size_t>(
            std::ranges::lower_bound(times, span.end.count()) - times.begin()));
    return out;
}

// Exchanges the spike trains of the units that are active in each event.
spike_sequence exchanged(const chain_in_events& what, std::uint32_t which, std::uint64_t seed) {
    const spike_sequence& spikes = what.joined.spikes;
    std::vector<unit_id> units(spikes.units().begin(), spikes.units().end());
    std::vector<unit_id> becomes(spikes.unit_count());
    std::size_t begin = 0;
    for (std::size_t e = 0; e < what.end_of_event.size(); ++e) {
        const auto own = std::span(units).subspan(begin, what.end_of_event[e] - begin);
        begin = what.end_of_event[e];
        std::vector<unit_id> active(own.begin(), own.end());
        std::ranges::sort(active);
        active.erase(std::unique(active.begin(), active.end()), active.end());
        if (active.size() < 2) continue;
        std::vector<unit_id> drawn = active;
        random_stream random(seed, random_purpose::replay_identities, which,
                             static_cast<std::uint32_t>(e));
        shuffle(std::span(drawn), random);
        for (std::size_t i = 0; i < active.size(); ++i) becomes[to_index(active[i])] = drawn[i];
        for (unit_id& unit : own) unit = becomes[to_index(unit)];
    }
    const auto times = spikes.times_us();
    return {{times.begin(), times.end()}, std::move(units), spikes.unit_names(), spikes.span()};
}

class identity_counter : public replay_counter {
public:
    identity_counter(const spike_sequence& spikes, std::span<const episode> chains,
                     std::span<const time_span> events, const replay_options& options)
        : ties_(options.ties), seed_(options.surrogates.seed) {
        const std::vector<double> scales = options.scales.values();
        for (const episode& chain : chains)
            chains_.push_back(cut_out(spikes, chain, events, scales));
    }

    std::vector<std::uint64_t> count(std::uint32_t which, const execution& run) const override {
        const episode_count_options how{.ties = ties_};
        std::vector<std::uint64_t> counts;
        for (const chain_in_events& chain : chains_) {
            const auto counted =
                which == 0 ? count_episodes(chain.joined.spikes, chain.wanted, how, run)
                           : count_episodes(exchanged(chain, which, seed_), chain.wanted, how, run);
            counts.insert(counts.end(), counted.counts.begin(), counted.counts.end());
        }
        return counts;
    }

private:
    tie_rule ties_;
    std::uint64_t seed_;
    std::vector<chain_in_events> chains_{};
};

}  // namespace

std::unique_ptr<replay_counter> counter_of(const spike_sequence& spikes,
                                           std::span<const episode> chains,
                                           std::span<const time_span> events,
                                           const replay_options& options) {
    if (options.null == replay_null::identities)
        return std::make_unique<identity_counter>(spikes, chains, events, options);
    return std::make_unique<surrogate_counter>(spikes, chains, options);
}

}  // namespace assess

}  // namespace spikeweave
