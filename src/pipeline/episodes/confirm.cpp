#include <chrono>

#include "pipeline/episodes/search_and_test.hpp"
#include "pipeline/same_units.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

void check_confirmation(const spike_sequence& spikes, const spike_sequence& other,
                        const episode_options& options) {
    check_options(options);
    if (options.hold_out > 0)
        throw invalid_argument("hold_out",
                               "either a part is held out, or another recording confirms");
    pipeline::check_other_recording(spikes, other);
}

}  // namespace

episode_result confirm_episodes(const spike_sequence& spikes, const spike_sequence& other,
                                const episode_options& options, const execution& run) {
    const auto began = std::chrono::steady_clock::now();
    check_confirmation(spikes, other, options);
    const chosen_time chosen = choose_time(spikes, options.time);
    const epoch_options trials{.trial_length = options.time.trial_length,
                               .trial_separation = options.time.trial_separation};
    const chosen_time confirming = choose_time(other, trials);
    episode_result result =
        pipeline::search_and_test(chosen.of(spikes), confirming.of(other), true, options, run);
    for (const std::string& warning : chosen.warnings)
        result.warnings.push_back("In the search: " + warning);
    result.warnings.insert(result.warnings.end(), confirming.warnings.begin(),
                           confirming.warnings.end());
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace spikeweave
