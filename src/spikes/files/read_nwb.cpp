#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_error.hpp"
#include "io/hdf5_reader.hpp"
#include "io/nwb_schema.hpp"
#include "spikes/files/nwb.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::spikes {
namespace {

namespace h5 = io::hdf5;

std::string in_units(std::string_view name) {
    return fmt::format("units/{}", name);
}

std::vector<std::uint64_t> read_offsets(const h5::column& ends, const h5::column& times) {
    // An index has one number per unit; a file with more than this is damaged.
    constexpr std::uint64_t most_units = std::uint64_t{1} << 22;
    if (ends.size() > most_units)
        ends.fail(fmt::format("found {} units, expected at most {}", ends.size(), most_units));
    std::vector<std::uint64_t> offsets(ends.size());
    ends.read(0, offsets);
    std::uint64_t last = 0;
    for (std::size_t u = 0; u < offsets.size(); ++u) {
        if (offsets[u] < last || offsets[u] > times.size())
            ends.fail(fmt::format("item {}: found {}, expected {} to {}", u, offsets[u], last,
                                  times.size()));
        last = offsets[u];
    }
    if (last != times.size())
        ends.fail(fmt::format("found {} spikes of units, expected all {}", last, times.size()));
    return offsets;
}

bool all_different(const std::vector<std::string>& names) {
    return std::set<std::string_view>(names.begin(), names.end()).size() == names.size();
}

// Returns why the names of a table cannot be those of its units; empty if they can.
std::string why_not(const h5::column& column, const std::vector<std::string>& names) {
    if (!column.is_text()) return "holds no text";
    if (!all_different(names)) return "has names that repeat";
    if (!std::all_of(names.begin(), names.end(), io::is_printable_utf8))
        return "has names that are empty or do not print";
    return {};
}

// Returns the column `unit_name` if it is usable; otherwise nothing, and a warning.
std::vector<std::string> read_unit_names(const h5::reader& file, std::size_t count, bool has_ids,
                                         std::vector<std::string>& warnings) {
    if (!io::nwb::has_column(file, "units", "unit_name")) return {};
    const h5::column column(file, in_units("unit_name"));
    if (column.size() != count || column.shape().size() > 1)
        column.fail(fmt::format("found {} names, expected {}, one a unit", column.size(), count));
    std::vector<std::string> names =
        column.is_text() ? column.read_text(count) : std::vector<std::string>();
    const std::string problem = why_not(column, names);
    const std::string description = column.attribute("description");
    if (!problem.empty() && (!has_ids || description == nwb_name_column))
        column.fail(fmt::format("{}, expected {} different names", problem, count));
    if (!problem.empty()) {
        warnings.push_back(fmt::format(
            "The column unit_name {}: the units are called by their ids instead.", problem));
        return {};
    }
    const std::string mark = column.attribute(nwb_names_mark);
    if (!mark.empty() && mark != nwb_mark_of(names))
        warnings.emplace_back(
            "The names of the units are not those that spikeweave wrote: the file was edited, or "
            "it is damaged.");
    return names;
}

std::vector<std::string> read_ids(const h5::reader& file, std::size_t count) {
    const h5::column column(file, in_units("id"));
    if (column.size() != count)
        column.fail(fmt::format("found {} ids, expected {}, one a unit", column.size(), count));
    std::vector<std::string> names;
    if (column.is_unsigned()) {
        std::vector<std::uint64_t> ids(count);
        column.read(0, ids);
        for (const std::uint64_t id : ids) names.push_back(std::to_string(id));
    } else {
        std::vector<std::int64_t> ids(count);
        column.read(0, ids);
        for (const std::int64_t id : ids) names.push_back(std::to_string(id));
    }
    if (!all_different(names)) column.fail("has ids that repeat");
    return names;
}

// Uses `unit_name` if possible, otherwise the ids, otherwise numbers from 0.
std::vector<std::string> read_names(const h5::reader& file, std::size_t count,
                                    std::vector<std::string>& warnings) {
    const bool has_ids = file.exists(in_units("id"));
    std::vector<std::string> names = read_unit_names(file, count, has_ids, warnings);
    if (names.empty() && has_ids) return read_ids(file, count);
    if (!names.empty() || count == 0) return names;
    warnings.emplace_back("The table of units has no ids: the units are numbered from 0.");
    for (std::size_t u = 0; u < count; ++u) names.push_back(std::to_string(u));
    return names;
}

std::optional<time_span> read_span(const h5::reader& file, std::vector<std::string>& warnings) {
    if (!io::nwb::has_column(file, "units", "obs_intervals")) return {};
    const h5::column column(file, in_units("obs_intervals"));
    if (column.shape().size() != 2 || column.shape()[1] != 2)
        column.fail("expected rows of a begin and an end");
    constexpr std::uint64_t most_numbers = std::uint64_t{1} << 24;
    const std::vector<double> ends = column.read_all(most_numbers);
    if (ends.empty()) return {};
    std::optional<time_span> span;
    std::set<std::int64_t> starts;
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
        const auto begin = time_scale::seconds().from_real(ends[i]);
        const auto end = time_scale::seconds().from_real(ends[i + 1]);
        if (!begin || !end || *end < *begin)
            column.fail(fmt::format("row {}: found {} to {}, expected seconds", i / 2, ends[i],
                                    ends[i + 1]));
        starts.insert(*begin);
        if (!span) span = {duration{*begin}, duration{*end}};
        span->begin = std::min(span->begin, duration{*begin});
        span->end = std::max(span->end, duration{*end});
    }
    if (starts.size() > 1)
        warnings.push_back(
            fmt::format("The observed span consists of {} intervals or differs between units; it "
                        "is taken as one from {} to {}.",
                        starts.size(), format_duration(span->begin), format_duration(span->end)));
    return span;
}

// The times of all units are contiguous, so one pass in large blocks reads them even if they are
// compressed.
std::size_t read_times(const h5::column& times, const std::vector<std::uint64_t>& offsets,
                       const std::vector<unit_id>& units, spike_sequence_builder& builder,
                       const reading& job) {
    constexpr std::size_t block_size = std::size_t{1} << 17;
    std::vector<double> block(static_cast<std::size_t>(
        std::min<std::uint64_t>(block_size, std::max<std::uint64_t>(times.size(), 1))));
    const io::progress_meter meter = job.meter(times.size() * sizeof(double));
    std::size_t unit = 0;
    std::size_t out_of_order = 0;
    std::int64_t last = INT64_MIN;
    for (std::uint64_t at = 0; at < times.size();) {
        const auto n =
            static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), times.size() - at));
        times.read(at, std::span{block}.first(n));
        for (std::size_t i = 0; i < n; ++i) {
            for (; at + i == offsets[unit]; ++unit) last = INT64_MIN;
            const auto us = time_scale::seconds().from_real(block[i]);
            if (!us || (*us < 0 && !job.how.allow_negative))
                throw io::file_error(
                    job.path, fmt::format("/units/spike_times, item {}", at + i),
                    us ? found_before_zero(fmt::format("{}", block[i]))
                       : fmt::format("found {}, expected a time in seconds", block[i]));
            out_of_order += *us < last ? 1 : 0;
            last = *us;
            builder.append(*us, units[unit]);
        }
        at += n;
        meter.at(at * sizeof(double));
    }
    return out_of_order;
}

std::vector<duration> read_interval_ends(const h5::reader& nwb, const std::string& table,
                                         const char* name) {
    if (!io::nwb::has_column(nwb, table, name))
        throw io::file_error(nwb.path(), "/" + table,
                             fmt::format("has no column {}, expected a table of intervals", name));
    const h5::column column(nwb, fmt::format("{}/{}", table, name));
    constexpr std::uint64_t most_intervals = std::uint64_t{1} << 24;
    std::vector<duration> out;
    for (const double seconds : column.read_all(most_intervals)) {
        const auto us = time_scale::seconds().from_real(seconds);
        if (!us) column.fail(fmt::format("found {}, expected a time in seconds", seconds));
        out.emplace_back(*us);
    }
    return out;
}

template <class Value>
std::vector<Value> in_order_of_units(const std::vector<Value>& values,
                                     const std::vector<std::string>& rows,
                                     const std::vector<std::string>& units) {
    std::map<std::string_view, const Value*> of_unit;
    for (std::size_t row = 0; row < rows.size(); ++row) of_unit[rows[row]] = &values[row];
    std::vector<Value> out;
    out.reserve(units.size());
    for (const std::string& unit : units) out.push_back(*of_unit.at(unit));
    return out;
}

// Returns the signal-to-noise ratios in the order of the units; empty if the table has none.
std::vector<double> read_snr(const h5::reader& file, const std::vector<std::string>& rows,
                             const std::vector<std::string>& units) {
    if (!io::nwb::has_column(file, "units", "snr")) return {};
    const h5::column column(file, in_units("snr"));
    if (column.is_text() || column.shape().size() != 1 || column.size() != rows.size())
        column.fail(fmt::format("expected {} numbers, one a unit", rows.size()));
    return in_order_of_units(column.read_all(rows.size()), rows, units);
}

// Returns the labels in the order of the units; empty if the table has none.
std::vector<std::string> read_quality(const h5::reader& file, const std::vector<std::string>& rows,
                                      const std::vector<std::string>& units) {
    if (!io::nwb::has_column(file, "units", "quality")) return {};
    const h5::column column(file, in_units("quality"));
    // Other programs have numbers, or several texts a unit, in a column of this name.
    if (!column.is_text() || column.shape().size() != 1 || column.size() != rows.size()) return {};
    return in_order_of_units(column.read_text(rows.size()), rows, units);
}

}  // namespace

spike_file read_nwb(const reading& job) {
    const h5::reader nwb(job.path, job.run.stop);
    if (!nwb.exists("units"))
        throw io::file_error(job.path, "has no table /units, expected the spikes of sorted units");
    for (const char* name : {"spike_times", "spike_times_index"})
        if (!nwb.exists(in_units(name)))
            throw io::file_error(job.path, "/units",
                                 fmt::format("has no column {}, expected the spikes", name));
    const h5::column times(nwb, in_units("spike_times"));
    const h5::column ends(nwb, in_units("spike_times_index"));
    if (times.shape().size() != 1 || ends.shape().size() != 1)
        throw io::file_error(job.path, "/units/spike_times", "expected one dimension");
    const auto offsets = read_offsets(ends, times);

    spike_file file;
    spike_sequence_builder builder;
    std::vector<unit_id> units;
    const std::vector<std::string> names = read_names(nwb, offsets.size(), file.warnings);
    units.reserve(names.size());
    for (const std::string& name : names) units.push_back(builder.unit(name));
    const auto span = read_span(nwb, file.warnings);
    const std::size_t out_of_order = read_times(times, offsets, units, builder, job);
    finish(file, builder, job, span ? &*span : nullptr);
    if (job.how.cleaning.min_snr) file.snr = read_snr(nwb, names, file.spikes.unit_names());
    file.labels = read_quality(nwb, names, file.spikes.unit_names());
    file.out_of_order = out_of_order;  // within a unit: the table lists unit by unit
    return file;
}

}  // namespace spikeweave::spikes

namespace spikeweave {

std::vector<time_span> read_nwb_intervals(const std::filesystem::path& path,
                                          const std::string& table, const execution& run) {
    const io::hdf5::reader nwb(path, run.stop);
    const std::string place = "intervals/" + table;
    if (!nwb.exists("intervals") || !nwb.exists(place))
        throw io::file_error(path, fmt::format("has no table of intervals '{}'", table));
    const std::vector<duration> begins = spikes::read_interval_ends(nwb, place, "start_time");
    const std::vector<duration> ends = spikes::read_interval_ends(nwb, place, "stop_time");
    if (begins.size() != ends.size() || begins.empty())
        throw io::file_error(
            path, "/" + place,
            fmt::format("found {} begins and {} ends, expected as many, at least 1", begins.size(),
                        ends.size()));
    std::vector<time_span> intervals;
    for (std::size_t i = 0; i < begins.size(); ++i) intervals.push_back({begins[i], ends[i]});
    std::ranges::sort(intervals, {}, &time_span::begin);
    return intervals;
}

}  // namespace spikeweave
