#include "spikeweave/assess/episodes/options.hpp"

#include <fmt/format.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave {

option_list describe(significance_options& options) {
    option_list list;
    list.begin_group("Significance");
    list.add("alpha", options.alpha,
             "significance level: an episode is significant if its q is below this")
        .basic()
        .above(0)
        .at_most(1)
        .written("Q");
    option& correction =
        list.add("correction", options.correction,
                 "correction for multiple testing, over the candidates of each size");
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
             "null hypothesis: jitter preserves shared rates, dead "
             "times and bursts; exact assumes independent units with constant rates; chebyshev is "
             "the published bound under the same null hypothesis as exact");
    list.add("jitter_window", options.jitter_window,
             "for the test jitter: only timing that is finer than this is tested, and anything "
             "slower counts as shared rates; at least three times the width of the widest delay "
             "interval is used")
        .at_least(0.001);
    return list;
}

option_list describe_episode_surrogates(surrogate_options& options) {
    option_list list;
    list.begin_group("Significance");
    list.add("surrogates", options.surrogates,
             "number of surrogates to test against, instead of `test`")
        .basic()
        .by_default("none");
    list.add("surrogate_method", options.method,
             "how surrogates are made; trial-shifting needs epochs or trials, and bin-shuffling "
             "cannot be used with them")
        .only_with("surrogates");
    list.add("dither", options.dither, "how far surrogates may move spikes")
        .above(0)
        .at_most(3600)
        .basic()
        .only_with("surrogates");
    list.add("seed", options.seed, "random seed of the surrogates").basic().only_with("surrogates");
    return list;
}

}  // namespace spikeweave
