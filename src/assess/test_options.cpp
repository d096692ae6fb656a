#include <fmt/format.h>

#include "spikeweave/assess/episode_surrogates.hpp"
#include "spikeweave/assess/significance.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {

option_list describe(significance_options& options) {
    option_list list;
    list.begin_group("Significance");
    list.add("alpha", options.alpha, "significance level: an episode is significant if q is below")
        .above(0)
        .at_most(1)
        .written("Q");
    option& correction =
        list.add("correction", options.correction, "correction for the number of candidates");
    std::erase_if(correction.choices, [](const std::string& name) {
        return is_two_stage(value_named<correction_method>(name));
    });
    correction.obeys([&method = options.correction] {
        if (is_two_stage(method))
            throw invalid_argument(
                fmt::format("the q-values of {} hold for one alpha only, and "
                            "readers of a table may use another one",
                            to_string(method)));
    });
    list.add("test", options.test,
             "null hypothesis of the p-values: units that share rates (jitter), stationary "
             "independent units (exact), or the published bound for these (chebyshev)");
    list.add("jitter_window", options.jitter_window,
             "what is timed more loosely than this counts as a shared rate")
        .at_least(0.001);
    return list;
}

option_list describe_episode_surrogates(surrogate_options& options) {
    option_list list;
    list.begin_group("Significance");
    list.add("surrogates", options.surrogates,
             "test against this many surrogates instead: for bursty data")
        .by_default("none");
    option& method = list.add("surrogate_method", options.method, "how a surrogate is made")
                         .only_with("surrogates");
    std::erase(method.choices, "trial_shifting");
    method.obeys([&chosen = options.method] {
        if (chosen == surrogate_method::trial_shifting)
            throw invalid_argument(
                "trial_shifting needs trials, which episodes do not have (SPADE has them)");
    });
    list.add("dither", options.dither, "how far a surrogate moves a spike")
        .above(0)
        .at_most(3600)
        .only_with("surrogates");
    list.add("seed", options.seed, "random seed of the surrogates").only_with("surrogates");
    return list;
}

}  // namespace spikeweave
