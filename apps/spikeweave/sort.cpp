#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "output.hpp"
#include "run_sort.hpp"
#include "sort_input.hpp"
#include "sort_options.hpp"
#include "spikeweave/spikeweave.hpp"

namespace spikeweave::cli {
namespace {

// What went into spikes.npz, and what could not.
std::string times_text(const sorting_report& report, const sort_options& options) {
    if (report.sorted.samples.empty())
        return "the times of the spikes are not known: no spikes.npz, no phy\n";
    if (!report.sorted.has_times())
        return "without --sample-rate the times are known in samples only: no spikes.npz, no "
               "phy\n";
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

// @throws device_error if it is not there; invalid_argument for more than one.
std::vector<device_info> chosen_devices(const sort_options& options) {
    if (options.devices && options.devices->empty()) return {};
    if (options.devices && options.devices->size() > 1)
        throw invalid_argument(
            fmt::format("--device names {} GPUs: sorting takes one", options.devices->size()));
    const std::vector<device_info> all = devices();
    if (!options.devices) return {all.begin(), all.begin() + (all.empty() ? 0 : 1)};
    std::vector<device_info> chosen;
    for (const int ordinal : *options.devices) {
        const auto one = std::find_if(all.begin(), all.end(), [ordinal](const device_info& found) {
            return found.ordinal == ordinal;
        });
        if (one == all.end())
            throw device_error(all.empty() ? device_unavailable_reason()
                                           : fmt::format("there is no GPU {}", ordinal));
        chosen.push_back(*one);
    }
    return chosen;
}

// Of each unit, and the mean waveforms that it needs of a recording.
void measure(const sort_input& input, const sort_options& options, sorting_report& report,
             const execution& run) {
    const sorting& sorted = report.sorted;
    report.units = describe_units(input.features, sorted);
    const std::vector<unit_quality> quality =
        measure_quality(input.features, sorted, options.quality, run);
    for (std::size_t u = 0; u < quality.size(); ++u) report.units[u].quality = quality[u];
    if (!input.from) return;
    report.waveforms =
        average_waveforms(*input.from, sorted.samples, sorted.labels,
                          std::size_t{sorted.unit_count} + 1, options.detection, run);
    for (std::size_t u = 0; u < quality.size(); ++u)
        report.units[u].quality.snr = report.waveforms.signal_to_noise(u + 1);
}

void sort(sort_options options, session& now) {
    const auto began = std::chrono::steady_clock::now();
    if (!options.to.empty()) check_output_place(options.to, options.overwrite);
    if (!options.save_model.empty()) check_output_place(options.save_model, options.overwrite);
    const std::vector<device_info> on = chosen_devices(options);
    execution run = now.run(options.threads);
    for (const device_info& one : on) run.devices.push_back(one.ordinal);
    sorting_report report{.first_label = options.klustakwik2_labels ? 3U : 2U};
    sort_input input = read_sort_input(options, report, run);
    now.stop_if_asked();
    now.warn(report.run.warnings);
    if (options.nwb && !report.sorted.has_times())
        throw invalid_argument(fmt::format(
            "the times of the spikes of '{}' are not known in seconds, and --nwb needs them{}",
            options.path, report.sorted.samples.empty() ? "" : ": give --sample-rate"));

    find_units(input, options, report, run);
    now.warn(report.run, report.search.warnings);
    measure(input, options, report, run);
    report.nwb = options.nwb;
    if (options.phy) report.for_phy = &input.features;
    if (report.sorted.has_times()) report.run.duplicates = to_spikes(report.sorted).duplicates;

    report.run.command = now.command_line;
    report.run.parameters = resolved_parameters(options);
    report.run.version = version();
    report.run.seed = options.search.seed;
    report.run.threads = thread_count(run);
    report.run.devices = on;
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
    CLI::App& sub = *app.add_subcommand(
        "sort", "Find units in a recording, or among spikes by their features and masks.");
    add_options(sub, *options);
    sub.footer(
        "Examples: spikeweave sort recording.nwb -o sorted\n"
        "          spikeweave sort probe.fet.1 --masks probe.fmask.1 --sample-rate 30000 -o "
        "sorted\n"
        "          spikeweave sort probe.kwik --start probe.kwik -o sorted\n"
        "          spikeweave sort features.npz --json");
    sub.callback([options, &chosen, &sub] {
        note_given(sub, *options);
        chosen = [options](session& now) { sort(*options, now); };
    });
}

}  // namespace spikeweave::cli
