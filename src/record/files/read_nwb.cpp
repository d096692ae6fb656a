#include <fmt/format.h>

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "io/file_error.hpp"
#include "io/hdf5_reader.hpp"
#include "io/hdf5_schemas.hpp"
#include "record/files/readers.hpp"

namespace spikeweave::record {
namespace {

namespace h5 = io::hdf5;
constexpr auto acquisition = "acquisition";
constexpr auto electrode_table = "general/extracellular_ephys/electrodes";

class nwb_source final : public sample_source {
public:
    explicit nwb_source(h5::column data) : data_(std::move(data)) {}

    const h5::column& data() const { return data_; }
    std::uint64_t frame_count() const override { return data_.shape().front(); }
    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        const std::lock_guard lock(one_at_a_time_);
        data_.read_rows(first, into);
    }

private:
    h5::column data_;
    mutable std::mutex one_at_a_time_;
};

std::vector<std::string> electrical_series(const h5::reader& file) {
    std::vector<std::string> names;
    if (!file.exists(acquisition)) return names;
    for (const std::string& name : file.members(acquisition)) {
        const std::string path = fmt::format("{}/{}", acquisition, name);
        if (file.leads_somewhere(path) &&
            file.text_attribute(path, "neurodata_type") == "ElectricalSeries")
            names.push_back(name);
    }
    return names;
}

// The rate, and the time of the first sample.
void read_clock(const h5::reader& file, const std::string& series, recording_description& what) {
    const std::string name = series + "/starting_time";
    if (!file.exists(name))
        throw io::file_error(file.path(), fmt::format("/{}", series),
                             "has no starting_time with a rate: a recording with a time of its own "
                             "for every sample is not read");
    const h5::column start(file, name);
    const std::optional<double> rate = start.number_attribute("rate");
    if (!rate) throw io::file_error(file.path(), fmt::format("/{}@rate", name), "is missing");
    what.rate_hz = checked_rate(file.path(), fmt::format("/{}@rate", name), *rate);
    const std::vector<double> begin = start.read_all(1);
    if (begin.size() != 1)
        start.fail(fmt::format("found {} numbers, expected a time in seconds", begin.size()));
    what.begin = io::time_in_file(file.path(), fmt::format("/{}", name), begin.front());
}

// A file with more is damaged; memory is allocated for as many as a table claims.
constexpr std::uint64_t most_electrodes = std::uint64_t{1} << 20;

// Reads a number for every electrode of the table; empty if there is no such column.
std::vector<double> table_column(const h5::reader& file, const char* name) {
    if (!io::nwb::has_column(file, electrode_table, name)) return {};
    const h5::column column(file, fmt::format("{}/{}", electrode_table, name));
    if (!column.is_number()) return {};
    return column.read_all(most_electrodes);
}

std::vector<std::size_t> read_region(const h5::reader& file, const std::string& series,
                                     std::size_t channels) {
    const h5::column region(file, series + "/electrodes");
    if (region.size() != channels)
        region.fail(fmt::format("found {} electrodes, expected {}, one per column of data",
                                region.size(), channels));
    std::vector<std::int64_t> rows(channels);
    region.read(0, rows);
    std::vector<std::size_t> out;
    out.reserve(rows.size());
    for (const std::int64_t row : rows) {
        if (row < 0) region.fail(fmt::format("found row {}", row));
        out.push_back(static_cast<std::size_t>(row));
    }
    return out;
}

// Electrodes of different groups get different shanks.
void read_shanks(const h5::reader& file, const std::vector<std::size_t>& rows,
                 std::vector<recording_channel>& channels) {
    if (!io::nwb::has_column(file, electrode_table, "group_name")) return;
    const h5::column column(file, fmt::format("{}/group_name", electrode_table));
    if (!column.is_text()) return;
    const std::vector<std::string> groups = column.read_text(most_electrodes);
    std::map<std::string, std::uint32_t> numbers;
    for (std::size_t c = 0; c < rows.size(); ++c) {
        if (rows[c] >= groups.size())
            column.fail(
                fmt::format("has {} entries, expected one for row {}", groups.size(), rows[c]));
        const auto next = static_cast<std::uint32_t>(numbers.size());
        channels[c].shank = numbers.try_emplace(groups[rows[c]], next).first->second;
    }
}

// Uses positions on the probe, or else in the brain, if the table has them for every channel.
bool place_channels(const h5::reader& file, const std::string& series,
                    std::vector<recording_channel>& channels) {
    if (!file.exists(series + "/electrodes") || !file.exists(electrode_table)) return false;
    const auto rows = read_region(file, series, channels.size());
    for (const auto& [x_name, y_name] : {std::pair{"rel_x", "rel_y"}, std::pair{"x", "y"}}) {
        const std::vector<double> x = table_column(file, x_name);
        const std::vector<double> y = table_column(file, y_name);
        bool known = !x.empty() && x.size() == y.size();
        for (std::size_t c = 0; known && c < rows.size(); ++c) {
            if (rows[c] >= x.size())
                throw io::file_error(
                    file.path(), fmt::format("/{}/electrodes", series),
                    fmt::format("found row {} of a table of {}", rows[c], x.size()));
            known = std::isfinite(x[rows[c]]) && std::isfinite(y[rows[c]]);
        }
        if (!known) continue;
        for (std::size_t c = 0; c < rows.size(); ++c) {
            channels[c].x_um = x[rows[c]];
            channels[c].y_um = y[rows[c]];
        }
        read_shanks(file, rows, channels);
        return true;
    }
    return false;
}

void read_scaling(const h5::reader& file, const std::string& series, const h5::column& data,
                  std::vector<recording_channel>& channels) {
    constexpr double uv_per_volt = 1e6;
    const double conversion = data.number_attribute("conversion").value_or(1.0);
    const double offset = data.number_attribute("offset").value_or(0.0);
    std::vector<double> each;
    if (const std::string path = series + "/channel_conversion"; file.exists(path)) {
        const h5::column column(file, path);
        if (column.size() != channels.size())
            column.fail(fmt::format("found {} numbers, expected {}, one per channel", column.size(),
                                    channels.size()));
        each = column.read_all(channels.size());
    }
    for (std::size_t c = 0; c < channels.size(); ++c) {
        channels[c].gain_uv = conversion * uv_per_volt * (each.empty() ? 1 : each[c]);
        channels[c].offset_uv = offset * uv_per_volt;
    }
}

}  // namespace

bool is_nwb_recording(const std::filesystem::path& path, const std::stop_token& stop) {
    const h5::reader file(path, stop);
    return !file.exists("units") && !electrical_series(file).empty();
}

opened read_nwb_recording(const opening& job) {
    const h5::reader file(job.path, job.run.stop);
    const auto names = electrical_series(file);
    const std::string series =
        fmt::format("{}/{}", acquisition,
                    names[choose_stream(job.path, names, job.how.stream, "ElectricalSeries")]);
    h5::column data(file, series + "/data");
    const auto& shape = data.shape();
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0)
        data.fail(fmt::format("has {} dimensions, expected samples by channels, at least 1 of each",
                              shape.size()));
    if (!data.is_int16()) data.fail("does not hold integers of 16 bits");

    opened out;
    out.description.files = {job.path};
    read_clock(file, series, out.description);
    check_channels(job.path, fmt::format("/{}/data", series), shape[1]);
    out.description.channels = numbered_channels(shape[1]);
    read_scaling(file, series, data, out.description.channels);
    if (place_channels(file, series, out.description.channels))
        out.description.positions = position_source::file;
    out.source = std::make_shared<nwb_source>(std::move(data));
    return out;
}

}  // namespace spikeweave::record
