#include "spikeweave/assess/episodes/jitter.hpp"

#include "assess/episodes/jitter_null.hpp"
#include "assess/episodes/steps.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes/options.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

void check_jitter(const spike_sequence& spikes, std::span<const episode> episodes,
                  duration window) {
    check_options(significance_options{.jitter_window = window});
    for (const episode& what : episodes) {
        if (what.size() < 2 || what.delays.size() + 1 != what.size())
            throw invalid_argument("an episode needs two units, and one delay fewer than units");
        for (const unit_id unit : what.units)
            if (to_index(unit) >= spikes.unit_count())
                throw invalid_argument("an episode has a unit that the spikes do not have");
    }
}

// For each episode, a figure for each of its units, whose spikes are rotated.
using figure = double (assess::jitter_null::*)(const episode&, std::size_t) const;

std::vector<std::vector<double>> by_turned_unit(figure of, const spike_sequence& spikes,
                                                std::span<const episode> episodes, duration window,
                                                tie_rule ties, const execution& run) {
    check_jitter(spikes, episodes, window);
    const separated_epochs apart(spikes, assess::reach_of(episodes));
    const assess::jitter_null null(apart.spikes(), window, ties);
    std::vector<std::vector<double>> out(episodes.size());
    parallel::parallel_for(episodes.size(), run, "rotating units", [&](std::size_t i) {
        for (std::size_t turned = 0; turned < episodes[i].size(); ++turned)
            out[i].push_back((null.*of)(episodes[i], turned));
    });
    return out;
}

}  // namespace

std::vector<std::vector<double>> expected_by_jitter(const spike_sequence& spikes,
                                                    std::span<const episode> episodes,
                                                    duration window, tie_rule ties,
                                                    const execution& run) {
    return by_turned_unit(&assess::jitter_null::expected, spikes, episodes, window, ties, run);
}

std::vector<std::vector<double>> removed_by_jitter(const spike_sequence& spikes,
                                                   std::span<const episode> episodes,
                                                   duration window, tie_rule ties,
                                                   const execution& run) {
    return by_turned_unit(&assess::jitter_null::removed, spikes, episodes, window, ties, run);
}

}  // namespace spikeweave
