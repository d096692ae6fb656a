#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>

#include "core/text.hpp"
#include "report/sort/view.hpp"
#include "report/text.hpp"

namespace spikeweave {
namespace {

std::string how_it_went(const sorting_report& report) {
    if (report.search.stopped == stop_reason::by_channel)
        return fmt::format(
            "found by the templates of {} clusters, each of the spikes of one channel\n",
            report.search.units);
    if (report.search.stopped == stop_reason::matched) return "found by given templates\n";
    if (report.search.stopped != stop_reason::assigned)
        return fmt::format("{} after {} iterations by {}, score {:.1f}\n",
                           to_string(report.search.stopped), report.search.iterations.size(),
                           to_string(report.search.ran_on), report.search.score());
    std::string text = "assigned one after another";
    for (const incremental_fit& one : report.fits)
        fmt::format_to(std::back_inserter(text), "\nfitted at spike {} ({}): {} units", one.spikes,
                       to_string(one.reason), one.units);
    return text + "\n";
}

// Formats three digits for a column; a dash stands for unknown values.
std::string shown(const std::optional<double>& value) {
    return value ? report::shown_number(*value) : "-";
}

// Says why a unit is not good.
std::string shown(const unit_verdict& verdict) {
    if (verdict.label == unit_label::good) return "good";
    return fmt::format("{}: {}", to_string(verdict.label), verdict.reason);
}

}  // namespace

std::string verdict_of(const sorting_report& report) {
    std::array<std::size_t, 3> numbers{};
    for (const sorted_unit& unit : report.units)
        if (unit.spikes > 0) ++numbers.at(static_cast<std::size_t>(unit.verdict.label));
    const std::size_t all = report.sorted.labels.size();
    std::string text = fmt::format("{}: {} good, {} mua, {} noise; ",
                                   report::plural(report::unit_number(report), "unit", "units"),
                                   core::grouped(numbers[0]), core::grouped(numbers[1]),
                                   core::grouped(numbers[2]));
    text += fmt::format("{} of {} in units.", core::grouped(all - report::noise_spikes(report)),
                        report::plural(all, "spike", "spikes"));
    const auto found_now = std::ranges::count(report.units, "new", &sorted_unit::origin);
    if (found_now > 0)
        text += fmt::format(
            " {} not of the templates.",
            report::plural(static_cast<std::uint64_t>(found_now), "new unit is", "new units are"));
    return report::with_warnings(text, report.run.warnings.size());
}

std::string summarize(const sorting_report& report) {
    std::string text = fmt::format(
        "{}\n{} features, masks from {}\n"
        "{}\n{:>6} {:>8} {:>8} {:>8} {:>14} {:>6} {:>9} {:>9}  {}\n",
        verdict_of(report), report.features, report.masks_from, how_it_went(report), "unit",
        "spikes", "rate Hz", "channel", "ISI violations", "SNR", "L-ratio", "isolation", "label");
    for (std::size_t u = 0; u < report.units.size(); ++u) {
        if (report.units[u].spikes == 0) continue;
        const unit_quality& quality = report.units[u].quality;
        const std::string channel =
            u < report.peak_channels.size() ? std::to_string(report.peak_channels[u]) : "-";
        fmt::format_to(
            std::back_inserter(text), "{:>6} {:>8} {:>8} {:>8} {:>14} {:>6} {:>9} {:>9}  {}\n",
            u + 1, core::grouped(report.units[u].spikes), shown(quality.rate_hz), channel,
            shown(quality.refractory_violations), shown(quality.snr), shown(quality.l_ratio),
            shown(quality.isolation_distance), shown(report.units[u].verdict));
    }
    return text;
}

std::string summarize_files(const sorting_report& report, const std::filesystem::path& folder) {
    std::string text = fmt::format("written to {}\n", folder.string());
    if (report.sorted.samples.empty())
        return text + "the times of the spikes are not known: no spikes.npz, no phy\n";
    if (!report.sorted.has_times())
        return text +
               "without `sample_rate` the times are known in samples only: no spikes.npz, no phy\n";
    const std::uint64_t noise = report::noise_spikes(report);
    const std::uint64_t duplicates = report.run.duplicates;
    fmt::format_to(std::back_inserter(text),
                   "{}/spikes.npz has the {} spikes of units, for the other commands; it leaves "
                   "out {} of noise",
                   folder.string(), core::grouped(report.sorted.labels.size() - noise - duplicates),
                   core::grouped(noise));
    if (duplicates > 0)
        fmt::format_to(std::back_inserter(text), " and {} at the time of another of their unit",
                       core::grouped(duplicates));
    text += '\n';
    std::error_code unknown;
    if (std::filesystem::exists(folder / "report.html", unknown))
        text += "report.html shows the units in a browser\n";
    return text;
}

}  // namespace spikeweave
