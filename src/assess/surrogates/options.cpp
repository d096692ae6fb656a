
#include "spikeweave/assess/surrogates.hpp"

namespace spikeweave {
namespace {

constexpr double hour = 3600;

}  // namespace

template <>
enum_table<surrogate_edges> enum_names<surrogate_edges>() {
    using enum surrogate_edges;
    static constexpr named_value<surrogate_edges> values[]{{drop, "drop"}, {clamp, "clamp"}};
    return {"treatment of edges", values};
}

template <>
enum_table<joint_isi_steps> enum_names<joint_isi_steps>() {
    using enum joint_isi_steps;
    static constexpr named_value<joint_isi_steps> values[]{{window, "window"}, {fast, "fast"}};
    return {"kind of steps", values};
}

option_list describe(surrogate_options& options) {
    option_list list;
    list.begin_group("Surrogates");
    list.add("surrogates", options.surrogates,
             "number of surrogates to test against; the published analyses use 5000")
        .basic()
        .by_default("none");
    list.add("surrogate_method", options.method, "how surrogates are made").only_with("surrogates");
    list.add("dither", options.dither, "how far surrogates may move spikes")
        .above(0)
        .at_most(hour)
        .only_with("surrogates");
    list.add("seed", options.seed, "random seed of the surrogates").basic();
    list.add("edges", options.edges,
             "for dither-spikes and dither-spike-train: what to do with spikes that are moved out "
             "of the recording; clamp puts them at its ends")
        .only_with("surrogates");
    list.add(
            "refractory", options.refractory_period,
            "for dither-spikes-with-refractory-period: spikes of a unit stay this far apart, or as "
            "far as its closest spikes were")
        .at_least(0)
        .at_most(hour)
        .by_default("the width of a bin")
        .only_with("surrogates");
    list.add("sliding", options.sliding,
             "for bin-shuffling: shuffle overlapping blocks, one from each bin on, instead of "
             "blocks side by side")
        .only_with("surrogates");
    return list;
}

option_list describe(joint_isi_options& options) {
    option_list list;
    list.begin_group("Surrogates by intervals");
    list.add("isi_truncation", options.truncation_limit,
             "longest interval between two spikes that the estimated distribution of intervals "
             "covers")
        .above(0)
        .at_most(hour);
    list.add("isi_bins", options.bins, "number of bins of this distribution along each axis")
        .at_least(2)
        .at_most(1000);
    list.add("isi_sigma", options.sigma,
             "width of the Gaussian filter that smooths this distribution; 0 means no smoothing")
        .at_least(0);
    list.add("isi_steps", options.steps,
             "how far a spike may move: at most `dither` (window), or up to its neighbours (fast)");
    list.add("isi_refractory", options.refractory_period,
             "largest dead time of a unit; if its shortest interval is shorter, that is used")
        .at_least(0)
        .at_most(hour);
    list.add("isi_sqrt", options.use_sqrt,
             "take the square root of the counts in this distribution before it is smoothed");
    list.add("isi_alternate", options.alternate, "move every second spike first, then the others")
        .off_means("move one spike after another, instead of every second one first");
    list.add("isi_cutoff", options.cutoff, "allow no interval below the dead time")
        .off_means("also allow intervals below the dead time");
    for (const option& one : list) list.change(one.name).only_with("surrogates");
    return list;
}

}  // namespace spikeweave
