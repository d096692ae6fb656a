#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "io/file_error.hpp"
#include "io/hdf5.hpp"
#include "spikes/nwb.hpp"
#include "spikes/readers.hpp"
#include "spikes/time_scale.hpp"

namespace spikeweave {
namespace {

namespace h5 = io::hdf5;

std::vector<std::uint64_t> read_offsets(const h5::column& ends, const h5::column& times,
                                        const reading& job) {
    // An index has one number a unit; more than this is a damaged file.
    constexpr std::uint64_t most_units = std::uint64_t{1} << 26;
    if (ends.size() > most_units)
        throw io::file_error(
            job.path, "/units/spike_times_index",
            fmt::format("found {} units, expected at most {}", ends.size(), most_units));
    std::vector<std::uint64_t> offsets(ends.size());
    ends.read(0, offsets);
    std::uint64_t last = 0;
    for (std::size_t u = 0; u < offsets.size(); ++u) {
        if (offsets[u] < last || offsets[u] > times.size())
            throw io::file_error(
                job.path, fmt::format("/units/spike_times_index, item {}", u),
                fmt::format("found {}, expected {} to {}", offsets[u], last, times.size()));
        last = offsets[u];
    }
    if (last != times.size())
        throw io::file_error(
            job.path, "/units/spike_times_index",
            fmt::format("found {} spikes of units, expected all {}", last, times.size()));
    return offsets;
}

bool all_different(const std::vector<std::string>& names) {
    return std::set<std::string_view>(names.begin(), names.end()).size() == names.size();
}

// The ids, unless spikeweave wrote the names, or there are no ids.
std::vector<std::string> read_names(hid_t units, std::size_t count, const reading& job) {
    std::vector<std::string> names;
    const bool has_ids = h5::exists(units, "id");
    if (h5::exists(units, "unit_name")) {
        const h5::column column(job.path, units, "unit_name");
        if (column.is_text() && (!has_ids || column.attribute("description") == nwb_name_column))
            names = column.read_text();
    }
    if (names.empty() && has_ids) {
        const h5::column column(job.path, units, "id");
        if (column.size() != count)
            throw io::file_error(
                job.path, "/units/id",
                fmt::format("found {} ids, expected {}, one a unit", column.size(), count));
        std::vector<std::int64_t> ids(count);
        column.read(0, ids);
        for (const std::int64_t id : ids) names.push_back(std::to_string(id));
    }
    if (names.empty())
        for (std::size_t u = 0; u < count; ++u) names.push_back(std::to_string(u));
    if (names.size() != count || !all_different(names) ||
        !std::all_of(names.begin(), names.end(), io::is_printable_utf8))
        throw io::file_error(
            job.path, "/units",
            fmt::format("found {} names, expected {} different ones", names.size(), count));
    return names;
}

std::optional<time_span> read_span(hid_t units, const reading& job,
                                   std::vector<std::string>& warnings) {
    if (!h5::exists(units, "obs_intervals")) return {};
    const h5::column column(job.path, units, "obs_intervals");
    if (column.shape().size() != 2 || column.shape()[1] != 2)
        throw io::file_error(job.path, "/units/obs_intervals",
                             "expected rows of a begin and an end");
    const std::vector<double> ends = column.read_all();
    if (ends.empty()) return {};
    std::optional<time_span> span;
    std::set<std::int64_t> starts;
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
        const auto begin = time_scale::seconds().from_real(ends[i]);
        const auto end = time_scale::seconds().from_real(ends[i + 1]);
        if (!begin || !end || *end < *begin)
            throw io::file_error(
                job.path, fmt::format("/units/obs_intervals, row {}", i / 2),
                fmt::format("found {} to {}, expected seconds", ends[i], ends[i + 1]));
        starts.insert(*begin);
        if (!span) span = {duration{*begin}, duration{*end}};
        span->begin = std::min(span->begin, duration{*begin});
        span->end = std::max(span->end, duration{*end});
    }
    if (starts.size() > 1)
        warnings.push_back(fmt::format(
            "What was observed consists of {} stretches or differs between units; it is taken as "
            "one from {} to {}.",
            starts.size(), format_duration(span->begin), format_duration(span->end)));
    return span;
}

// All units' times stand one after another, so that one pass in large blocks reads them even where
// they are packed.
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
                    us ? fmt::format("found the time {} before zero, expected none (recordings "
                                     "aligned to an event need negative times to be allowed)",
                                     block[i])
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

}  // namespace

spike_file read_nwb(const reading& job) {
    const h5::quiet no_printing;
    const h5::handle nwb = h5::open_file(job.path);
    if (!h5::exists(nwb.get(), "units"))
        throw io::file_error(job.path, "has no table /units, expected the spikes of sorted units");
    const h5::handle group = h5::open_group(job.path, nwb.get(), "units");
    for (const char* name : {"spike_times", "spike_times_index"})
        if (!h5::exists(group.get(), name))
            throw io::file_error(job.path, "/units",
                                 fmt::format("has no column {}, expected the spikes", name));
    const h5::column times(job.path, group.get(), "spike_times");
    const h5::column ends(job.path, group.get(), "spike_times_index");
    if (times.shape().size() != 1 || ends.shape().size() != 1)
        throw io::file_error(job.path, "/units/spike_times", "expected one dimension");
    const auto offsets = read_offsets(ends, times, job);

    spike_file file;
    spike_sequence_builder builder;
    std::vector<unit_id> units;
    for (const std::string& name : read_names(group.get(), offsets.size(), job))
        units.push_back(builder.unit(name));
    const auto span = read_span(group.get(), job, file.warnings);
    const std::size_t out_of_order = read_times(times, offsets, units, builder, job);
    finish(file, builder, job, span ? &*span : nullptr);
    file.out_of_order = out_of_order;  // within a unit: the table holds one unit after another
    return file;
}

}  // namespace spikeweave
