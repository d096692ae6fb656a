#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/text.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/report/episodes.hpp"

namespace spikeweave {
namespace {

std::string line_of(const spike_sequence& spikes, const episode& what) {
    std::string text = spikes.name(what.units.front());
    for (std::size_t i = 0; i < what.delays.size(); ++i)
        text += fmt::format(" →{}→ {}", format_delay_interval(what.delays[i]),
                            spikes.name(what.units[i + 1]));
    return text;
}

std::string delays_text(std::span<const delay_interval> delays) {
    std::string text;
    for (const delay_interval& interval : delays)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", format_delay_interval(interval));
    if (std::ranges::equal(delays, default_delays()))
        text += " (the default; `delays` sets others)";
    return text;
}

}  // namespace

std::uint64_t json_bytes(const episode_report& report) {
    constexpr std::uint64_t per_episode = 2000;
    constexpr std::uint64_t per_unit = 500;
    std::uint64_t bytes = 0;
    for (const counted_episode& one : report.table.episodes)
        bytes += per_episode + per_unit * one.what.units.size();
    return bytes;
}

std::string summarize_search(const episode_report& report, std::span<const delay_interval> delays) {
    const episode_table& table = report.table;
    std::string text;
    if (!delays.empty())
        text += fmt::format("delays     {}\nthreshold  {}\n", delays_text(delays),
                            core::grouped(table.threshold));
    text +=
        fmt::format("ties       {}\nstrategy   {}", to_string(table.ties), to_string(table.ran_on));
    if (!table.ran_on_devices.empty())
        text += fmt::format(" on {}", format_devices(table.ran_on_devices));
    return text + "\n\n";
}

std::string summarize_counts(const episode_report& report) {
    std::string text = fmt::format("{:>10} {:>12} {:>10} {:>10} {:>9}  episode\n", "count",
                                   "expected", "p", "q", "strength");
    const std::vector<episode_test> deciding =
        report.surrogates.empty() ? report.assessed
                                  : with_surrogate_tests(report.assessed, report.surrogates);
    for (std::size_t i = 0; i < deciding.size(); ++i) {
        const auto& [what, count] = report.table.episodes[i];
        const episode_test& test = deciding[i];
        text +=
            fmt::format("{:>10} {:>12.2f} {:>10.2g} {:>10.2g} {:>9.2f}  {}\n", count, test.expected,
                        test.p, test.q, test.strength, line_of(report.spikes, what));
    }
    return text;
}

std::string summarize_files(const episode_report& report, const std::filesystem::path& folder) {
    constexpr std::uintmax_t large = 10'000'000;
    std::error_code unknown;
    const auto bytes = std::filesystem::file_size(folder / "episodes.tsv", unknown);
    std::string text = fmt::format("written to {}: episodes.tsv has {} episodes, {}\n",
                                   folder.string(), core::grouped(report.table.episodes.size()),
                                   format_memory(unknown ? 0 : bytes));
    if (std::filesystem::exists(folder / "report.html", unknown))
        text += "report.html shows the result in a browser\n";
    if (!unknown && bytes > large)
        text +=
            "`max_size` or a larger `min_count` gives fewer episodes, `surrogates` tells bursts "
            "from chains\n";
    return text;
}

}  // namespace spikeweave
