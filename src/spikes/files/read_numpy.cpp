#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/random_file.hpp"
#include "io/zip.hpp"
#include "spikes/files/numpy_times.hpp"
#include "spikes/files/unit_tables.hpp"

namespace spikeweave::spikes {
namespace {

const io::zip_entry* find_array(const io::zip_reader& archive,
                                std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const auto* entry = archive.find(std::string(name) + ".npy")) return entry;
    return nullptr;
}

io::npy_reader open_array(const io::zip_reader& archive, const io::zip_entry& entry,
                          const reading& job) {
    const std::string name = entry.name.substr(0, entry.name.size() - 4);
    return {archive.open(entry), fmt::format("'{}', array '{}'", job.path.string(), name)};
}

// Reads the ends of the recorded segments.
std::vector<std::int64_t> read_ends(io::npy_reader array) {
    std::vector<std::int64_t> out;
    std::array<double, 1024> block{};
    while (const std::size_t n = array.read(std::span{block}))
        for (std::size_t i = 0; i < n; ++i) {
            const auto us = time_scale::seconds().from_real(block[i]);
            if (!us)
                throw io_error(fmt::format("{}: item {}: found {}, expected a time in seconds",
                                           array.what(), out.size(), block[i]));
            out.push_back(*us);
        }
    array.expect_end();
    return out;
}

std::optional<time_span> read_span(const io::zip_reader& archive, const reading& job,
                                   std::vector<std::string>& warnings) {
    const auto* start = find_array(archive, {"start"});
    const auto* end = find_array(archive, {"end"});
    if (start == nullptr || end == nullptr) return {};
    const auto starts = read_ends(open_array(archive, *start, job));
    const auto ends = read_ends(open_array(archive, *end, job));
    if (starts.size() != ends.size())
        throw io::file_error(
            job.path,
            fmt::format("holds {} starts and {} ends of the recorded span, expected equal numbers",
                        starts.size(), ends.size()));
    if (starts.empty()) return {};
    const time_span span{duration{*std::min_element(starts.begin(), starts.end())},
                         duration{*std::max_element(ends.begin(), ends.end())}};
    if (span.end < span.begin)
        throw io::file_error(job.path,
                             fmt::format("the recorded span ends at {}, before it begins at {}",
                                         format_duration(span.end), format_duration(span.begin)));
    if (starts.size() > 1)
        warnings.push_back(fmt::format(
            "The recorded span consists of {} intervals; they are treated as one from {} to {}.",
            starts.size(), format_duration(span.begin), format_duration(span.end)));
    return span;
}

// Units may be given as texts, which are their names.
void read_labelled(io::npy_reader& times, io::npy_reader& labels, numpy_times& to_us,
                   spike_sequence_builder& builder, const io::progress_meter& meter) {
    std::vector<std::int64_t> block(numpy_block);
    std::uint64_t record = 0;
    const std::uint64_t bytes = times.header().item_bytes + labels.header().item_bytes;
    while (const std::size_t n = to_us.read(times, block)) {
        for (std::size_t i = 0; i < n; ++i, ++record) {
            const std::string label = labels.read_text();
            if (!io::is_printable_utf8(label))
                throw io_error(fmt::format("{}: item {}: found {}, expected the name of a unit",
                                           labels.what(), record, io::shown(label)));
            builder.append(block[i], builder.unit(label));
        }
        meter.at(record * bytes);
    }
}

// Names the units of a TsGroup: by its keys, or by the texts that write_npz stores beside them.
// Returns the names in the order of the keys; nothing without keys.
std::vector<std::string> name_units(const io::zip_reader& archive, const reading& job,
                                    integer_units& units) {
    const auto* keys_entry = find_array(archive, {"keys"});
    if (keys_entry == nullptr) return {};
    std::vector<std::string> out;
    io::npy_reader key_array = open_array(archive, *keys_entry, job);
    const auto keys = io::read_whole<std::int64_t>(key_array);
    if (const auto* names_entry = find_array(archive, {"unit_name"})) {
        io::npy_reader names = open_array(archive, *names_entry, job);
        if (names.header().count() != keys.size())
            throw io_error(fmt::format("{}: holds {} names, expected {}, one per unit",
                                       names.what(), names.header().count(), keys.size()));
        std::set<std::string> seen;
        for (const std::int64_t key : keys) {
            const std::string name = names.read_text();
            if (!io::is_printable_utf8(name))
                throw io_error(fmt::format("{}: found {}, expected the name of a unit",
                                           names.what(), io::shown(name)));
            if (!seen.insert(name).second)
                throw io_error(fmt::format("{}: found {} twice, expected different names",
                                           names.what(), io::shown(name)));
            units.name(key, name);
            out.push_back(name);
        }
        names.expect_end();
    } else {
        for (const std::int64_t key : keys) {
            units.find(key);
            out.push_back(std::to_string(key));
        }
    }
    return out;
}

// Returns the texts of an array that other programs may use for something else; nothing if it is no
// array of texts with this number of items.
std::vector<std::string> read_texts_if_any(const io::zip_reader& archive,
                                           const io::zip_entry& entry, std::size_t count,
                                           const reading& job) {
    std::vector<std::string> out;
    try {
        io::npy_reader texts = open_array(archive, entry, job);
        if (texts.header().is_number() || texts.header().count() != count) return {};
        for (std::size_t i = 0; i < count; ++i) out.push_back(texts.read_text());
        texts.expect_end();
    } catch (const io_error&) {
        return {};
    }
    return out;
}

// Takes labels and doubtful pairs from arrays that have a text for each of `named`, as pynapple
// writes metadata.
void take_texts(const io::zip_reader& archive, const reading& job,
                const std::vector<std::string>& named, spike_file& file) {
    std::map<std::string, std::vector<std::string>> columns;
    for (const std::string& name : columns_of_texts())
        if (const auto* entry = archive.find(name + ".npy"))
            columns[name] = read_texts_if_any(archive, *entry, named.size(), job);
    file.labels = in_order_of_units(labels_in(columns), named, file.spikes.unit_names());
    file.spikes.set_doubtful_pairs(doubtful_pairs_in(columns, named));
}

}  // namespace

spike_file read_npz(const reading& job) {
    const io::zip_reader archive(job.path);
    const auto* times_entry = find_array(archive, {"t", "times", "spike_times", "time"});
    const auto* units_entry =
        find_array(archive, {"index", "units", "unit", "unit_index", "clusters", "spike_clusters"});
    if (times_entry == nullptr || units_entry == nullptr) {
        std::vector<std::string> found;
        for (const auto& entry : archive.entries()) found.push_back(io::shown(entry.name));
        throw io::file_error(job.path,
                             fmt::format("found the arrays {}; expected 't' or 'times', and "
                                         "'index' or 'units'",
                                         fmt::join(found, ", ")));
    }
    io::npy_reader times = open_array(archive, *times_entry, job);
    io::npy_reader units = open_array(archive, *units_entry, job);
    if (times.header().count() != units.header().count())
        throw io::file_error(job.path,
                             fmt::format("holds {} times and {} units, expected equal numbers",
                                         times.header().count(), units.header().count()));
    spike_file file;
    const auto span = read_span(archive, job, file.warnings);
    spike_sequence_builder builder;
    numpy_times to_us(times, job);
    const io::progress_meter meter =
        job.meter(times.header().count() * (times.header().item_bytes + units.header().item_bytes));
    std::vector<std::string> named;
    if (units.header().is_number()) {
        integer_units numbers(builder);
        named = name_units(archive, job, numbers);
        read_spike_arrays(times, units, to_us, numbers, builder, meter);
    } else {
        read_labelled(times, units, to_us, builder, meter);
    }
    times.expect_end();
    units.expect_end();
    to_us.check_resolution(times, file);
    finish(file, builder, job, span ? &*span : nullptr);
    file.are_clusters = units_entry->name.find("cluster") != std::string::npos;
    take_texts(archive, job, named, file);
    return file;
}

spike_file read_npy(const reading& job) {
    const auto what = fmt::format("'{}'", job.path.string());
    io::npy_reader times(io::open_bytes(job.path), what);
    const auto& shape = times.header().shape;
    if (shape.size() != 2 || shape[1] != 2)
        throw io::file_error(job.path, fmt::format("found an array of shape ({}), expected (n, 2) "
                                                   "with rows (time_s, unit)",
                                                   fmt::join(shape, ", ")));
    const std::uint64_t rows = shape[0];
    spike_file file;
    spike_sequence_builder builder;
    integer_units numbers(builder);
    numpy_times to_us(times, job);
    const io::progress_meter meter = job.meter(2 * rows * times.header().item_bytes);
    if (times.header().fortran_order) {
        // Reads the file with a second reader, because the two halves are needed side by side.
        io::npy_reader units(io::open_bytes(job.path), what);
        units.skip(rows);
        read_spike_arrays(times, units, to_us, numbers, builder, meter, rows);
        units.expect_end();
    } else {
        read_spike_rows(times, to_us, numbers, builder, meter);
        times.expect_end();
    }
    to_us.check_resolution(times, file);
    finish(file, builder, job);
    return file;
}

}  // namespace spikeweave::spikes
