#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "described_options.hpp"
#include "output.hpp"
#include "reading.hpp"
#include "recording_options.hpp"
#include "spike_source.hpp"
#include "spikeweave/spikeweave.hpp"

namespace spikeweave::cli {
namespace {

constexpr std::size_t line_width = 96;
// What fits a screen; --json lists every unit.
constexpr std::size_t units_shown = 100;

struct info_options {
    std::string path{};
    spike_read_options how{};
    recording_read_options recording_how{};
    bool json = false;
};

struct unit_rate {
    std::string name{};
    std::size_t spikes = 0;
    double hertz = 0;
};

struct findings {
    const spike_file& file;
    std::vector<unit_rate> units{};
    double lowest = 0;
    double median = 0;
    double highest = 0;
    std::size_t tied = 0;
};

// Spikes that share their microsecond with a spike of another unit.
std::size_t tied_spikes(const spike_sequence& spikes) {
    const auto times = spikes.times_us();
    std::size_t tied = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const bool before = i > 0 && times[i - 1] == times[i];
        const bool after = i + 1 < times.size() && times[i + 1] == times[i];
        if (before || after) ++tied;
    }
    return tied;
}

double median_of_sorted(const std::vector<double>& sorted) {
    const std::size_t n = sorted.size();
    return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

findings look_at(const spike_file& file) {
    findings found{.file = file};
    const spike_trains trains(file.spikes);
    const double seconds = to_seconds(file.spikes.span().length());
    std::vector<double> rates;
    for (std::size_t i = 0; i < file.spikes.unit_count(); ++i) {
        const unit_id unit{static_cast<std::uint32_t>(i)};
        const std::size_t count = trains.count(unit);
        const double hertz = seconds > 0 ? static_cast<double>(count) / seconds : 0;
        found.units.push_back({file.spikes.name(unit), count, hertz});
        rates.push_back(hertz);
    }
    std::sort(rates.begin(), rates.end());
    if (!rates.empty()) {
        found.lowest = rates.front();
        found.median = median_of_sorted(rates);
        found.highest = rates.back();
    }
    found.tied = tied_spikes(file.spikes);
    return found;
}

nlohmann::ordered_json as_json(const findings& found, const std::string& path) {
    const spike_file& file = found.file;
    nlohmann::ordered_json units = nlohmann::ordered_json::array();
    for (const unit_rate& unit : found.units)
        units.push_back({{"name", unit.name}, {"spikes", unit.spikes}, {"rate_hz", unit.hertz}});
    return {
        {"file", path},
        {"format", std::string(to_string(file.format))},
        {"spikes", file.spikes.size()},
        {"unit_count", file.spikes.unit_count()},
        {"span_s", {to_seconds(file.spikes.span().begin), to_seconds(file.spikes.span().end)}},
        {"rate_hz",
         {{"lowest", found.lowest}, {"median", found.median}, {"highest", found.highest}}},
        {"tied_spikes", found.tied},
        {"duplicates_dropped", file.duplicates},
        {"out_of_order", file.out_of_order},
        {"stimulus_markers", file.stimulus_us.size()},
        {"warnings", file.warnings},
        {"units", units},
    };
}

// Names and rates in as many columns as fit.
std::string rate_table(const std::vector<unit_rate>& units) {
    const std::size_t shown = std::min(units.size(), units_shown);
    std::size_t name_width = 0;
    for (std::size_t i = 0; i < shown; ++i) name_width = std::max(name_width, units[i].name.size());
    const std::size_t column = name_width + 13;
    const std::size_t columns = std::max<std::size_t>(1, line_width / column);
    const std::size_t rows = (shown + columns - 1) / columns;
    std::string text = "rates in Hz\n";
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = row; i < shown; i += rows)
            text += fmt::format("  {:<{}} {:>8.2f}  ", units[i].name, name_width, units[i].hertz);
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    if (shown < units.size())
        text += fmt::format("  and {} more units (--json lists all)\n", units.size() - shown);
    return text;
}

std::string as_text(const findings& found, const std::string& path) {
    const spike_file& file = found.file;
    const time_span span = file.spikes.span();
    std::string text = fmt::format("file           {} ({})\n", path, to_string(file.format));
    text += fmt::format("spikes         {} of {} units\n", grouped(file.spikes.size()),
                        grouped(file.spikes.unit_count()));
    text += fmt::format("span           {} to {}, {} long\n", format_duration(span.begin),
                        format_duration(span.end), format_duration(span.length()));
    text += fmt::format("unit rates     lowest {:.2f} Hz, median {:.2f} Hz, highest {:.2f} Hz\n",
                        found.lowest, found.median, found.highest);
    text += fmt::format("ties           {} spikes at the same microsecond as another unit's\n",
                        grouped(found.tied));
    text += fmt::format("duplicates     {} dropped\n", grouped(file.duplicates));
    text += fmt::format("out of order   {}\n", grouped(file.out_of_order));
    text += fmt::format("stimuli        {} markers\n", grouped(file.stimulus_us.size()));
    text += rate_table(found.units);
    for (const std::string& warning : file.warnings) text += fmt::format("warning: {}\n", warning);
    return text;
}

void info_of_recording(const info_options& options, session& now) {
    const recording what = read_recording(options.path, options.recording_how, now.run());
    if (options.json)
        write_stdout(describe_json(what) + "\n");
    else if (!now.quiet)
        write_stdout(describe_text(what));
}

void info(const info_options& options, session& now) {
    if (options.how.format == spike_format::automatic && !is_standard_input(options.path) &&
        is_recording(options.path, options.recording_how, now.run()))
        return info_of_recording(options, now);
    if (options.recording_how != recording_read_options{})
        throw invalid_argument(
            fmt::format("'{}' is a file of spikes, to which the options of recordings do not apply",
                        options.path));
    spike_file file = spike_source(options.path, now.stop).read(options.how, now.run());
    now.stop_if_asked();
    for (std::string& warning : check_spikes(file.spikes))
        file.warnings.push_back(std::move(warning));
    const findings found = look_at(file);
    now.progress.clear();
    // A unit's name may be any bytes in a text file; JSON may not.
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    if (options.json)
        write_stdout(as_json(found, options.path).dump(2, ' ', false, replace) + "\n");
    else if (!now.quiet)
        write_stdout(as_text(found, options.path));
}

}  // namespace

void add_info(CLI::App& app, verb& chosen) {
    const auto options = std::make_shared<info_options>();
    CLI::App& sub = *app.add_subcommand("info", "Summarise a file of spikes or a recording.");
    add_reading(sub, options->path, options->how);
    add_described(sub, std::make_shared<option_list>(describe(options->recording_how)));
    sub.add_flag("--json", options->json, "print one JSON document");
    sub.footer("Example: spikeweave info culture.spk.txt");
    sub.callback([options, &chosen] { chosen = [options](session& now) { info(*options, now); }; });
}

}  // namespace spikeweave::cli
