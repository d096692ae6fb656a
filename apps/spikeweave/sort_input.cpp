#include "sort_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include "recording_options.hpp"
#include "spike_source.hpp"

namespace spikeweave::cli {
namespace {

bool is_archive(const std::string& path) {
    return std::filesystem::path(path).extension() == ".npz";
}

// The numbers in a .clu begin with 0 (artefacts), 1 (noise) and units from 2; ours with noise.
std::uint32_t label_of(std::int64_t cluster) {
    return cluster <= 1 ? 0 : static_cast<std::uint32_t>(cluster - 1);
}

std::vector<std::uint32_t> read_start(const std::string& path, std::size_t spikes,
                                      const execution& run) {
    if (is_archive(path)) {
        std::vector<std::uint32_t> labels = read_sorting(path).labels;
        if (labels.size() != spikes)
            throw io_error(fmt::format("'{}' holds labels of {} spikes, expected {}", path,
                                       labels.size(), spikes));
        return labels;
    }
    std::vector<std::uint32_t> start;
    start.reserve(spikes);
    for (const std::int64_t cluster : read_clusters(path, spikes, run)) {
        if (cluster < 0 || cluster > std::numeric_limits<std::uint32_t>::max())
            throw io_error(fmt::format("'{}', spike {}: found {}, expected a cluster from 0 to {}",
                                       path, start.size() + 1, cluster,
                                       std::numeric_limits<std::uint32_t>::max()));
        start.push_back(label_of(cluster));
    }
    return start;
}

// Features have a sample rate, too, which therefore does not tell; and nobody calls them like raw
// samples. Of an NWB file that holds units besides, the samples are what there is to sort.
bool is_to_be_detected(const sort_options& options, const execution& run) {
    recording_read_options marks = options.recording;
    marks.rate_hz = 0;
    const auto extension = std::filesystem::path(options.path).extension();
    return is_recording(options.path, marks, run) || extension == ".bin" || extension == ".dat" ||
           extension == ".raw" || extension == ".nwb";
}

void refuse(const std::vector<std::string>& given, const std::string& path, const char* is) {
    if (!given.empty())
        throw invalid_argument(fmt::format("'{}' is {}, to which {} does not apply", path, is,
                                           fmt::join(given, ", ")));
}

void describe_files(const std::vector<std::filesystem::path>& files, sorting_report& report,
                    const execution& run) {
    report.run.input = describe_input(files.front(), run);
    for (std::size_t i = 1; i < files.size(); ++i)
        report.more_input.push_back(describe_input(files[i], run));
}

sort_input take_features(const sort_options& options, sorting_report& report,
                         const execution& run) {
    feature_file file = read_features(options.path, options.how, run);
    report.run.warnings = std::move(file.warnings);
    describe_files(file.files, report, run);
    report.masks_from = file.masks_from;
    report.sorted.sample_rate =
        options.recording.rate_hz > 0 ? options.recording.rate_hz : file.sample_rate;
    report.sorted.samples = std::move(file.samples);
    report.sorted.fractions = std::move(file.fractions);
    report.channels = std::move(file.channels);
    if (file.features_per_channel > 0) report.features_per_channel = file.features_per_channel;
    if (file.channel_group) report.kwik = {file.files.front(), *file.channel_group};
    if (report.kwik && std::filesystem::weakly_canonical(report.kwik->features) ==
                           std::filesystem::weakly_canonical(options.to) / "sorting.kwx")
        throw invalid_argument(fmt::format(
            "'{}' holds the features, and the result would replace it: write into another folder",
            report.kwik->features.string()));
    // The file's own clusters, when it is named a second time.
    if (options.start == options.path && file.labels.empty())
        throw io_error(fmt::format("'{}' holds no clusters to begin with", options.path));
    if (options.start != options.path) return {.features = std::move(file.features)};
    return {.features = std::move(file.features),
            .start = std::move(file.labels),
            .start_numbers = std::move(file.label_numbers)};
}

[[noreturn]] void fail_without_spikes(const sort_options& options,
                                      const std::vector<std::string>& warnings) {
    throw io_error(fmt::format(
        "'{}' holds no spikes: nothing goes beyond {} standard deviations of a channel's noise{}{}",
        options.path, options.detection.strong, warnings.empty() ? "" : ". ",
        fmt::join(warnings, " ")));
}

// The model, if it can be applied to what is sorted.
std::optional<sorting_model> read_fitting_model(const sort_options& options) {
    if (options.model.empty()) return {};
    sorting_model model = read_model(options.model);
    if (options.of_recording && !model.basis())
        throw invalid_argument(
            fmt::format("'{}' does not say which components its features are of, as a model does "
                        "that was saved while a recording was sorted; '{}' is a recording",
                        options.model, options.path));
    if (!options.of_recording && model.basis())
        throw invalid_argument(
            fmt::format("'{}' is of components of a recording, and the features of '{}' are not "
                        "known to be of these",
                        options.model, options.path));
    return model;
}

// With the model's components, if there is one.
detection_result detect_for(const std::optional<sorting_model>& model, const recording& from,
                            const sort_options& options, const execution& run) {
    if (!model) return detect_spikes(from, options.detection, run);
    detection_options how = options.detection;
    how.basis = model->basis();
    try {
        return detect_spikes(from, how, run);
    } catch (const invalid_argument& error) {
        throw invalid_argument(
            fmt::format("'{}' with the model '{}': {}", options.path, options.model, error.what()));
    }
}

// What was detected goes when its features have been taken, before clustering needs the room.
sort_input detect_features(sort_options& options, const std::optional<sorting_model>& model,
                           sorting_report& report, const execution& run) {
    options.detection.features_per_channel =
        static_cast<std::uint32_t>(options.how.features_per_channel);
    const recording from = read_recording(options.path, options.recording, run);
    detection_result found = detect_for(model, from, options, run);
    if (found.size() == 0) fail_without_spikes(options, found.warnings);
    options.detection.preprocessing.reference = found.reference;
    auto& warnings = report.run.warnings;
    warnings = from.description().warnings;
    warnings.insert(warnings.end(), found.warnings.begin(), found.warnings.end());
    describe_files(from.description().files, report, run);
    report.masks_from = "detection";
    report.sorted.sample_rate = from.rate_hz();
    report.sorted.sample_count = static_cast<std::int64_t>(from.frame_count());
    report.channels = from.channels();
    report.raw_offset_bytes = options.recording.offset_bytes;
    report.raw = raw_samples_of(from, report.raw_offset_bytes);
    spike_features features = to_features(found);
    report.sorted.samples = std::move(found.frames);
    report.sorted.fractions = std::move(found.fractions);
    return {.features = std::move(features), .from = from, .basis = std::move(found.basis)};
}

// The label of what the user calls so; one that no spike has where nothing is called so.
std::uint32_t label_in(const sort_input& input, std::uint32_t cluster, bool of_archive) {
    const std::vector<std::int64_t>& numbers = input.start_numbers;
    if (numbers.empty()) return of_archive ? cluster : label_of(cluster);
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), cluster);
    const bool is_there = at != numbers.end() && *at == cluster;
    return is_there ? static_cast<std::uint32_t>(at - numbers.begin()) + 1
                    : std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

sort_input read_sort_input(sort_options& options, sorting_report& report, const execution& run) {
    if (is_standard_input(options.path))
        throw invalid_argument("sort reads a file or a folder, not standard input");
    options.of_recording = is_to_be_detected(options, run);
    report.features_per_channel = options.how.features_per_channel;
    std::optional<sorting_model> model = read_fitting_model(options);
    sort_input input;
    if (options.of_recording) {
        refuse(options.given_of_features, options.path, "a recording");
        input = detect_features(options, model, report, run);
    } else {
        refuse(options.given_of_recordings, options.path, "a file of features");
        input = take_features(options, report, run);
    }
    input.model = std::move(model);
    report.features = input.features.feature_count();
    if (!options.start.empty() && input.start.empty()) {
        input.start = read_start(options.start, input.features.size(), run);
        report.more_input.push_back(describe_input(options.start, run));
    }
    // Other labels are kept, and tables have a row for each number up to the largest.
    constexpr std::uint32_t most = 65'535;
    if (!options.only_clusters.empty() && std::any_of(input.start.begin(), input.start.end(),
                                                      [](auto label) { return label > most; }))
        throw invalid_argument(fmt::format(
            "'{}' has clusters with numbers above {}, which --only-clusters does not keep",
            options.start, most));
    for (const std::uint32_t cluster : options.only_clusters)
        input.only.push_back(label_in(input, cluster, is_archive(options.start)));
    if (!options.model.empty()) report.more_input.push_back(describe_input(options.model, run));
    for (std::size_t c = 0; c < input.only.size(); ++c)
        if (std::find(input.start.begin(), input.start.end(), input.only[c]) == input.start.end())
            throw invalid_argument(fmt::format("no spike of '{}' is of cluster {}", options.start,
                                               options.only_clusters[c]));
    return input;
}

}  // namespace spikeweave::cli
