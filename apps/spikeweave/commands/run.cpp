#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/sort.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave::cli {
namespace {

using words = std::vector<std::string>;

/// A kind of electrodes: what it changes, and why.
struct rig_preset {
    std::string_view name{};
    std::string_view why_sort{};
    std::string_view why_episodes{};
    std::optional<double> neighbours_um{};
    std::optional<double> max_rate_hz{};
    bool has_motion = false;
};
constexpr std::array<rig_preset, 4> presets{{
    {.name = "culture", .why_sort = " The electrodes of a culture do not move."},
    {.name = "neuropixels",
     .why_episodes = " Units that fire too fast for one neuron are left out.",
     .max_rate_hz = 70,
     .has_motion = true},
    {.name = "tetrode",
     .why_sort = " The contacts of a tetrode share spikes, and cannot show motion.",
     .neighbours_um = 100},
    {.name = "utah",
     .why_sort = " Electrodes 400 um apart share no spikes: each is sorted by itself.",
     .neighbours_um = 1},
}};

struct run_command_options {
    std::string path{};
    std::filesystem::path to{};
    std::optional<std::string> preset{};  ///< the name of one of `presets`
    bool dry_run = false;
    bool overwrite = false;
    recording_read_options recording{};
    spike_read_options spikes{};
};

/// A command line of the analysis.
struct step {
    std::string why{};
    words line{};
    std::filesystem::path folder{};
};

// Changes the options as a preset does.
rig_preset apply(std::string_view name, sort_options& sorting, spike_read_options& reading) {
    const auto preset = std::ranges::find(presets, name, &rig_preset::name);
    if (preset == presets.end()) return {};
    if (!reading.cleaning.max_rate) reading.cleaning.max_rate = preset->max_rate_hz;
    if (!preset->has_motion) sorting.motion.model = motion_model::none;
    if (preset->neighbours_um) sorting.detection.neighbours = *preset->neighbours_um;
    return *preset;
}

bool holds_voltages(const run_command_options& options, const execution& run) {
    if (is_recording(options.path, options.recording, run) || is_named_as_samples(options.path))
        return true;
    if (options.recording != recording_read_options{})
        throw invalid_argument(
            fmt::format("'{}' is a file of spikes, to which the options of recordings do not apply",
                        options.path));
    return false;
}

step step_of(std::string why, words line, std::initializer_list<words> more,
             std::filesystem::path folder, bool overwrite) {
    for (const words& part : more) line.insert(line.end(), part.begin(), part.end());
    line.insert(line.end(), {"-o", folder.string()});
    if (overwrite) line.emplace_back("--overwrite");
    return {std::move(why), std::move(line), std::move(folder)};
}

std::vector<step> plan(const run_command_options& options, const execution& run) {
    sort_options sorting;
    spike_read_options reading = options.spikes;
    const rig_preset preset = apply(options.preset.value_or(""), sorting, reading);
    std::string spikes = options.path;
    std::string why = fmt::format("{} holds spikes.", options.path);
    std::vector<step> steps;
    if (holds_voltages(options, run)) {
        const recording what = read_recording(options.path, options.recording, run);
        steps.push_back(step_of(
            fmt::format("{} holds {} of voltages on {} channels: its units are found first.{}",
                        options.path, format_duration(what.length()),
                        grouped(what.channels().size()), preset.why_sort),
            {"sort", options.path}, {changed_options(options.recording), changed_options(sorting)},
            options.to / "sorted", options.overwrite));
        spikes = (options.to / "sorted/spikes.npz").string();
        reading.drop_duplicates_of_units = true;
        why = "Only units labelled good are used, and of two with the same spikes one.";
    }
    steps.push_back(step_of(
        fmt::format("{}{} All pairs of units are tested, and chains of connections are searched "
                    "for.",
                    why, preset.why_episodes),
        {"episodes", spikes}, {changed_options(reading)}, options.to / "circuit",
        options.overwrite));
    return steps;
}

std::string text_of(const std::vector<step>& steps) {
    std::string out;
    for (const step& one : steps)
        out += fmt::format("# {}\n{}\n", one.why, shell_line("spikeweave", one.line));
    return out;
}

void write_list(const std::filesystem::path& list, const std::vector<step>& steps) {
    std::ofstream file(list);
    file << text_of(steps) << std::flush;
    if (file) return;
    std::error_code ignored;
    std::filesystem::remove(list, ignored);
    throw io_error(fmt::format("'{}' cannot be written", list.string()));
}

void run(run_command_options& options, invocation& call) {
    if (is_standard_input(options.path))
        throw invalid_argument("run reads a file or a folder, not standard input");
    if (options.to.empty())
        options.to =
            std::filesystem::path(options.path).lexically_normal().stem().string() + "-result";
    const std::vector<step> steps = plan(options, call.run());
    call.progress.clear();
    if (options.dry_run) return write_stdout(text_of(steps));
    if (steps.size() > 1)
        check_result_place(options.to / "sorted", options.overwrite, result_kind::sort);
    check_result_place(options.to / "circuit", options.overwrite, result_kind::episodes);
    const std::filesystem::path list = options.to / "steps.txt";
    const std::filesystem::path page = options.to / "index.html";
    check_output_place(list, options.overwrite);
    check_output_place(page, options.overwrite);
    std::vector<analysis_step> done;
    for (const auto& [why, line, folder] : steps) {
        done.push_back({why, shell_line("spikeweave", line), folder});
        if (!call.quiet) write_stdout(fmt::format("{}\n$ {}\n", why, done.back().command));
        call.run_command(line);
        if (!call.quiet) write_stdout("\n");
    }
    write_list(list, steps);
    write_analysis_page(page, options.path, done, options.overwrite);
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
    option& preset = list.add("preset", options.preset,
                              "the kind of electrodes, if the defaults do not suit them")
                         .basic()
                         .written("NAME");
    preset.kind = option_kind::choice;
    preset.put = [&to = options.preset](const option_value& name) {
        to = std::get<std::string>(name);
        if (std::ranges::find(presets, *to, &rig_preset::name) == presets.end())
            throw invalid_argument("");
    };
    for (const rig_preset& choice : presets) preset.choices.emplace_back(choice.name);
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
