#include "sort_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "cli.hpp"
#include "output.hpp"
#include "recording_options.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

constexpr auto of_features = "Features only";
constexpr auto of_recordings = "Recordings only";

[[noreturn]] void list_sort_strategies() {
    write_stdout(
        "reference            straight from the formulas, on dense matrices\n"
        "cpu                  sparse, over threads\n"
        "Both give the same clusters; reference is for small inputs.\n");
    throw CLI::Success();
}

// Whether it is the first one.
bool one_of(const std::string& text, const char* first, const char* second) {
    if (text == first || text == second) return text == first;
    throw invalid_argument(fmt::format("'{}' is neither {} nor {}", text, first, second));
}

bool yes_or_no(const std::string& text) {
    return one_of(text, "yes", "no");
}

std::vector<std::uint32_t> parse_clusters(const std::string& text) {
    std::vector<std::uint32_t> clusters;
    for (const std::string& name : parse_names(text)) clusters.push_back(parse_whole_32(name));
    return clusters;
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint32_t& into,
                       const std::string& help, std::uint32_t least = 1) {
    return add_value(
               app, name, into,
               [least](const std::string& text) { return parse_whole_32(text, least); },
               fmt::format("{} [{}]", help, into))
        ->type_name("N");
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& into,
                        double (*parse)(std::string_view), const std::string& help) {
    return add_value(app, name, into, parse, fmt::format("{} [{}]", help, into))->type_name("X");
}

void add_features(CLI::App& app, sort_options& options) {
    CLI::Option* file = add_value(app, "--masks", options.how.masks, parse_path,
                                  "masks (.fmask.N) of a .fet.N [the file of that name beside it]")
                            ->type_name("FILE")
                            ->group(of_features);
    add_value(app, "--mask", options.how.rule, value_named<mask_rule>,
              "make masks from the features, whatever there is: mad, seed or all [only where there "
              "are none: mad]")
        ->type_name("RULE")
        ->group(of_features)
        ->excludes(file);
    add_value(app, "--time-column", options.how.time_column, yes_or_no,
              "whether the last column of a .fet.N is the time in samples [yes if it never falls]")
        ->type_name("yes|no")
        ->group(of_features);
    add_value(
        app, "--channel-group", options.how.channel_group,
        [](const std::string& text) { return parse_whole_32(text, 0); },
        "which group of channels, of a .kwik or .kwx that holds several")
        ->type_name("N")
        ->group(of_features);
}

void add_recording(CLI::App& app, sort_options& options) {
    add_recording_reading(app, options.recording,
                          "samples a second: of raw samples; of features, without which no times "
                          "in seconds are written [what an .npz says]");
    for (const char* name : {"--channels", "--gain", "--header-bytes", "--probe", "--stream"})
        app.get_option(name)->group(of_recordings);
    detection_options& detection = options.detection;
    const auto add = [&](const std::string& name, auto& into, auto parse, const char* type,
                         const std::string& help) {
        add_value(app, name, into, parse, help)->type_name(type)->group(of_recordings);
    };
    add("--low-corner", detection.preprocessing.low_hz, parse_positive, "HZ",
        fmt::format("of the pass band [{:g}]", detection.preprocessing.low_hz));
    add("--high-corner", detection.preprocessing.high_hz, parse_positive, "HZ",
        fmt::format("of the pass band [{:g}]", detection.preprocessing.high_hz));
    add(
        "--filter-order", detection.preprocessing.order,
        [](const std::string& text) { return parse_whole_32(text, 1); }, "N",
        fmt::format("of the pass band, 1 to 8 [{}]", detection.preprocessing.order));
    app.add_flag("--whiten", detection.preprocessing.whiten,
                 "make channels independent where nothing fires")
        ->group(of_recordings);
    add("--reference", detection.preprocessing.reference, value_named<common_reference>, "NAME",
        "what is taken from all channels: none, median [median from 64 channels on]");
    add("--weak", detection.weak, parse_positive, "X",
        fmt::format("a spike reaches as far as this many SDs of the noise [{:g}]", detection.weak));
    add("--strong", detection.strong, parse_positive, "X",
        fmt::format("and goes beyond this many somewhere [{:g}]", detection.strong));
    add("--sign", detection.sign, value_named<spike_sign>, "NAME",
        "which way spikes point: negative, positive or both [negative]");
    add("--before", detection.before, parse_positive_duration, "TIME",
        fmt::format("features are made of the waveform from so long before the peak [{}]",
                    format_duration(detection.before)));
    add("--after", detection.after, parse_positive_duration, "TIME",
        fmt::format("to so long after it [{}]", format_duration(detection.after)));
    add("--neighbours", detection.neighbour_um, parse_positive, "UM",
        "how far apart neighbouring channels are at most [1.5 times the usual distance]");
}

std::vector<std::string> given(const CLI::App& app, const char* group) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        if (option->get_group() == group && option->count() > 0)
            names.push_back(option->get_name());
    return names;
}

void add_search(CLI::App& app, masked_gmm_options& search) {
    add_value(
        app, "--starting-clusters", search.starting_clusters,
        [](const std::string& text) { return text == "auto" ? 0 : parse_whole_32(text, 1); },
        fmt::format("clusters to begin with, one a set of unmasked features; auto: one in 200 "
                    "spikes, 50 to 500 [{}]",
                    search.starting_clusters))
        ->type_name("N");
    add_count(app, "--max-clusters", search.max_clusters, "splits make no more units than this");
    add_count(app, "--max-iterations", search.max_iterations, "stop after so many");
    add_value(
        app, "--stop", search.stop, value_named<em_stop_rule>,
        "when to stop: klustakwik2 (nothing changes any more) or seed (Cai et al. 2020: early) "
        "[klustakwik2]")
        ->type_name("RULE");
    add_number(app, "--points-for-cluster-mask", search.points_for_cluster_mask, parse_positive,
               "sum of masks from which a feature has covariances in a cluster");
    app.add_flag("--exact-variances", search.exact_variances,
                 "variances of a cluster's other features as they are, not the noise's");
    add_number(app, "--prior-point", search.prior_point, parse_positive,
               "spikes of noise that each cluster has beforehand");
    add_number(app, "--noise-point", search.noise_point, parse_positive,
               "the same of the noise cluster");
    add_number(app, "--penalty-k", search.penalty_k, parse_not_negative,
               "half of what a parameter costs; 0.5 is Akaike's");
    add_number(app, "--penalty-k-log-n", search.penalty_k_log_n, parse_not_negative,
               "what it costs more, in ln(spikes) / 2; 1 is Bayes'");
    app.add_flag_callback(
        "--no-deletions", [&search] { search.delete_clusters = false; }, "never give up a cluster");
    add_value(
        app, "--deletions", search.delete_many,
        [](const std::string& text) { return one_of(text, "all", "one"); },
        "clusters given up in an iteration: the best one, or all that do not hand spikes to each "
        "other [one]")
        ->type_name("one|all")
        ->excludes("--no-deletions");
    CLI::Option* unsplit = app.add_flag_callback(
        "--no-splits", [&search] { search.split_clusters = false; }, "never split a cluster");
    add_count(app, "--split-first", search.split_first, "iterations before the first splits")
        ->excludes(unsplit);
    add_count(app, "--split-every", search.split_every, "iterations between two attempts to split")
        ->excludes(unsplit);
    add_value(
        app, "--split-start", search.random_splits,
        [](const std::string& text) { return one_of(text, "random", "principal"); },
        "halves that splits begin with: along the direction of largest variance, or random as "
        "klustakwik2's [principal]")
        ->type_name("NAME")
        ->excludes(unsplit);
    add_value(
        app, "--seed", search.seed, [](const std::string& text) { return parse_whole(text); },
        "of random halves [0]")
        ->type_name("N");
}

void add_given_clusters(CLI::App& app, sort_options& options) {
    CLI::Option* start = add_value(app, "--start", options.start, parse_path,
                                   "begin with the clusters of this .clu.N, where 0 and 1 are "
                                   "noise, or .npz (labels, 0 is noise); or those that the sorted "
                                   "FILE itself holds, a .kwik or a folder of Phy")
                             ->type_name("FILE");
    CLI::Option* only =
        add_value(app, "--only-clusters", options.only_clusters, parse_clusters,
                  "find units in these clusters of --start only, by their masks; all others stay")
            ->type_name("A,B,...")
            ->needs(start);
    start->excludes("--starting-clusters");
    only->excludes("--kk2-labels");
}

void add_as_they_come(CLI::App& app, sort_options& options) {
    add_value(app, "--save-model", options.save_model, parse_path,
              "write what the units are like, for --model")
        ->type_name("FILE");
    app.get_option("--only-clusters")->excludes("--save-model");
    CLI::Option* incremental =
        app.add_flag("--incremental", options.incremental,
                     "one spike after another, fitting anew when the fit no longer suits them");
    add_count(app, "--first-fit", options.first_fit, "spikes before the first fit")
        ->needs(incremental);
    add_value(app, "--drift", options.drift, parse_positive,
              fmt::format("fit anew when spikes are worse by this much than the fit's [{} nats]",
                          options.drift))
        ->type_name("NATS")
        ->needs(incremental);
    add_value(app, "--model", options.model, parse_path,
              "assign spikes to the units of this model, which --save-model wrote")
        ->type_name("FILE");
    for (CLI::Option* one : {incremental, app.get_option("--model")})
        one->excludes("--start")->excludes("--only-clusters");
}

void add_output(CLI::App& app, sort_options& options) {
    CLI::Option* folder = add_value(app, "-o,--output", options.to, parse_path,
                                    "folder to write: sorting.npz, sorting.clu.1, units.tsv, "
                                    "iterations.tsv, run.json; where times are known "
                                    "sorting.res.1, spikes.npz and phy; of a .kwik sorting.kwik")
                              ->type_name("OUT_DIR");
    app.add_flag("--overwrite", options.overwrite, "replace OUT_DIR if it exists")->needs(folder);
    app.add_flag("--json", options.json, "print one JSON document");
    app.add_flag("--kk2-labels", options.klustakwik2_labels,
                 "units from 3 in sorting.clu.1, as klustakwik2 has them [from 2]")
        ->needs(folder);
    add_value(app, "--refractory", options.quality.refractory, parse_positive_duration,
              fmt::format("for the quality of units: spikes of a neuron are this far apart [{}]",
                          format_duration(options.quality.refractory)))
        ->type_name("TIME");
    app.add_flag_callback(
           "--no-phy", [&options] { options.phy = false; }, "do not write the folder phy")
        ->needs(folder);
    app.add_flag("--nwb", options.nwb, "write spikes.nwb too, with the quality of the units")
        ->needs(folder);
}

void add_computation(CLI::App& app, sort_options& options) {
    add_value(app, "--strategy", options.search.strategy, value_named<sort_strategy>,
              "how to compute; the result says what ran [automatic]")
        ->type_name("NAME");
    add_value(app, "--precision", options.search.precision, value_named<sort_precision>,
              "on a GPU: full (double), or fast (single, near boundaries double) [full]")
        ->type_name("NAME");
    app.add_flag_callback("--list-strategies", list_sort_strategies,
                          "list the strategies and stop");
    add_value(app, "--threads", options.threads, parse_threads, "worker threads [all cores]")
        ->type_name("N");
    add_value(app, "--device", options.devices, parse_devices,
              "where to compute: cpu, cuda (the first GPU), cuda:1 (this one), or automatic (the "
              "first GPU if there is one) [cpu]")
        ->type_name("DEVICE");
}

// What was given, or in words what is taken where nothing was.
parameter_value given_or(bool is_given, parameter_value value, const char* otherwise) {
    return is_given ? std::move(value) : parameter_value(otherwise);
}

parameter_list feature_parameters(const sort_options& options) {
    const auto& timed = options.how.time_column;
    const auto& group = options.how.channel_group;
    return {
        {"masks", options.how.masks.string()},
        {"mask", options.how.rule ? std::string(to_string(*options.how.rule)) : "file or mad"},
        {"time_column", given_or(timed.has_value(), timed.value_or(false), "automatic")},
        {"channel_group", given_or(group.has_value(), group.value_or(0), "the only one")},
    };
}

parameter_list recording_parameters(const sort_options& options) {
    const recording_read_options& how = options.recording;
    const detection_options& detection = options.detection;
    const double near = detection.neighbour_um;
    return {
        {"channels", given_or(how.channels > 0, how.channels, "of the file")},
        {"gain_uv", given_or(how.gain_uv > 0, how.gain_uv, "of the file")},
        {"header_bytes", how.offset_bytes},
        {"probe", how.probe.empty() ? "of the file" : how.probe.string()},
        {"stream", how.stream},
        {"low_corner_hz", detection.preprocessing.low_hz},
        {"high_corner_hz", detection.preprocessing.high_hz},
        {"filter_order", detection.preprocessing.order},
        {"whiten", detection.preprocessing.whiten},
        {"reference", std::string(to_string(detection.preprocessing.reference))},
        {"weak", detection.weak},
        {"strong", detection.strong},
        {"sign", std::string(to_string(detection.sign))},
        {"before", format_duration(detection.before)},
        {"after", format_duration(detection.after)},
        {"neighbours_um", given_or(near > 0, near, "1.5 times the usual distance")},
    };
}

}  // namespace

void add_options(CLI::App& app, sort_options& options) {
    app.option_defaults()->group("Input");
    app.add_option(
           "FILE", options.path,
           "a recording, or features: KlustaKwik's .fet.N, klusta's .kwik or .kwx, a folder "
           "of Phy, or an .npz")
        ->required()
        ->type_name("");
    add_recording(app, options);
    add_features(app, options);
    add_value(
        app, "--features-per-channel", options.how.features_per_channel,
        [](const std::string& text) -> std::size_t { return parse_whole_32(text, 1); },
        fmt::format("principal components: of recordings, and for --mask mad [{}]",
                    options.how.features_per_channel))
        ->type_name("N");
    app.option_defaults()->group("Output");
    add_output(app, options);
    app.option_defaults()->group("Search");
    add_search(app, options.search);
    app.option_defaults()->group("Clusters to begin with");
    add_given_clusters(app, options);
    app.option_defaults()->group("Spikes as they come, and models");
    add_as_they_come(app, options);
    app.option_defaults()->group("Computation");
    add_computation(app, options);
}

void note_given(const CLI::App& app, sort_options& options) {
    options.given_of_features = given(app, of_features);
    options.given_of_recordings = given(app, of_recordings);
}

parameter_list resolved_parameters(const sort_options& options) {
    const masked_gmm_options& search = options.search;
    const double rate = options.recording.rate_hz;
    parameter_list all =
        options.of_recording ? recording_parameters(options) : feature_parameters(options);
    const parameter_list shared{
        {"features_per_channel", options.how.features_per_channel},
        {"sample_rate", given_or(rate > 0, rate, "of the file")},
        {"start", options.start.empty() ? "masks" : options.start},
        {"only_clusters", fmt::format("{}", fmt::join(options.only_clusters, ","))},
        {"incremental", options.incremental},
        {"first_fit", options.first_fit},
        {"drift", options.drift},
        {"model", options.model},
        {"starting_clusters",
         given_or(search.starting_clusters > 0, search.starting_clusters, "auto")},
        {"max_clusters", search.max_clusters},
        {"max_iterations", search.max_iterations},
        {"stop", std::string(to_string(search.stop))},
        {"points_for_cluster_mask", search.points_for_cluster_mask},
        {"prior_point", search.prior_point},
        {"noise_point", search.noise_point},
        {"penalty_k", search.penalty_k},
        {"penalty_k_log_n", search.penalty_k_log_n},
        {"exact_variances", search.exact_variances},
        {"deletions", !search.delete_clusters ? "none"
                      : search.delete_many    ? "all"
                                              : "one"},
        {"splits", search.split_clusters},
        {"split_start", search.random_splits ? "random" : "principal"},
        {"split_first", search.split_first},
        {"split_every", search.split_every},
        {"strategy", std::string(to_string(search.strategy))},
        {"precision", std::string(to_string(search.precision))},
        {"device", format_devices(options.devices)},
        {"kk2_labels", options.klustakwik2_labels},
        {"refractory", format_duration(options.quality.refractory)},
        {"phy", options.phy},
        {"nwb", options.nwb},
    };
    all.insert(all.end(), shared.begin(), shared.end());
    return all;
}

}  // namespace spikeweave::cli
