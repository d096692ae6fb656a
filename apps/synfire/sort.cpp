#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "output.hpp"
#include "sort_options.hpp"
#include "synfire/synfire.hpp"

namespace synfire::cli {
namespace {

// 0 (artefacts) and 1 (noise) are no units.
std::vector<std::uint32_t> read_start(const std::string& path, std::size_t spikes,
                                      const execution& run) {
    std::vector<std::uint32_t> start;
    start.reserve(spikes);
    for (const std::int64_t cluster : read_clusters(path, spikes, run)) {
        if (cluster < 0 || cluster > std::numeric_limits<std::uint32_t>::max())
            throw io_error(fmt::format("'{}', spike {}: found {}, expected a cluster from 0 to {}",
                                       path, start.size() + 1, cluster,
                                       std::numeric_limits<std::uint32_t>::max()));
        start.push_back(cluster <= 1 ? 0 : static_cast<std::uint32_t>(cluster));
    }
    return start;
}

void warn(const std::vector<std::string>& warnings, sorting_report& report) {
    for (const std::string& warning : warnings) {
        write_stderr(fmt::format("synfire: warning: {}\n", warning));
        report.run.warnings.push_back(warning);
    }
}

// What a sorting of features needs of its input; another kind of input would fill the same.
struct sort_input {
    feature_file file{};
    std::vector<std::uint32_t> start{};
};

sort_input read_input(const sort_options& options, sorting_report& report, const execution& run) {
    sort_input input{.file = read_features(options.path, options.how, run)};
    warn(input.file.warnings, report);
    if (!options.start.empty()) {
        input.start = read_start(options.start, input.file.features.size(), run);
        input.file.files.emplace_back(options.start);
    }
    report.run.input = describe_input(input.file.files.front(), run);
    for (std::size_t i = 1; i < input.file.files.size(); ++i)
        report.more_input.push_back(describe_input(input.file.files[i], run));
    report.masks_from = input.file.masks_from;
    report.features = input.file.features.feature_count();
    report.sorted.sample_rate =
        options.sample_rate > 0 ? options.sample_rate : input.file.sample_rate;
    report.sorted.samples = std::move(input.file.samples);
    return input;
}

// What went into spikes.npz, and what could not.
std::string times_text(const sorting_report& report, const sort_options& options) {
    if (report.sorted.samples.empty())
        return "the times of the spikes are not known: no spikes.npz\n";
    if (!report.sorted.has_times())
        return "without --sample-rate the times are known in samples only: no spikes.npz\n";
    std::uint64_t spikes = 0;
    for (const sorted_unit& unit : report.units) spikes += unit.spikes;
    std::string text = fmt::format("{} spikes of units in {}/spikes.npz, without {} of noise",
                                   grouped(spikes - report.run.duplicates), options.to,
                                   grouped(report.sorted.labels.size() - spikes));
    if (report.run.duplicates > 0)
        text += fmt::format(" and {} at the time of another of their unit",
                            grouped(report.run.duplicates));
    return text + "\n";
}

void sort(sort_options options, session& now) {
    const auto began = std::chrono::steady_clock::now();
    if (!options.to.empty()) check_output_place(options.to, options.overwrite);
    const execution run = now.run(options.threads);
    sorting_report report{.first_label = options.klustakwik2_labels ? 3U : 2U};
    sort_input input = read_input(options, report, run);
    now.stop_if_asked();

    options.search.start = std::move(input.start);
    report.search = sort_spikes(input.file.features, options.search, run);
    warn(report.search.warnings, report);
    report.sorted.labels = std::move(report.search.labels);
    report.sorted.unit_count = report.search.units;
    report.units = describe_units(input.file.features, report.sorted);
    if (report.sorted.has_times()) report.run.duplicates = to_spikes(report.sorted).duplicates;

    report.run.command = now.command_line;
    report.run.parameters = resolved_parameters(options);
    report.run.version = version();
    report.run.seed = options.search.seed;
    report.run.threads = thread_count(run);
    report.run.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    report.run.peak_memory_bytes = peak_memory_bytes();
    if (!options.to.empty()) write_sorting_report(options.to, report, options.overwrite, run);
    now.progress.clear();

    if (options.json) write_stdout(to_json(report) + "\n");
    if (options.json || now.quiet) return;
    std::string text = summarize(report);
    if (!options.to.empty())
        text += fmt::format("\nwritten to {}\n{}", options.to, times_text(report, options));
    write_stdout(text);
}

}  // namespace

void add_sort(CLI::App& app, verb& chosen) {
    const auto options = std::make_shared<sort_options>();
    CLI::App& sub =
        *app.add_subcommand("sort", "Find units among spikes by their features and masks.");
    add_options(sub, *options);
    sub.footer(
        "Examples: synfire sort probe.fet.1 --masks probe.fmask.1 --sample-rate 30000 -o sorted\n"
        "          synfire sort features.npz --json");
    sub.callback([options, &chosen] { chosen = [options](session& now) { sort(*options, now); }; });
}

}  // namespace synfire::cli
