#include "spikeweave/core/options.hpp"

#include "spikeweave/sort/files.hpp"
#include "spikeweave/sort/masked_gmm.hpp"
#include "spikeweave/sort/quality.hpp"
#include "spikeweave/sort/templates.hpp"
#include "spikeweave/sort/tracking.hpp"

namespace spikeweave {
namespace {

void add_penalties(option_list& list, masked_gmm_options& options) {
    list.add("points_for_cluster_mask", options.points_for_cluster_mask,
             "a cluster has covariances of a feature with others only if the masks of its "
             "spikes there add up to at least this, which is about the number of spikes with a "
             "signal there; a larger number is coarser and faster. klustakwik2 uses 100, "
             "KlustaKwik 10")
        .above(0);
    list.add("exact_variances", options.exact_variances,
             "for features without covariances, use the cluster's own variances instead of those "
             "of the noise");
    list.add("prior_point", options.prior_point,
             "number of noise spikes that are added to each cluster's mean, variances and share of "
             "all spikes, so that clusters of few spikes do not become too narrow")
        .above(0);
    list.add("noise_point", options.noise_point,
             "number of spikes that are added to the noise cluster's share of all spikes")
        .above(0);
    list.add("penalty_k", options.penalty_k,
             "each parameter of a cluster costs twice this; a larger number usually finds fewer "
             "clusters. 0.5, with 0 for `penalty_k_log_n`, is Akaike's information criterion")
        .at_least(0);
    list.add("penalty_k_log_n", options.penalty_k_log_n,
             "each parameter also costs this times ln(spikes) / 2; 1, with 0 for `penalty_k`, "
             "is the Bayesian information criterion")
        .at_least(0);
}

void add_splits(option_list& list, masked_gmm_options& options) {
    list.add("splits", options.splits, "split clusters").off_means("never split a cluster");
    list.add("split_first", options.split_first, "iterations before the first splits")
        .at_least(1)
        .only_with("splits");
    list.add("split_every", options.split_every,
             "iterations between two attempts to split; splits are also tried when no spike moves")
        .at_least(1)
        .only_with("splits");
    list.add("split_start", options.split_start,
             "the two halves with which a split begins: along the direction of largest variance "
             "(principal), or random, as in klustakwik2 (random)")
        .only_with("splits");
    list.add("seed", options.seed, "random seed for `split_start` random; nothing else is random");
}

}  // namespace

option_list describe(masked_gmm_options& options) {
    option_list list;
    list.begin_group("Search");
    list.add("starting_clusters", options.starting_clusters,
             "number of clusters at the start, one per set of unmasked features; auto: one per 200 "
             "spikes, at least 50 and at most 500, as in Cai et al. (2020)")
        .at_least(1)
        .zero_is("auto");
    list.add("max_clusters", options.max_clusters, "largest number of units that splits may create")
        .at_least(1);
    list.add("max_iterations", options.max_iterations, "largest number of iterations").at_least(1);
    list.add(
        "stop", options.stop,
        "when to stop: klustakwik2, when nothing changes; seed, as in Cai et al. (2020), when "
        "fewer than 5 % of spikes move or the score changes by less than 0.01, which is early");
    add_penalties(list, options);
    list.add("deletions", options.deletions,
             "how many clusters an iteration may delete: none, the best one, or all that would not "
             "pass spikes to each other, which needs far fewer iterations");
    add_splits(list, options);
    list.begin_group("Computation");
    list.add("strategy", options.strategy,
             "algorithm to compute with; the result names the one that ran");
    list.add("precision", options.precision,
             "arithmetic on a GPU (full: double precision; fast: single precision for the "
             "densities, and double where two clusters are equally good, for GPUs that are slow in "
             "double precision)");
    return list;
}

option_list describe(feature_read_options& options) {
    option_list list;
    list.begin_group("Input (features only)");
    list.add("masks", options.masks, "the file with the masks (.fmask.N) of a .fet.N")
        .by_default("the file of that name beside it")
        .written("FILE");
    list.add("mask", options.mask,
             "compute the masks from the features by this rule, even if the file has masks")
        .by_default("mad, if there are no masks")
        .written("RULE")
        .not_with({"masks"});
    list.add("time_column", options.time_column,
             "whether the last column of a .fet.N is the time in samples")
        .by_default("yes if it never decreases")
        .written("yes|no");
    list.add("channel_group", options.channel_group,
             "which group of channels to read if a .kwik or .kwx contains several");
    return list;
}

option_list describe(template_options& options) {
    option_list list;
    list.begin_group("Templates (recordings only)");
    list.add("stages", options.stages,
             "how far to go: cluster stops at the clusters of detected spikes; templates then "
             "finds all spikes, also overlapping ones, by the mean waveforms of these clusters");
    list.add("merge", options.merge,
             "whether clusters are split, merged and dropped automatically; merges.tsv lists each "
             "decision");
    list.add("match_threshold", options.match_threshold,
             "how well a spike has to match its template: its correlation with it is at least this "
             "many standard deviations of the correlation with noise")
        .above(0);
    list.add("least_amplitude", options.least_amplitude,
             "smallest amplitude of a spike, relative to its template, that is accepted for every "
             "unit; smaller ones are accepted for units that are seen to have them")
        .above(0);
    list.add("most_amplitude", options.most_amplitude,
             "largest amplitude of a spike, relative to its template, that is accepted for every "
             "unit; larger ones are accepted for units that are seen to have them")
        .above(0);
    list.add("least_spikes", options.least_spikes, "units with fewer spikes are dropped")
        .at_least(1);
    list.add(
            "kept_traces", options.kept_traces_bytes,
            "memory for filtered traces, such as 2GB or 512MiB: those that do not fit are filtered "
            "again in each round, with the same result; none keeps no traces")
        .in_bytes()
        .zero_is("none")
        .by_default("2GiB");
    return list;
}

option_list describe(tracking_options& options) {
    option_list list;
    list.begin_group("Tracking");
    list.add("min_probability", options.min_probability,
             "two units are one neuron if the probability of it is at least this")
        .above(0)
        .at_most(1)
        .written("P");
    return list;
}

option_list describe(quality_options& options) {
    option_list list;
    list.begin_group("Quality of units");
    list.add("refractory", options.refractory,
             "refractory period for the quality measures, which does not affect the units")
        .above(0);
    return list;
}

}  // namespace spikeweave
