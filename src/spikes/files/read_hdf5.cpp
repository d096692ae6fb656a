#include "spikes/files/readers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "io/file_error.hpp"
#include "io/hdf5_schemas.hpp"
#include "spikes/files/integer_units.hpp"
#include "spikes/files/time_scale.hpp"
#include "spikes/files/unit_tables.hpp"

namespace spikeweave::spikes {
namespace {

namespace h5 = io::hdf5;

// The kind of a file of a known program without spikes that are read here.
std::string_view known_as(const h5::reader& file) {
    if (file.exists("Data") && file.exists("Data/Recording_0"))
        return ", but is of Multi Channel DataManager, which the Python package reads: "
               "spikeweave.read (spikes), spikeweave.read_recording (samples)";
    if (file.exists("wells") || file.exists("sig") || file.exists("3BData"))
        return ", but is a recording of MaxWell or 3Brain, in which sort finds spikes (Python: "
               "read_recording)";
    if (file.exists("acquisition")) return ", but is a recording in NWB, in which sort finds them";
    return "";
}

[[noreturn]] void refuse(const h5::reader& file) {
    std::vector<std::string> names = file.members("/");
    constexpr std::size_t most = 8;
    names.resize(std::min(names.size(), most));
    for (std::string& name : names) name = io::shown(name);
    throw io::file_error(
        file.path(),
        fmt::format("is HDF5 with {}; expected a table /units (NWB), /channel_groups (.kwik) or "
                    "/spikes and /sCount (Eglen et al. 2014){}",
                    names.empty() ? "nothing in it" : fmt::format("{}", fmt::join(names, ", ")),
                    known_as(file)));
}

// Reads a column with as many numbers as there are spikes.
std::vector<std::int64_t> read_numbers(const h5::column& column, std::uint64_t count) {
    if (column.size() != count || column.shape().size() != 1)
        column.fail(
            fmt::format("found {} numbers, expected {}, one per spike", column.size(), count));
    std::vector<std::int64_t> out(count);
    column.read(0, out);
    return out;
}

time_scale scale_of_kwik(const h5::reader& kwik, const reading& job) {
    if (!job.how.time_unit.empty()) return time_scale::from(job.how.time_unit);
    if (const double rate = io::read_kwik_rate(kwik); rate > 0) return time_scale::samples(rate);
    throw io::file_error(kwik.path(),
                         "states no sample rate in /recordings/0 or /application_data/spikedetekt: "
                         "give `time_unit` samples:RATE");
}

// The label of a cluster, by the number of its group.
std::string label_in_kwik(const h5::reader& kwik, const std::string& group, std::int64_t cluster) {
    const std::string name = fmt::format("{}/clusters/main/{}", group, cluster);
    if (!kwik.exists(name)) return "unsorted";
    const auto number = kwik.number_attributes(name, "cluster_group");
    constexpr std::array<const char*, 4> labels{"noise", "mua", "good", "unsorted"};
    for (std::size_t i = 0; number.size() == 1 && i < labels.size(); ++i)
        if (number[0] == static_cast<double>(i)) return labels[i];
    return "unsorted";
}

// The groups of channels with spikes.
std::vector<std::string> groups_of_kwik(const h5::reader& kwik) {
    std::vector<std::string> out;
    for (const std::string& name : kwik.members("channel_groups")) {
        const std::string times = fmt::format("channel_groups/{}/spikes/time_samples", name);
        if (!is_plain_integer(name))
            throw io::file_error(
                kwik.path(), "/channel_groups",
                fmt::format("found {}, expected the number of a group", io::shown(name)));
        if (kwik.exists(fmt::format("channel_groups/{}/spikes", name)) && kwik.exists(times))
            out.push_back(name);
    }
    return out;
}

}  // namespace

spike_file read_hdf5(const reading& job) {
    const h5::reader file(job.path, job.run.stop);
    // Those of plates may have /units as well, which are the units of doses.
    if (file.exists("spikes") && file.exists("sCount")) return read_eglen(file, job);
    if (file.exists("units")) return read_nwb(file, job);
    if (file.exists("channel_groups")) return read_kwik(file, job);
    refuse(file);
}

spike_file read_kwik(const h5::reader& kwik, const reading& job) {
    const time_scale scale = scale_of_kwik(kwik, job);
    spike_file file;
    file.format = spike_format::kwik;
    file.are_clusters = true;
    spike_sequence_builder builder;
    std::map<std::string, std::string> labels;
    const std::vector<std::string> groups = groups_of_kwik(kwik);
    for (const std::string& number : groups) {
        const std::string group = "channel_groups/" + number;
        const std::string before = groups.size() > 1 ? number + "_" : "";
        const h5::column samples(kwik, group + "/spikes/time_samples");
        const auto times = read_numbers(samples, samples.size());
        const auto clusters = read_numbers({kwik, group + "/spikes/clusters/main"}, samples.size());
        integer_units units([&](const std::string& cluster) {
            labels[before + cluster] = label_in_kwik(kwik, group, std::stoll(cluster));
            return builder.unit(before + cluster);
        });
        for (std::size_t i = 0; i < times.size(); ++i) {
            const auto us = scale.from_whole(times[i]);
            if (!us)
                samples.fail(fmt::format("item {}: found {}, expected a time in {}", i, times[i],
                                         scale.name()));
            if (*us < 0 && !job.how.allow_negative)
                samples.fail(
                    fmt::format("item {}: {}", i, found_before_zero(std::to_string(times[i]))));
            builder.append(*us, units.find(clusters[i]));
        }
    }
    finish(file, builder, job);
    for (const std::string& unit : file.spikes.unit_names()) file.labels.push_back(labels[unit]);
    return file;
}

namespace {

// The texts of a column with one for each unit; none if it is not there.
std::vector<std::string> read_texts(const h5::reader& file, const std::string& name,
                                    std::size_t count) {
    if (!file.exists(name)) return {};
    const h5::column column(file, name);
    if (!column.is_text() || column.size() != count || column.shape().size() != 1)
        column.fail(
            fmt::format("found {} items, expected {} texts, one per unit", column.size(), count));
    return column.read_text(count);
}

std::vector<double> read_reals(const h5::column& column, std::uint64_t most) {
    if (!column.is_number()) column.fail("expected numbers");
    return column.read_all(most);
}

// R, which wrote these files, has the electrodes in rows, and HDF5 then in columns.
std::vector<unit_place> read_places(const h5::reader& file, std::size_t count) {
    if (!file.exists("epos")) return {};
    const h5::column column(file, "epos");
    const std::vector<std::uint64_t> by_column{2, count};
    const std::vector<std::uint64_t> by_row{count, 2};
    if (column.shape() != by_column && column.shape() != by_row)
        column.fail(fmt::format("found {} numbers, expected 2 x {}, the x and y of each unit",
                                fmt::join(column.shape(), " x "), count));
    const std::vector<double> numbers = read_reals(column, 2 * count);
    std::vector<unit_place> out(count);
    for (std::size_t u = 0; u < count; ++u)
        out[u] = column.shape() == by_column ? unit_place{numbers[u], numbers[count + u]}
                                             : unit_place{numbers[2 * u], numbers[2 * u + 1]};
    return out;
}

}  // namespace

spike_file read_eglen(const h5::reader& file, const reading& job) {
    constexpr std::uint64_t most_units = std::uint64_t{1} << 22;
    constexpr std::uint64_t most_spikes = std::uint64_t{1} << 32;
    listed_units units;
    units.are_clusters = false;
    const h5::column counts(file, "sCount");
    if (counts.size() > most_units || counts.shape().size() != 1)
        counts.fail(fmt::format("found {} units, expected at most {}", counts.size(), most_units));
    std::vector<std::int64_t> spikes_of_unit(counts.size());
    counts.read(0, spikes_of_unit);
    const h5::column times(file, "spikes");
    std::uint64_t end = 0;
    for (const std::int64_t count : spikes_of_unit) {
        if (count < 0 || static_cast<std::uint64_t>(count) > times.size() - end)
            counts.fail(
                fmt::format("found {} spikes of a unit, expected all units together to "
                            "have {}",
                            count, times.size()));
        units.ends.push_back(end += static_cast<std::uint64_t>(count));
    }
    if (end != times.size())
        counts.fail(fmt::format("found {} spikes of units, expected all {}", end, times.size()));
    units.times_s = read_reals(times, most_spikes);
    units.are_32_bit = times.is_float32();
    units.names = read_texts(file, "names", units.ends.size());
    units.ids = units.names.empty() || !why_no_names(units.names).empty()
                    ? read_texts(file, "channels", units.ends.size())
                    : std::vector<std::string>();
    units.places = read_places(file, units.ends.size());
    if (file.exists("recordingtime")) {
        const h5::column span(file, "recordingtime");
        if (span.size() != 2) span.fail("expected the begin and the end of the recording");
        units.observed_s = read_reals(span, 2);
    }
    spike_file out = read_listed(units, job);
    out.format = spike_format::eglen;
    return out;
}

}  // namespace spikeweave::spikes
