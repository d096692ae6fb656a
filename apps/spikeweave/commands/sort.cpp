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

struct sort_command {
    const CLI::App& app;  ///< has the options that were given
    std::string path{};
    /// Its sample rate is that of features as well.
    recording_read_options recording{};
    feature_read_options features{};
    sort_options analysis{};
    output_options output{};
    bool klustakwik2_labels = false;
    bool phy = true;
    bool nwb = false;
};

// The options for both kinds of input are in one list.
option_list describe(sort_command& options) {
    option_list list = describe(options.recording);
    list.change("sample_rate").help =
        "sample rate of raw samples and of the times of features; without it, no times of features "
        "in seconds are written";
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
    list.add_all(describe(options.features));
    list.add_all(describe(options.analysis));
    return list;
}

// Refuses options that are for the other kind of input.
void refuse_given(const sort_command& options, const char* group, const char* is) {
    std::vector<std::string> given;
    for (const CLI::Option* option : options.app.get_options())
        if (option->get_group().ends_with(group) && option->count() > 0)
            given.push_back(option->get_name());
    if (!given.empty())
        throw invalid_argument(fmt::format("'{}' is {}, to which {} does not apply", options.path,
                                           is, fmt::join(given, ", ")));
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
    feature_read_options reading = options.features;
    reading.features_per_channel = options.analysis.detection.features_per_channel;
    feature_file file = read_features(options.path, reading, run);
    if (options.recording.sample_rate > 0) file.sample_rate = options.recording.sample_rate;
    if (file.features_per_channel == 0) file.features_per_channel = reading.features_per_channel;
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

sort_result sort_file(sort_command& options, run_record& record, const invocation& call,
                      const execution& run) {
    if (is_standard_input(options.path))
        throw invalid_argument("sort reads a file or a folder, not standard input");
    sort_result result;
    option_list reading;
    if (is_to_be_detected(options, run)) {
        refuse_given(options, "(features only)", "a recording");
        const recording from = read_recording(options.path, options.recording, run);
        call.stop_if_asked();
        result = sort_recording(from, options.analysis, run);
        reading = describe(options.recording);
    } else {
        if (std::filesystem::exists(options.path))
            refuse_given(options, "(recordings only)", "a file of features");
        feature_file from = read_features_of(options, run);
        call.stop_if_asked();
        call.warn(record, from.warnings);
        result = sort_features(std::move(from), options.analysis, run);
        reading.add("sample_rate", options.recording.sample_rate, "").unset_is("");
        reading.add("features_per_channel", options.analysis.detection.features_per_channel, "");
        reading.add_all(describe(options.features));
    }
    record.parameters = parameters_of(reading);
    add_parameters(record.parameters, describe(options), {"kk2_labels", "phy", "nwb"});
    return result;
}

void run(sort_command& options, invocation& call) {
    options.analysis.writes_model = false;  // it appears together with the folder
    check_place(options.output, result_kind::sort, call);
    for (const auto& path : {options.analysis.save_model, options.analysis.save_templates})
        if (!path.empty() && call.is_root()) check_output_place(path, options.output.overwrite);
    const execution run = call.run(options.analysis.run.threads);
    run_record record;
    sort_result result = sort_file(options, record, call, run);
    if (!call.is_root()) return;
    result.warnings = call.warn(record, result.warnings);
    const std::vector<std::filesystem::path> files = std::move(result.files);
    sorting_report report = report_of(std::move(result), run);
    record.input = describe_input(files.front(), run);
    for (std::size_t i = 1; i < files.size(); ++i)
        report.more_input.push_back(describe_input(files[i], run));
    report.first_label = options.klustakwik2_labels ? 3U : 2U;
    report.nwb = options.nwb;
    report.with_phy = options.phy;
    if (options.output.to.empty()) write_models(report, options.output.overwrite);
    const auto text_of = [&to = options.output.to](const sorting_report& shown) {
        std::string text = summarize(shown);
        if (!to.empty()) text += "\n" + with_command_line_names(summarize_files(shown, to));
        return text;
    };
    finish_command(options.output, report, std::move(record), call, run, text_of);
}

}  // namespace

void declare_sort(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<sort_command>(sort_command{.app = sub});
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
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
