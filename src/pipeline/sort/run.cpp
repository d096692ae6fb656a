#include "spikeweave/pipeline/sort.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/stop.hpp"
#include "parallel/ranks.hpp"
#include "pipeline/call_facts.hpp"
#include "pipeline/sort/steps.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/sort/detected_features.hpp"
#include "spikeweave/sort/phy.hpp"
#include "spikeweave/sort/recluster.hpp"
#include "spikeweave/sort/sorting_model.hpp"

namespace spikeweave {

using pipeline::add_new_units;
using pipeline::detection_of;
using pipeline::find_known;
using pipeline::follow_motion;
using pipeline::may_follow_motion;
using pipeline::numbered_steps;
using pipeline::read_start;
using pipeline::spikes_of_known;
using pipeline::start_labels;
using pipeline::take_known_labels;
using pipeline::undo_followed;

namespace {

void check(const sort_options& options) {
    check_options(options);
    if (!options.only_clusters.empty() && options.start.empty())
        throw invalid_argument("only_clusters", "needs `start`, whose clusters they are");
    if (!options.start.empty() && options.incremental)
        throw invalid_argument("start", "cannot be given together with `incremental`");
}

std::vector<int> all_devices() {
    std::vector<int> out;
    for (const auto& each : devices()) out.push_back(each.ordinal);
    return out;
}

// If the options leave the device open, the first GPU is used if there is one, unless the strategy
// runs on the CPU; each of several ranks on a host uses its own.
execution computing_on(const sort_options& options, execution run) {
    const sort_strategy asked = options.search.strategy;
    const bool may_be_gpu = asked == sort_strategy::automatic || asked == sort_strategy::cuda;
    run.threads = options.run.threads;
    run.devices.clear();
    if (options.run.devices)
        run.devices = parallel::devices_of_this_rank(*options.run.devices, run);
    else if (may_be_gpu && !all_devices().empty())
        run.devices = {parallel::devices_of_this_rank(all_devices(), run).front()};
    return run;
}

std::string name_of(const recording& from) {
    const std::string path = from.description().path.string();
    return path.empty() ? "the recording" : fmt::format("'{}'", path);
}

std::optional<sorting_model> read_model_of(const sort_options& options) {
    if (options.model.empty()) return {};
    return read_model(options.model);
}

// With the components of the model, if there is one.
detection_result detect_for(const std::optional<sorting_model>& model, const recording& from,
                            const sort_options& options, const execution& run) {
    if (!model) return detect_spikes(from, options.detection, run);
    if (!model->basis())
        throw invalid_argument(
            fmt::format("'{}' does not state the components of its features, as a model saved "
                        "while sorting a recording does; {} is a recording",
                        options.model.string(), name_of(from)));
    detection_options how = options.detection;
    how.basis = model->basis();
    try {
        return detect_spikes(from, how, run);
    } catch (const invalid_argument& error) {
        throw invalid_argument(fmt::format("{} with the model '{}': {}", name_of(from),
                                           options.model.string(), error.what()));
    }
}

void check_model(const std::optional<sorting_model>& model, const feature_file& from,
                 const sort_options& options) {
    if (!model || !model->basis()) return;
    throw invalid_argument(
        fmt::format("'{}' belongs to the components of a recording, and the features{} are not "
                    "known to be of these components",
                    options.model.string(),
                    from.path.empty() ? "" : fmt::format(" of '{}'", from.path.string())));
}

void refuse_silence(const recording& from, const sort_options& options,
                    const std::vector<std::string>& warnings) {
    throw invalid_argument(fmt::format(
        "{} contains no spikes: nothing exceeds {} standard deviations of a channel's noise{}{}",
        name_of(from), options.detection.strong_threshold, warnings.empty() ? "" : ". ",
        fmt::join(warnings, " ")));
}

// The spikes of a recording as if they came from a file of features.
struct detected {
    feature_file file{};
    feature_basis basis{};
    common_reference reference = common_reference::none;
};

// Templates begin with the clusters of each channel, unless options define how to cluster all
// spikes.
bool is_clustered_by_channel(const sort_options& options) {
    const masked_gmm_options& search = options.search;
    return options.templates.stages == sort_stages::templates && options.start.empty() &&
           options.model.empty() && !options.incremental &&
           search.strategy != sort_strategy::cuda && search.strategy != sort_strategy::reference &&
           search.starting_clusters == masked_gmm_options{}.starting_clusters;
}

// Only this way of clustering has parts that do not need each other.
void check_ranks(bool can_share, const execution& run) {
    if (!can_share && parallel::is_shared(run))
        throw invalid_argument(
            "processes can only share the sorting of a recording whose clusters are found channel "
            "by channel, as they are with `stages=templates` and without `start`, "
            "`starting_clusters`, `incremental`, `model` and `strategy`: run it without the "
            "launcher (mpirun, srun)");
}

bool is_root(const execution& run) {
    return !run.ranks || run.ranks->rank() == 0;
}

// Clusters of one channel, and their templates, need the channels around it only. Memory is then a
// matter of spikes, not of spikes times channels.
constexpr std::uint32_t most_described_channels = 32;

// Samples and the files of other programs count from the first sample.
std::string warning_of_clock(const recording& from) {
    const double begin_s = to_seconds(from.description().begin);
    return fmt::format(
        "Spike times are those of the recording's clock, like those of its events and trials: its "
        "first sample is at {:.6f} s. Sample numbers count from 0 there.",
        begin_s);
}

feature_file spikes_of(const recording& from, const detection_options& detection) {
    feature_file out{.sample_rate = from.rate_hz(),
                     .begin = from.description().begin,
                     .channels = from.channels(),
                     .features_per_channel = detection.features_per_channel,
                     .masks_from = "detection",
                     .warnings = from.description().warnings};
    if (out.begin != duration{0}) out.warnings.push_back(warning_of_clock(from));
    return out;
}

// The rest of what was detected is freed here, before clustering needs the memory.
detected detect(const std::optional<sorting_model>& model, const recording& from,
                const sort_options& options, const execution& run) {
    detection_result found = detect_for(model, from, options, run);
    if (found.size() == 0) refuse_silence(from, options, found.warnings);
    detected out{.file = spikes_of(from, options.detection),
                 .basis = std::move(found.basis),
                 .reference = found.reference};
    out.file.warnings.insert(out.file.warnings.end(), found.warnings.begin(), found.warnings.end());
    out.file.samples = std::move(found.frames);
    out.file.fractions = std::move(found.fractions);
    out.file.features = to_features(std::move(found));
    detection_options how = options.detection;
    how.basis = out.basis;
    add_noise(out.file.features, from, out.file.samples, how, run);
    return out;
}

// One call of sorting, after its features are known.
struct sort_input {
    std::optional<sorting_model> model{};
    std::optional<feature_basis> basis{};
    start_labels start{};
};

void take_labels(std::vector<std::uint32_t> labels, sort_result& result) {
    result.sorted.unit_count = *std::ranges::max_element(labels);
    result.sorted.labels = std::move(labels);
}

void save_model(sorting_model model, const sort_input& input, sort_result& result) {
    const sort_options& options = result.options;
    if (options.save_model.empty()) return;
    if (input.basis) model = model.with_basis(*input.basis);
    if (options.writes_model)
        write_model(options.save_model, model);
    else
        result.model = std::move(model);
}

void sort_again(sort_input& input, sort_result& result, const execution& run) {
    recluster_result found = recluster(result.features, std::move(input.start.labels),
                                       input.start.only, result.options.search, run);
    result.search = std::move(found.search);
    take_labels(std::move(found.labels), result);
}

void sort_one_by_one(sort_input& input, sort_result& result, const execution& run) {
    const sort_options& options = result.options;
    incremental_options how{.search = options.search,
                            .first_fit = options.first_fit,
                            .refit_above = options.refit_above};
    if (!options.incremental)
        how.refit_above = how.growth = std::numeric_limits<double>::infinity();
    incremental_sorter sorter =
        input.model ? incremental_sorter(*input.model, how) : incremental_sorter(how);
    sorter.add(result.features, run);
    if (sorter.model().feature_count() == 0) sorter.fit(run);
    result.fits = sorter.fits();
    result.search.stopped = stop_reason::assigned;
    // Spikes are assigned on the CPU; only fits use the device.
    result.search.ran_on =
        run.devices.empty() || result.fits.empty() ? sort_strategy::cpu : sort_strategy::cuda;
    take_labels(sorter.labels(), result);
    save_model(sorter.model(), input, result);
}

void take_search(clustering_result search, sort_result& result) {
    result.search = std::move(search);
    result.sorted.labels = std::move(result.search.labels);
    result.sorted.unit_count = result.search.units;
}

void take_warnings(sort_result& result) {
    const auto& more = result.search.warnings;
    result.warnings.insert(result.warnings.end(), more.begin(), more.end());
}

void sort_channels(sort_result& result, const execution& run) {
    take_search(cluster_by_channel(result.features, result.channels, result.options.search, run),
                result);
}

void sort_all(sort_input& input, sort_result& result, const execution& run) {
    masked_gmm_options search = result.options.search;
    if (!input.start.labels.empty()) search.start = std::move(input.start.labels);
    take_search(sort_spikes(result.features, search, run), result);
}

void find_units(sort_input& input, sort_result& result, const execution& run) {
    result.clustered_spikes = result.features.size();
    if (!input.start.only.empty())
        sort_again(input, result, run);
    else if (result.options.incremental || input.model)
        sort_one_by_one(input, result, run);
    else if (input.basis && is_clustered_by_channel(result.options))
        sort_channels(result, run);
    else
        sort_all(input, result, run);
    result.options.search.strategy = result.search.ran_on;
    result.options.run.devices = run.devices;
    take_warnings(result);
}

// Whether units were found among all spikes at once.
bool are_all_sorted(const sort_input& input, const sort_options& options) {
    return !input.model && !options.incremental && input.start.only.empty();
}

void fit_model_of(const sort_input& input, sort_result& result, const execution& run) {
    if (result.options.save_model.empty() || !are_all_sorted(input, result.options)) return;
    save_model(fit_model(result.features, result.sorted.labels, result.options.search, run), input,
               result);
}

// Takes spikes that templates found, and describes them by the features of the detection.
void take_matches(const recording& from, template_sorting found, const detection_options& how,
                  sort_result& result, const execution& run) {
    std::vector<std::uint32_t> peaks;
    for (const std::uint32_t label : found.sorted.labels)
        peaks.push_back(found.peak_channels[label - 1]);
    result.features = {};  // before those of the other spikes need the memory
    result.features = to_features(describe_spikes(from,
                                                  {.frames = found.sorted.samples,
                                                   .fractions = found.sorted.fractions,
                                                   .peak_channels = peaks},
                                                  how, run));
    result.sorted = std::move(found.sorted);
    result.amplitudes = std::move(found.amplitudes);
    result.learned = std::move(found.learned);
}

// Replaces the detected spikes by those that the templates of their clusters find, and describes
// these by the same features.
void match_units(const recording& from, sort_input& input, sort_result& result,
                 const execution& run) {
    detection_options how = result.options.detection;
    how.basis = input.basis;
    template_options matching = result.options.templates;
    matching.learns_set = !result.options.save_templates.empty();
    template_sorting found = sort_by_templates(from, result.features, result.features_per_channel,
                                               result.sorted, how, matching, run);
    result.decisions = std::move(found.decisions);
    if (found.sorted.labels.empty()) {
        result.warnings.emplace_back(
            "No unit has enough spikes for a template: the result has the clusters of the detected "
            "spikes.");
        if (result.search.stopped != stop_reason::by_channel || !is_root(run)) return;
        sort_all(input, result, run);
        take_warnings(result);
        return;
    }
    take_matches(from, std::move(found), how, result, run);
}

void take_quality(const std::vector<unit_quality>& quality, sort_result& result) {
    for (std::size_t u = 0; u < quality.size(); ++u) {
        result.units[u].quality = quality[u];
        result.units[u].verdict = judge_unit(quality[u]);
    }
}

void measure_units(sort_result& result, const execution& run) {
    pipeline::warn_of_repeated_units(result);
    result.units = describe_units(result.features, result.sorted);
    take_quality(measure_quality(result.features, result.sorted, result.options.quality, run),
                 result);
    pipeline::warn_of_mains(result);
}

void average_units(const recording& from, sort_result& result, const execution& run) {
    result.waveforms =
        average_waveforms(from, result.sorted.samples, result.sorted.labels,
                          std::size_t{result.sorted.unit_count} + 1, result.options.detection, run);
    std::vector<unit_quality> quality = qualities_of(result.units);
    measure_waveforms(result.waveforms, result.sorted, result.amplitudes, quality,
                      result.options.quality);
    measure_separation(result.features, result.features_per_channel, result.sorted, quality, run);
    take_quality(quality, result);
    set_doubtful_pairs(find_doubtful_units(result.waveforms, result.sorted), result.units);
}

std::vector<unit_verdict> verdicts_of(const sort_result& result) {
    std::vector<unit_verdict> out;
    for (const sorted_unit& unit : result.units) out.push_back(unit.verdict);
    return out;
}

void save_templates(sort_result& result) {
    if (!result.learned) return;
    result.learned = result.learned->with_verdicts(verdicts_of(result));
    if (!result.options.writes_model) return;
    write_templates(result.options.save_templates, *result.learned);
    result.learned.reset();
}

sort_result result_of(feature_file file, const sort_options& options) {
    sort_result result{.sorted = {.samples = std::move(file.samples),
                                  .sample_rate = file.sample_rate,
                                  .begin = file.begin,
                                  .fractions = std::move(file.fractions)},
                       .features = std::move(file.features),
                       .features_per_channel = std::max<std::size_t>(file.features_per_channel, 1),
                       .masks_from = std::move(file.masks_from),
                       .channels = std::move(file.channels),
                       .options = options,
                       .warnings = std::move(file.warnings)};
    if (file.channel_group) result.kwik = {file.files.front(), *file.channel_group};
    result.files = std::move(file.files);
    if (options.start.file != file.path) result.files.push_back(options.start.file);
    for (const auto& path : {options.model, options.known_templates}) result.files.push_back(path);
    std::erase_if(result.files, [](const auto& path) { return path.empty(); });
    return result;
}

sort_result result_of_recording(const recording& from, feature_file file,
                                const sort_options& options) {
    file.files = from.description().files;
    sort_result result = result_of(std::move(file), options);
    result.sorted.sample_count = static_cast<std::int64_t>(from.frame_count());
    result.raw = raw_samples_of(from);
    result.raw_offset_bytes = from.description().header_bytes;
    return result;
}

void take_motion(probe_motion motion, sort_result& result) {
    for (double& time_s : motion.times_s) time_s += to_seconds(result.sorted.begin);
    result.motion = std::move(motion);
}

sort_result sort_known(const recording& from, const sort_options& wanted, const execution& run) {
    check_ranks(false, run);
    sort_options options = wanted;
    options.run.devices.emplace();
    options.search.strategy = sort_strategy::cpu;
    const template_set set = read_templates(options.known_templates);
    options.detection = detection_of(set, options.detection);
    numbered_steps steps(run, 3);
    sort_result result = result_of_recording(from, spikes_of(from, options.detection), options);
    spikes_of_known known = find_known(set, from, unmoved(from.description(), options.motion.model),
                                       result.warnings, steps.next());
    if (known.found.sorted.labels.empty())
        throw invalid_argument(fmt::format("{} contains no spikes of the units of '{}'",
                                           name_of(from), options.known_templates.string()));
    undo_followed(known.motion, options);
    const detection_options how = options.detection;
    options.detection.basis.reset();
    result.options = options;
    take_motion(std::move(known.motion), result);
    add_new_units(set, from, options, known, steps.next());
    result.decisions = std::move(known.found.decisions);
    const execution last = steps.next();
    if (!options.save_templates.empty())
        known.found.learned = with_new_units(set, from, known.found, known.unexplained,
                                             how.preprocessing.moved, options.templates, last);
    take_matches(from, std::move(known.found), how, result, last);
    result.clustered_spikes = result.features.size();
    result.search.stopped = stop_reason::matched;
    result.search.ran_on = sort_strategy::cpu;
    measure_units(result, last);
    average_units(from, result, last);
    take_known_labels(set, result);
    save_templates(result);
    return result;
}

}  // namespace

sort_result sort_recording(const recording& from, const sort_options& wanted,
                           const execution& run) {
    const pipeline::stop_watch watch;
    check(wanted);
    if (!wanted.known_templates.empty()) {
        execution on_cpu = run;
        on_cpu.threads = wanted.run.threads;
        on_cpu.devices.clear();
        sort_result result = sort_known(from, wanted, on_cpu);
        result.seconds = watch.seconds();
        return result;
    }
    check_ranks(is_clustered_by_channel(wanted), run);
    sort_options options = wanted;
    if (is_clustered_by_channel(options) && options.detection.described_channels == 0)
        options.detection.described_channels = most_described_channels;
    const execution how = computing_on(options, run);
    sort_input input{.model = read_model_of(options)};
    const bool moves = may_follow_motion(from, options);
    const bool matches =
        are_all_sorted(input, options) && options.templates.stages == sort_stages::templates;
    numbered_steps steps(how, (moves ? 1U : 0U) + (matches ? 1U : 0U) + 3U);
    probe_motion motion = follow_motion(from, options, moves ? steps.next() : how);
    detected found = detect(input.model, from, options, steps.next());
    core::throw_if_stopped(run.stop);
    input.basis = std::move(found.basis);
    const execution clustering = steps.next();
    input.start = read_start(found.file, options, clustering);
    sort_result result = result_of_recording(from, std::move(found.file), options);
    result.options.detection.preprocessing.reference = found.reference;
    take_motion(std::move(motion), result);
    find_units(input, result, clustering);
    if (matches)
        match_units(from, input, result, steps.next());
    else
        result.options.templates.stages = sort_stages::cluster;
    if (!is_root(how)) return result;
    const execution alone = parallel::without_ranks(steps.next());
    fit_model_of(input, result, alone);
    measure_units(result, alone);
    average_units(from, result, alone);
    save_templates(result);
    result.seconds = watch.seconds();
    return result;
}

sort_result sort_features(feature_file from, const sort_options& options, const execution& run) {
    const pipeline::stop_watch watch;
    check(options);
    check_ranks(false, run);
    const execution how = computing_on(options, run);
    sort_input input{.model = read_model_of(options)};
    check_model(input.model, from, options);
    input.start = read_start(from, options, how);
    sort_result result = result_of(std::move(from), options);
    find_units(input, result, how);
    fit_model_of(input, result, how);
    measure_units(result, how);
    result.seconds = watch.seconds();
    return result;
}

}  // namespace spikeweave
