#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/report/sort.hpp"
#include "spikeweave/report/strategies.hpp"

namespace spikeweave::cli {
namespace {

/// The options of the analysis, and those of the command itself.
struct sort_command {
    std::string path{};
    /// Its sample rate is that of features as well.
    recording_read_options recording{};
    feature_read_options features{};
    sort_options analysis{};
    output_options output{};
    bool klustakwik2_labels = false;
    bool phy = true;
    bool nwb = false;
    /// The options that were given and apply to one kind of input only.
    std::vector<std::string> given_for_features{};
    std::vector<std::string> given_for_recordings{};
};

void describe_output(option_list& list, sort_command& options) {
    describe_output(list, options.output,
                    "sorting.npz, sorting.clu.1, units.tsv, iterations.tsv, "
                    "waveforms.npz, run.json, report.html; merges.tsv with templates; motion.tsv "
                    "if motion was estimated; sorting.res.1, spikes.npz, phy if times are "
                    "known; sorting.kwik for a .kwik");
    list.add("kk2_labels", options.klustakwik2_labels,
             "number units from 3 in sorting.clu.1, as klustakwik2 does, instead of from 2")
        .only_with("output")
        .not_with({"only_clusters"});
    list.add("phy", options.phy, "write the folder phy")
        .off_means("do not write the folder phy")
        .only_with("output");
    list.add("nwb", options.nwb, "write spikes.nwb with the units' quality").only_with("output");
}

// The options for both kinds of input are in one list.
option_list describe(sort_command& options) {
    option_list list = describe(options.recording);
    list.change("sample_rate").help =
        "sample rate of raw samples and of the times of features; without it, no times of features "
        "in seconds are written";
    describe_output(list, options);
    list.add_all(describe(options.features));
    list.add_all(describe(options.analysis));
    return list;
}

std::vector<std::string> given_of(const CLI::App& app, const char* kind) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        if (option->get_group().ends_with(kind) && option->count() > 0)
            names.push_back(option->get_name());
    return names;
}

void refuse_given(const std::vector<std::string>& given, const std::string& path, const char* is) {
    if (!given.empty())
        throw invalid_argument(fmt::format("'{}' is {}, to which {} does not apply", path, is,
                                           fmt::join(given, ", ")));
}

// A sample rate does not tell recordings from features, which have one as well. An extension of raw
// samples does, and so does .nwb: if there are units besides, the samples are what is sorted.
bool is_to_be_detected(const sort_command& options, const execution& run) {
    recording_read_options marks = options.recording;
    marks.sample_rate = 0;
    return is_recording(options.path, marks, run) || is_named_as_samples(options.path) ||
           std::filesystem::path(options.path).extension() == ".nwb";
}

feature_file read_features_of(const sort_command& options, const execution& run) {
    feature_read_options how = options.features;
    how.features_per_channel = options.analysis.detection.features_per_channel;
    feature_file file = read_features(options.path, how, run);
    if (options.recording.sample_rate > 0) file.sample_rate = options.recording.sample_rate;
    if (file.features_per_channel == 0) file.features_per_channel = how.features_per_channel;
    if (file.channel_group &&
        std::filesystem::weakly_canonical(file.files.front()) ==
            std::filesystem::weakly_canonical(options.output.to) / "sorting.kwx")
        throw invalid_argument(fmt::format(
            "'{}' holds the features, and the result would replace it: write into another folder",
            file.files.front().string()));
    if (options.nwb && (file.samples.empty() || !(file.sample_rate > 0)))
        throw invalid_argument(fmt::format(
            "the times of the spikes of '{}' are not known in seconds, and --nwb needs them{}",
            options.path, file.samples.empty() ? "" : ": give --sample-rate"));
    return file;
}

/// A result, with the files that it was made of and the warnings that the user has seen.
struct sorted_files {
    sort_result result{};
    std::vector<std::filesystem::path> files{};
    run_record record{};
};

sorted_files sort_file(const sort_command& options, invocation& now, const execution& run) {
    sorted_files out;
    if (is_standard_input(options.path))
        throw invalid_argument("sort reads a file or a folder, not standard input");
    if (is_to_be_detected(options, run)) {
        refuse_given(options.given_for_features, options.path, "a recording");
        const recording from = read_recording(options.path, options.recording, run);
        now.stop_if_asked();
        out.files = from.description().files;
        out.result = sort_recording(from, options.analysis, run);
        return out;
    }
    if (std::filesystem::exists(options.path))
        refuse_given(options.given_for_recordings, options.path, "a file of features");
    feature_file from = read_features_of(options, run);
    now.stop_if_asked();
    now.warn(out.record, from.warnings);
    out.files = from.files;
    out.result = sort_features(std::move(from), options.analysis, run);
    return out;
}

void describe_files(std::vector<std::filesystem::path> files, const sort_command& options,
                    sorting_report& report, run_record& input, const execution& run) {
    const sort_options& analysis = options.analysis;
    if (!analysis.start.empty() && analysis.start.file != options.path)
        files.push_back(analysis.start.file);
    for (const auto& path : {analysis.model, analysis.known_templates})
        if (!path.empty()) files.push_back(path);
    input.input = describe_input(files.front(), run);
    for (std::size_t i = 1; i < files.size(); ++i)
        report.more_input.push_back(describe_input(files[i], run));
}

// Adds the parameters of reading the file and of the command itself.
void add_command_parameters(sort_command options, bool is_recording, parameter_list& list) {
    option_list reading = describe(options.recording);
    if (!is_recording) {
        option_list features;
        features.add("sample_rate", options.recording.sample_rate, "").unset_is("");
        features.add("features_per_channel", options.analysis.detection.features_per_channel, "");
        features.add_all(describe(options.features));
        reading = std::move(features);
    }
    const parameter_list of_file = parameters_of(reading);
    list.insert(list.end(), of_file.begin(), of_file.end());
    add_parameters(list, describe(options), {"kk2_labels", "phy", "nwb"});
}

std::string text_of(const sort_command& options, const sorting_report& report) {
    std::string text = summarize(report);
    if (!options.output.to.empty())
        text += "\n" + with_command_line_names(summarize_files(report, options.output.to));
    return text;
}

void run(sort_command& options, invocation& now) {
    options.analysis.writes_model = false;  // it appears together with the folder
    check_place(options.output, result_kind::sort, now);
    for (const auto& path : {options.analysis.save_model, options.analysis.save_templates})
        if (!path.empty() && now.is_root()) check_output_place(path, options.output.overwrite);
    const execution run = now.run(options.analysis.run.threads);
    auto [result, files, record] = sort_file(options, now, run);
    if (!now.is_root()) return;
    result.warnings = now.warn(record, result.warnings);
    const bool is_recording = result.waveforms.group_count() > 0;
    sorting_report report = report_of(std::move(result), run);
    run_record input;
    describe_files(std::move(files), options, report, input, run);
    add_command_parameters(options, is_recording, input.parameters);
    report.first_label = options.klustakwik2_labels ? 3U : 2U;
    report.nwb = options.nwb;
    report.with_phy = options.phy;
    if (options.output.to.empty()) write_models(report, options.output.overwrite);
    finish_command(options.output, report, std::move(input), now, run, &write_sorting_report,
                   [&](const sorting_report& made) { return text_of(options, made); });
}

}  // namespace

void declare_sort(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<sort_command>();
    add_argument(sub, "FILE", options->path,
                 "a recording, or features: KlustaKwik's .fet.N, klusta's .kwik or .kwx, a folder "
                 "of Phy, or an .npz");
    add_described(sub, describe(*options));
    add_strategy_list(sub, &list_sort_strategies);
    sub.footer(
        "Examples: spikeweave sort recording.nwb -o sorted\n"
        "          spikeweave sort probe.fet.1 --masks probe.fmask.1 --sample-rate 30000 -o "
        "sorted\n"
        "          spikeweave sort probe.kwik --start probe.kwik -o sorted\n"
        "          spikeweave sort features.npz --json");
    sub.callback([options, &chosen, &sub] {
        options->given_for_features = given_of(sub, "(features only)");
        options->given_for_recordings = given_of(sub, "(recordings only)");
        chosen = [options](invocation& now) { run(*options, now); };
    });
}

}  // namespace spikeweave::cli
