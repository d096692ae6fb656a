#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file_error.hpp"
#include "io/hdf5_reader.hpp"
#include "io/hdf5_schemas.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"
#include "spikes/files/unit_tables.hpp"
#include "spikeweave/spikes/epoch_labels.hpp"
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

// Returns the texts of the column `unit_name`; nothing if there is none or it holds no texts.
// @throws io_error if spikeweave wrote the column and it cannot be used, or there is nothing else.
std::vector<std::string> read_unit_names(const h5::reader& file, std::size_t count, bool has_ids,
                                         std::vector<std::string>& warnings) {
    if (!io::nwb::has_column(file, "units", "unit_name")) return {};
    const h5::column column(file, in_units("unit_name"));
    if (column.size() != count || column.shape().size() > 1)
        column.fail(fmt::format("found {} names, expected {}, one per unit", column.size(), count));
    std::vector<std::string> names =
        column.is_text() ? column.read_text(count) : std::vector<std::string>();
    const std::string problem = column.is_text() ? why_no_names(names) : "holds no text";
    const std::string description = column.attribute("description");
    if (!problem.empty() && (!has_ids || description == nwb_name_column))
        column.fail(fmt::format("{}, expected {} different names", problem, count));
    if (!column.is_text())
        warnings.push_back(fmt::format(
            "The column unit_name {}: the units are called by their ids instead.", problem));
    const std::string mark = column.attribute(nwb_names_mark);
    if (problem.empty() && !mark.empty() && mark != nwb_mark_of(names))
        warnings.emplace_back(
            "The names of the units are not those that spikeweave wrote: the file was edited, or "
            "it is damaged.");
    return names;
}

std::vector<std::string> read_ids(const h5::reader& file, std::size_t count) {
    const h5::column column(file, in_units("id"));
    if (column.size() != count)
        column.fail(fmt::format("found {} ids, expected {}, one per unit", column.size(), count));
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
    return names;
}

// Uses `unit_name` if possible, otherwise the ids, otherwise numbers from 0.
std::vector<std::string> read_names(const h5::reader& file, std::size_t count,
                                    std::vector<std::string>& warnings) {
    const bool has_ids = file.exists(in_units("id"));
    const std::vector<std::string> names = read_unit_names(file, count, has_ids, warnings);
    const bool needs_ids = names.empty() || !why_no_names(names).empty();
    const auto ids = has_ids && needs_ids ? read_ids(file, count) : std::vector<std::string>();
    return names_of_rows(names, ids, count, warnings);
}

std::optional<time_span> read_span(const h5::reader& file, std::vector<std::string>& warnings) {
    if (!io::nwb::has_column(file, "units", "obs_intervals")) return {};
    const h5::column column(file, in_units("obs_intervals"));
    if (column.shape().size() != 2 || column.shape()[1] != 2)
        column.fail("expected rows of a begin and an end");
    constexpr std::uint64_t most_numbers = std::uint64_t{1} << 24;
    return span_of_intervals(column.read_all(most_numbers), warnings,
                             [&](const std::string& problem) { column.fail(problem); });
}

// The times of all units are contiguous, so one pass in large blocks reads them even if they are
// compressed.
// Returns the largest time, in seconds.
double read_times(const h5::column& times, const std::vector<std::uint64_t>& offsets,
                  const std::vector<unit_id>& units, spike_sequence_builder& builder,
                  const reading& job) {
    constexpr std::size_t block_size = std::size_t{1} << 17;
    std::vector<double> block(static_cast<std::size_t>(
        std::min<std::uint64_t>(block_size, std::max<std::uint64_t>(times.size(), 1))));
    const io::progress_meter meter = job.meter(times.size() * sizeof(double));
    std::size_t unit = 0;
    double largest = 0;
    for (std::uint64_t at = 0; at < times.size();) {
        const auto n =
            static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), times.size() - at));
        times.read(at, std::span{block}.first(n));
        for (std::size_t i = 0; i < n; ++i) {
            while (at + i == offsets[unit]) ++unit;
            const auto us = time_scale::seconds().from_real(block[i]);
            if (!us || (*us < 0 && !job.how.allow_negative))
                throw io::file_error(
                    job.path, fmt::format("/units/spike_times, item {}", at + i),
                    us ? found_before_zero(fmt::format("{}", block[i]))
                       : fmt::format("found {}, expected a time in seconds", block[i]));
            largest = std::max(largest, block[i]);
            builder.append(*us, units[unit]);
        }
        at += n;
        meter.at(at * sizeof(double));
    }
    return largest;
}

// The begins or ends of a table; nothing for those that are not known.
std::vector<std::optional<duration>> read_interval_ends(const h5::reader& nwb,
                                                        const std::string& table,
                                                        const char* name) {
    if (!io::nwb::has_column(nwb, table, name))
        throw io::file_error(nwb.path(), "/" + table,
                             fmt::format("has no column {}, expected a table of intervals", name));
    const h5::column column(nwb, fmt::format("{}/{}", table, name));
    constexpr std::uint64_t most_intervals = std::uint64_t{1} << 24;
    std::vector<std::optional<duration>> out;
    for (const double seconds : column.read_all(most_intervals)) {
        const auto us = time_scale::seconds().from_real(seconds);
        if (!us && !std::isnan(seconds))
            column.fail(fmt::format("found {}, expected a time in seconds", seconds));
        out.push_back(us ? std::optional(duration{*us}) : std::nullopt);
    }
    return out;
}

std::string place_of_intervals(const h5::reader& nwb, const std::string& table) {
    const std::string place = "intervals/" + table;
    if (!nwb.exists("intervals") || !nwb.exists(place))
        throw io::file_error(nwb.path(), fmt::format("has no table of intervals '{}'", table));
    return place;
}

bool has_labels(const h5::column& column) {
    return column.shape().size() == 1 && (column.is_text() || column.is_number());
}

// The column of the labels of a table; empty if none is named and it has none.
std::string label_column(const h5::reader& nwb, const std::string& table,
                         const std::string& named) {
    if (!named.empty() && !io::nwb::has_column(nwb, table, named.c_str()))
        throw io::file_error(
            nwb.path(), "/" + table,
            fmt::format("has no column {}, expected the labels", io::shown(named)));
    if (!named.empty()) return named;
    // Other programs have references, or several numbers an interval, in a column of this name.
    const auto serves = [&](const char* name) {
        return io::nwb::has_column(nwb, table, name) &&
               has_labels({nwb, fmt::format("{}/{}", table, name)});
    };
    const auto* const found = std::ranges::find_if(epoch_label_columns, serves);
    return found != epoch_label_columns.end() ? *found : serves("tags") ? "tags" : "";
}

// The items of a column as texts.
std::vector<std::string> texts_of(const h5::column& column) {
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    std::vector<std::string> out;
    if (!has_labels(column)) column.fail("expected a text or a number for each interval");
    if (!column.is_text()) {
        for (const double number : column.read_all(most))
            out.push_back(std::isnan(number) ? "" : fmt::format("{:.10g}", number));
        return out;
    }
    out = column.read_text(most);
    const auto odd = std::ranges::find_if_not(out, io::is_printable_utf8);
    if (odd != out.end())
        column.fail(fmt::format("item {}: found {}, expected printable text in UTF-8",
                                odd - out.begin(), io::shown(*odd)));
    return out;
}

// The texts of each interval, of which it may have several.
std::vector<std::string> joined_texts(const std::vector<std::string>& texts,
                                      const h5::column& ends) {
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    std::vector<std::string> out;
    std::size_t at = 0;
    for (const double end : ends.read_all(most)) {
        if (!(end >= static_cast<double>(at) && end <= static_cast<double>(texts.size())))
            ends.fail(fmt::format("item {}: found {}, expected {} to {}", out.size(), end, at,
                                  texts.size()));
        const auto last = static_cast<std::size_t>(end);
        out.push_back(
            fmt::format("{}", fmt::join(texts.begin() + static_cast<std::ptrdiff_t>(at),
                                        texts.begin() + static_cast<std::ptrdiff_t>(last), ", ")));
        at = last;
    }
    return out;
}

void warn_of_open_ones(const std::string& place, std::size_t open, std::size_t all,
                       std::string_view what, std::vector<std::string>* warnings) {
    if (open == 0 || warnings == nullptr) return;
    warnings->push_back(fmt::format("Of {} intervals in /{}, {} {} not known: {} left out.", all,
                                    place, what,
                                    open == 1 ? "of one is" : fmt::format("of {} are", open),
                                    open == 1 ? "it is" : "they are"));
}

// Returns the signal-to-noise ratios in the order of the units; empty if the table has none.
std::vector<double> read_snr(const h5::reader& file, const std::vector<std::string>& rows,
                             const std::vector<std::string>& units) {
    if (!io::nwb::has_column(file, "units", "snr")) return {};
    const h5::column column(file, in_units("snr"));
    if (column.is_text() || column.shape().size() != 1 || column.size() != rows.size())
        column.fail(fmt::format("expected {} numbers, one per unit", rows.size()));
    return in_order_of_units(column.read_all(rows.size()), rows, units);
}

// Returns the mean position of the electrodes of each unit, as far as they are known.
unit_places read_places(const h5::reader& file, const std::vector<std::string>& rows) {
    const std::string table = "general/extracellular_ephys/electrodes";
    for (const char* const name : {"electrodes", "electrodes_index"})
        if (!io::nwb::has_column(file, "units", name)) return {};
    if (!file.exists("general/extracellular_ephys") || !file.exists(table)) return {};
    constexpr std::uint64_t most = std::uint64_t{1} << 24;
    const auto coordinates = [&](const char* on_probe, const char* in_brain) {
        for (const char* const name : {on_probe, in_brain})
            if (io::nwb::has_column(file, table, name))
                return h5::column(file, fmt::format("{}/{}", table, name)).read_all(most);
        return std::vector<double>();
    };
    const std::vector<double> x = coordinates("rel_x", "x");
    const std::vector<double> y = coordinates("rel_y", "y");
    if (x.empty() || x.size() != y.size()) return {};
    const h5::column electrodes(file, in_units("electrodes"));
    const auto ends = read_offsets(h5::column(file, in_units("electrodes_index")), electrodes);
    if (ends.size() != rows.size())
        electrodes.fail(
            fmt::format("found those of {} units, expected {}", ends.size(), rows.size()));
    std::vector<std::int64_t> listed(electrodes.size());
    electrodes.read(0, listed);
    unit_places out;
    for (std::size_t u = 0; u < rows.size(); ++u) {
        const std::uint64_t begin = u == 0 ? 0 : ends[u - 1];
        unit_place sum;
        for (std::uint64_t i = begin; i < ends[u]; ++i) {
            const auto row = static_cast<std::uint64_t>(listed[i]);
            if (row >= x.size())
                electrodes.fail(
                    fmt::format("item {}: found {}, expected 0 to {}", i, listed[i], x.size() - 1));
            sum = {sum.x_um + x[row], sum.y_um + y[row]};
        }
        const auto number = static_cast<double>(ends[u] - begin);
        if (std::isfinite(sum.x_um / number) && std::isfinite(sum.y_um / number))
            out.emplace(rows[u], unit_place{sum.x_um / number, sum.y_um / number});
    }
    return out;
}

// Returns the columns of texts that may be labels or name doubtful pairs.
std::map<std::string, std::vector<std::string>> read_columns_of_texts(const h5::reader& file,
                                                                      std::size_t count) {
    std::map<std::string, std::vector<std::string>> out;
    for (const std::string& name : columns_of_texts()) {
        if (!io::nwb::has_column(file, "units", name.c_str())) continue;
        const h5::column column(file, in_units(name));
        // Other programs have numbers, or several texts a unit, in a column of this name.
        if (column.is_text() && column.shape().size() == 1 && column.size() == count)
            out[name] = column.read_text(count);
    }
    return out;
}

}  // namespace

spike_file read_nwb(const io::hdf5::reader& nwb, const reading& job) {
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
    const double largest = read_times(times, offsets, units, builder, job);
    if (times.is_float32()) {
        std::string warning = warning_of_32_bits(largest, time_scale::seconds());
        if (!warning.empty()) file.warnings.push_back(std::move(warning));
    }
    finish(file, builder, job, span ? &*span : nullptr);
    if (job.how.cleaning.min_snr) file.snr = read_snr(nwb, names, file.spikes.unit_names());
    const auto texts = read_columns_of_texts(nwb, names.size());
    file.labels = in_order_of_units(labels_in(texts), names, file.spikes.unit_names());
    file.spikes.set_doubtful_pairs(doubtful_pairs_in(texts, names));
    file.spikes.set_places(read_places(nwb, names));
    file.out_of_order = builder.order().out_of_order_in_units();  // the table lists unit by unit
    file.are_clusters = true;
    file.format = spike_format::nwb;
    return file;
}

}  // namespace spikeweave::spikes

namespace spikeweave {

std::vector<time_span> read_nwb_intervals(const std::filesystem::path& path,
                                          const std::string& table, const execution& run,
                                          std::vector<std::string>* warnings) {
    const io::hdf5::reader nwb(path, run.stop);
    const std::string place = spikes::place_of_intervals(nwb, table);
    const auto begins = spikes::read_interval_ends(nwb, place, "start_time");
    const auto ends = spikes::read_interval_ends(nwb, place, "stop_time");
    std::vector<time_span> intervals;
    for (std::size_t i = 0; i < std::min(begins.size(), ends.size()); ++i)
        if (begins[i] && ends[i]) intervals.push_back({*begins[i], *ends[i]});
    if (begins.size() != ends.size() || intervals.empty())
        throw io::file_error(
            path, "/" + place,
            fmt::format("found {} begins and {} ends, expected equal numbers, at least 1 of both",
                        begins.size(), ends.size()));
    spikes::warn_of_open_ones(place, begins.size() - intervals.size(), begins.size(),
                              "the begin or the end", warnings);
    std::ranges::sort(intervals, {}, &time_span::begin);
    return intervals;
}

std::vector<std::int64_t> read_nwb_begins(const std::filesystem::path& path,
                                          const std::string& table, const execution& run,
                                          std::vector<std::string>* warnings) {
    const io::hdf5::reader nwb(path, run.stop);
    const std::string place = spikes::place_of_intervals(nwb, table);
    const auto begins = spikes::read_interval_ends(nwb, place, "start_time");
    std::vector<std::int64_t> known;
    for (const auto& begin : begins)
        if (begin) known.push_back(begin->count());
    if (known.empty())
        throw io::file_error(path, "/" + place, "has no begin of an interval, expected some");
    spikes::warn_of_open_ones(place, begins.size() - known.size(), begins.size(), "the begin",
                              warnings);
    std::ranges::sort(known);
    return known;
}

std::vector<epoch_label> read_nwb_labels(const std::filesystem::path& path,
                                         const std::string& table, const std::string& named,
                                         const execution& run) {
    const io::hdf5::reader nwb(path, run.stop);
    const std::string place = spikes::place_of_intervals(nwb, table);
    const std::string name = spikes::label_column(nwb, place, named);
    if (name.empty()) return {};
    const auto begins = spikes::read_interval_ends(nwb, place, "start_time");
    const std::string index = name + "_index";
    const io::hdf5::column column(nwb, fmt::format("{}/{}", place, name));
    std::vector<std::string> texts = spikes::texts_of(column);
    if (io::nwb::has_column(nwb, place, index.c_str()))
        texts = spikes::joined_texts(texts, {nwb, fmt::format("{}/{}", place, index)});
    if (texts.size() != begins.size())
        column.fail(fmt::format("found {} labels, expected {}, one per interval", texts.size(),
                                begins.size()));
    std::vector<epoch_label> out;
    for (std::size_t i = 0; i < begins.size(); ++i)
        if (begins[i]) out.push_back({*begins[i], std::move(texts[i])});
    std::ranges::stable_sort(out, {}, &epoch_label::begin);
    return out;
}

}  // namespace spikeweave
