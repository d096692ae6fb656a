#include "episodes_text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "output.hpp"
#include "spikeweave/core/memory.hpp"

namespace spikeweave::cli {
namespace {

std::string chain_text(const spike_sequence& spikes, const episode& what) {
    std::string text = spikes.name(what.units.front());
    for (std::size_t i = 0; i < what.delays.size(); ++i)
        text += fmt::format(" →{}→ {}", format_delay_interval(what.delays[i]),
                            spikes.name(what.units[i + 1]));
    return text;
}

// What ran, and on which GPUs.
std::string strategy_text(const episode_table& table) {
    std::string text(to_string(table.ran_on));
    if (!table.ran_on_devices.empty())
        text += fmt::format(" on {}", format_devices(table.ran_on_devices));
    return text;
}

std::string delays_text(const std::vector<delay_interval>& delays) {
    std::string text;
    for (const delay_interval& interval : delays)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", format_delay_interval(interval));
    return text;
}

}  // namespace

std::string counts_text(const episode_report& report) {
    std::string text;
    const bool surrogates = !report.surrogates.empty();
    text += fmt::format("{:>10} {:>12} {:>10} {:>10} {:>9}  episode\n", "count", "expected", "p",
                        "q", "strength");
    const std::vector<episode_test> judged =
        surrogates ? with_surrogate_tests(report.assessed, report.surrogates) : report.assessed;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        const counted_episode& counted = report.table.episodes[i];
        text += fmt::format("{:>10} {:>12.2f} {:>10.2g} {:>10.2g} {:>9.2f}  {}\n", counted.count,
                            judged[i].expected, judged[i].p, judged[i].q, judged[i].strength,
                            chain_text(report.spikes, counted.what));
    }
    return text;
}

std::string how_counted(const episode_report& report, const episode_options& asked, bool mined) {
    const episode_table& table = report.table;
    std::string text;
    if (mined)
        text += fmt::format(
            "delays     {}{}\nthreshold  {}\n", delays_text(asked.mining.delays),
            asked.mining.delays == default_delays() ? " (the default; --delays sets others)" : "",
            grouped(table.threshold));
    return text + fmt::format("ties       {}\nstrategy   {}\n\n", to_string(table.ties),
                              strategy_text(table));
}

std::uint64_t bytes_of_document(const episode_table& table) {
    constexpr std::uint64_t per_episode = 2000;
    constexpr std::uint64_t per_unit = 500;
    std::uint64_t bytes = 0;
    for (const counted_episode& one : table.episodes)
        bytes += per_episode + per_unit * one.what.units.size();
    return bytes;
}

std::string written_text(const std::string& folder, const episode_table& table) {
    constexpr std::uintmax_t large = 10'000'000;
    std::error_code unknown;
    const auto bytes =
        std::filesystem::file_size(std::filesystem::path(folder) / "episodes.tsv", unknown);
    std::string text =
        fmt::format("written to {}: episodes.tsv has {} episodes, {}\n", folder,
                    grouped(table.episodes.size()), format_memory(unknown ? 0 : bytes));
    if (!unknown && bytes > large)
        text +=
            "--max-size or a larger --min-count gives fewer episodes, --surrogates tells bursts "
            "from chains\n";
    return text;
}

}  // namespace spikeweave::cli
