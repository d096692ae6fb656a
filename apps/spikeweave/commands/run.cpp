#include <fmt/format.h>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/electrodes.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::cli {
namespace {

struct run_command_options {
    std::string path{};
    std::filesystem::path to{};
    std::optional<electrode_kind> preset{};
    bool dry_run = false;
    bool overwrite = false;
    recording_read_options recording{};
    spike_read_options spikes{};
};

bool holds_voltages(const run_command_options& options, const execution& run) {
    if (is_recording(options.path, options.recording, run) || is_named_as_samples(options.path))
        return true;
    refuse_recording_options(options.recording, options.path);
    return false;
}

// The words of a command that writes a folder.
std::vector<std::string> words_of(const std::string& command, const std::string& path,
                                  std::initializer_list<std::vector<std::string>> more,
                                  const std::filesystem::path& folder, bool overwrite) {
    std::vector<std::string> words{command, path};
    for (const auto& part : more) words.insert(words.end(), part.begin(), part.end());
    words.insert(words.end(), {"-o", folder.string()});
    if (overwrite) words.emplace_back("--overwrite");
    return words;
}

std::vector<analysis_step> plan(const run_command_options& options, const execution& run) {
    sort_options sorting;
    spike_read_options reading = options.spikes;
    electrode_reasons reasons;
    if (options.preset) reasons = adapt_to(*options.preset, sorting, reading);
    const auto sentence = [](std::string_view text) {
        return text.empty() ? std::string() : fmt::format(" {}", text);
    };
    std::string spikes = options.path;
    std::string why = fmt::format("{} holds spikes.", options.path);
    std::vector<analysis_step> steps;
    if (holds_voltages(options, run)) {
        const recording what = read_recording(options.path, options.recording, run);
        const std::filesystem::path folder = options.to / "sorted";
        steps.push_back(
            {fmt::format("{} holds {} of voltages on {} channels: its units are found first.{}",
                         options.path, format_duration(what.length()),
                         grouped(what.channels().size()), sentence(reasons.sort)),
             words_of("sort", options.path,
                      {changed_options(options.recording), changed_options(sorting)}, folder,
                      options.overwrite),
             folder});
        spikes = (folder / "spikes.npz").string();
        reading.drop_duplicates_of_units = true;
        why = "Only units labelled good are used, and of two with the same spikes one.";
    } else if (options.preset && reasons.episodes.empty()) {
        why += fmt::format(" Electrodes of the kind {} differ in sorting only.",
                           to_string(*options.preset));
    }
    const std::filesystem::path folder = options.to / "circuit";
    steps.push_back(
        {fmt::format("{}{} All pairs of units are tested, and chains of connections "
                     "are searched for.",
                     why, sentence(reasons.episodes)),
         words_of("episodes", spikes, {changed_options(reading)}, folder, options.overwrite),
         folder});
    return steps;
}

void run(run_command_options& options, invocation& call) {
    if (is_standard_input(options.path))
        throw invalid_argument("run reads a file or a folder, not standard input");
    if (options.to.empty())
        options.to =
            std::filesystem::path(options.path).lexically_normal().stem().string() + "-result";
    const std::vector<analysis_step> steps = plan(options, call.run());
    call.progress.clear();
    if (options.dry_run) return write_stdout(commands_of(steps));
    for (const auto& step : steps)
        check_result_place(
            step.folder, options.overwrite,
            step.words.front() == "sort" ? result_kind::sort : result_kind::episodes);
    const std::filesystem::path list = options.to / "steps.txt";
    const std::filesystem::path page = options.to / "index.html";
    check_output_place(list, options.overwrite);
    check_output_place(page, options.overwrite);
    for (const auto& step : steps) {
        if (!call.quiet) write_stdout(fmt::format("{}\n$ {}\n", step.why, step.command()));
        call.run_command(step.words);
        if (!call.quiet) write_stdout("\n");
    }
    write_analysis(options.to, options.path, steps, options.overwrite);
    if (!call.quiet)
        write_stdout(fmt::format("{} shows what was decided and found; {} has the commands\n",
                                 page.string(), list.string()));
}

option_list describe(run_command_options& options) {
    option_list list;
    list.begin_group("Output");
    list.add("output", options.to,
             "folder to write: index.html, a page of all steps, why they were chosen and what they "
             "found; circuit, with the result of episodes; for voltages also sorted, with that of "
             "sort; and steps.txt, the commands that give the same")
        .basic()
        .written("OUT_DIR")
        .by_default("the name of the file with -result");
    list.add("overwrite", options.overwrite, "replace the folders in OUT_DIR if they exist");
    list.begin_group("Steps");
    list.add("preset", options.preset, "the kind of electrodes, if the defaults do not suit them")
        .basic();
    list.add("dry_run", options.dry_run,
             "print the commands that give the same files, and run none of them")
        .basic();
    return list;
}

}  // namespace

void declare_run(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<run_command_options>();
    add_spike_file(sub, options->path, "file or folder of a recording or of spikes");
    add_described(sub, describe(*options));
    add_described(sub, describe(options->spikes));
    add_described(sub, describe(options->recording));
    sub.footer(
        "Examples: spikeweave run recording -o result\n"
        "          spikeweave run run_g0_t0.imec0.ap.bin --preset neuropixels --dry-run");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
