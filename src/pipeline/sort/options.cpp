#include "spikeweave/core/options.hpp"

#include "spikeweave/pipeline/sort.hpp"

namespace spikeweave {
namespace {

void add_start(option_list& list, sort_options& options) {
    list.begin_group("Clusters to begin with");
    list.add("start", options.start,
             "begin with existing clusters: those of a .clu.N (0 and 1 are noise), of an .npz "
             "(array labels, 0 is noise), or of the sorted file itself if it is a .kwik or a "
             "folder of Phy")
        .by_default("by masks")
        .written("FILE")
        .not_with({"starting_clusters", "incremental", "model"});
    list.add("only_clusters", options.only_clusters,
             "re-sort only these clusters of `start`, by their masks; all other spikes keep their "
             "labels, and new units get numbers above the largest one")
        .by_default("all")
        .written("A,B,...")
        .only_with("start")
        .not_with({"save_model"});
}

void add_models(option_list& list, sort_options& options) {
    list.begin_group("Incremental sorting and models");
    list.add("incremental", options.incremental,
             "sort the spikes one after another, in file order: the first ones are clustered, each "
             "later one is assigned to a cluster, and all are clustered again when the clusters no "
             "longer suit them or their number has doubled");
    list.add("first_fit", options.first_fit, "number of spikes that are clustered first")
        .at_least(1)
        .only_with("incremental");
    list.add("refit_above", options.refit_above,
             "cluster again when new spikes suit the clusters worse than the old ones did: when "
             "their mean cost (negative log likelihood) is higher by this many nats")
        .above(0)
        .written("NATS")
        .only_with("incremental");
    list.add("model", options.model,
             "assign spikes to the units of this model, which `save_model` wrote; with "
             "`incremental` it "
             "is refitted when it no longer suits them")
        .written("FILE");
    list.add("save_model", options.save_model, "write the model of the units to this .npz")
        .written("FILE");
}

void add_templates(option_list& list, sort_options& options) {
    list.add_all(describe(options.templates));
    list.add(
            "templates", options.known_templates,
            "find the spikes of the units of this file, which `save_templates` or a live session "
            "wrote, with their numbers, as a live sorter would: from samples before a spike and "
            "few after it; units that it lacks are reported apart, with numbers above; slow motion "
            "of the tissue is followed (`drift`)")
        .written("FILE")
        .not_with({"start", "incremental", "model", "save_model", "stages", "drift_bin", "whiten",
                   "low_corner", "high_corner", "filter_order", "reference",
                   "features_per_channel"});
    list.add("save_templates", options.save_templates,
             "write the templates of the units to this file, for later recordings of the probe; "
             "with `templates`, those of its units as they are, and of the new ones")
        .written("FILE")
        .not_with({"incremental", "model", "only_clusters", "whiten"});
}

void add_run(option_list& list, sort_options& options) {
    list.add_all(describe(options.run,
                          "where to compute: cpu, cuda (the first GPU), cuda:0,1 (these GPUs), "
                          "cuda:all, or automatic (the first GPU if there is one); several GPUs "
                          "share detection and matching, and the first of them clusters"));
}

}  // namespace

option_list describe_feature_sort(sort_options& options) {
    option_list list = describe(options.search);
    add_start(list, options);
    add_models(list, options);
    list.add_all(describe(options.quality));
    add_run(list, options);
    list.put_last("Computation");
    return list;
}

option_list describe(sort_options& options) {
    option_list list = describe(options.detection);
    list.add_all(describe(options.motion));
    add_templates(list, options);
    list.add_all(describe_feature_sort(options));
    return list;
}

}  // namespace spikeweave
