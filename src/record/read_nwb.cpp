#include <fmt/format.h>

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "io/file_error.hpp"
#include "io/hdf5.hpp"
#include "record/readers.hpp"

namespace spikeweave {
namespace {

namespace h5 = io::hdf5;
constexpr auto acquisition = "acquisition";
constexpr auto electrode_table = "general/extracellular_ephys/electrodes";

class nwb_source final : public sample_source {
public:
    nwb_source(std::filesystem::path path, const std::string& data)
        : path_(std::move(path)), file_(h5::open_file(path_)), data_(path_, file_.get(), data) {}

    const h5::column& data() const { return data_; }
    std::uint64_t frame_count() const override { return data_.shape().front(); }
    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        // Not every build of the library lets two threads in.
        const std::lock_guard lock(one_at_a_time_);
        const h5::quiet no_printing;
        data_.read_rows(first, into);
    }

private:
    std::filesystem::path path_;  // messages of the column name it
    h5::handle file_;
    h5::column data_;
    mutable std::mutex one_at_a_time_;
};

std::vector<std::string> electrical_series(const std::filesystem::path& path, hid_t file) {
    std::vector<std::string> names;
    if (!h5::exists(file, acquisition)) return names;
    const h5::handle group = h5::open_group(path, file, acquisition);
    for (const std::string& name : h5::members(group.get())) {
        const h5::handle member{H5Oopen(group.get(), name.c_str(), H5P_DEFAULT), H5Oclose};
        if (member.valid() &&
            h5::text_attribute(member.get(), "neurodata_type") == "ElectricalSeries")
            names.push_back(name);
    }
    return names;
}

double read_rate(const opening& job, hid_t file, const std::string& series) {
    const std::string name = series + "/starting_time";
    if (!h5::exists(file, name))
        throw io::file_error(job.path, fmt::format("/{}", series),
                             "has no starting_time with a rate: a recording with a time of its own "
                             "for every sample is not read");
    const h5::column start(job.path, file, name);
    const std::optional<double> rate = start.number_attribute("rate");
    if (!rate) throw io::file_error(job.path, fmt::format("/{}@rate", name), "is missing");
    return checked_rate(job.path, fmt::format("/{}@rate", name), *rate);
}

// A number for every electrode of the table; nothing when there is no such column.
std::vector<double> table_column(const opening& job, hid_t file, const char* name) {
    const std::string path = fmt::format("{}/{}", electrode_table, name);
    if (!h5::exists(file, path)) return {};
    const h5::column column(job.path, file, path);
    if (!column.is_number()) return {};
    return column.read_all();
}

std::vector<std::size_t> read_region(const opening& job, hid_t file, const std::string& series,
                                     std::size_t channels) {
    const h5::column region(job.path, file, series + "/electrodes");
    std::vector<std::int64_t> rows(region.size());
    if (rows.size() != channels)
        throw io::file_error(job.path, fmt::format("/{}/electrodes", series),
                             fmt::format("found {} electrodes, expected {}, one a column of data",
                                         rows.size(), channels));
    region.read(0, rows);
    std::vector<std::size_t> out;
    out.reserve(rows.size());
    for (const std::int64_t row : rows) {
        if (row < 0)
            throw io::file_error(job.path, fmt::format("/{}/electrodes", series),
                                 fmt::format("found row {}", row));
        out.push_back(static_cast<std::size_t>(row));
    }
    return out;
}

// Electrodes of different groups are on different shanks.
void read_shanks(const opening& job, hid_t file, const std::vector<std::size_t>& rows,
                 std::vector<recording_channel>& channels) {
    const std::string path = fmt::format("{}/group_name", electrode_table);
    if (!h5::exists(file, path)) return;
    const h5::column column(job.path, file, path);
    if (!column.is_text()) return;
    const std::vector<std::string> groups = column.read_text();
    std::map<std::string, std::uint32_t> numbers;
    for (std::size_t c = 0; c < rows.size(); ++c) {
        if (rows[c] >= groups.size())
            throw io::file_error(
                job.path, fmt::format("/{}", path),
                fmt::format("has {} entries, expected one for row {}", groups.size(), rows[c]));
        const auto next = static_cast<std::uint32_t>(numbers.size());
        channels[c].shank = numbers.try_emplace(groups[rows[c]], next).first->second;
    }
}

// Positions on the probe, else in the brain, when the table has them for every channel.
bool place_channels(const opening& job, hid_t file, const std::string& series,
                    std::vector<recording_channel>& channels) {
    if (!h5::exists(file, series + "/electrodes") || !h5::exists(file, "general") ||
        !h5::exists(file, "general/extracellular_ephys") || !h5::exists(file, electrode_table))
        return false;
    const auto rows = read_region(job, file, series, channels.size());
    for (const auto& [x_name, y_name] : {std::pair{"rel_x", "rel_y"}, std::pair{"x", "y"}}) {
        const std::vector<double> x = table_column(job, file, x_name);
        const std::vector<double> y = table_column(job, file, y_name);
        bool known = !x.empty() && x.size() == y.size();
        for (std::size_t c = 0; known && c < rows.size(); ++c) {
            if (rows[c] >= x.size())
                throw io::file_error(
                    job.path, fmt::format("/{}/electrodes", series),
                    fmt::format("found row {} of a table of {}", rows[c], x.size()));
            known = std::isfinite(x[rows[c]]) && std::isfinite(y[rows[c]]);
        }
        if (!known) continue;
        for (std::size_t c = 0; c < rows.size(); ++c) {
            channels[c].x_um = x[rows[c]];
            channels[c].y_um = y[rows[c]];
        }
        read_shanks(job, file, rows, channels);
        return true;
    }
    return false;
}

void read_scaling(const opening& job, hid_t file, const std::string& series, const h5::column& data,
                  std::vector<recording_channel>& channels) {
    constexpr double uv_per_volt = 1e6;
    const double conversion = data.number_attribute("conversion").value_or(1.0);
    const double offset = data.number_attribute("offset").value_or(0.0);
    std::vector<double> each;
    if (h5::exists(file, series + "/channel_conversion"))
        each = h5::column(job.path, file, series + "/channel_conversion").read_all();
    if (!each.empty() && each.size() != channels.size())
        throw io::file_error(job.path, fmt::format("/{}/channel_conversion", series),
                             fmt::format("found {} numbers, expected {}, one a channel",
                                         each.size(), channels.size()));
    for (std::size_t c = 0; c < channels.size(); ++c) {
        channels[c].gain_uv = conversion * uv_per_volt * (each.empty() ? 1 : each[c]);
        channels[c].offset_uv = offset * uv_per_volt;
    }
}

}  // namespace

bool is_nwb_recording(const std::filesystem::path& path) {
    const h5::quiet no_printing;
    const h5::handle file = h5::open_file(path);
    return !h5::exists(file.get(), "units") && !electrical_series(path, file.get()).empty();
}

opened read_nwb_recording(const opening& job) {
    const h5::quiet no_printing;
    const h5::handle file = h5::open_file(job.path);
    const auto names = electrical_series(job.path, file.get());
    const std::string series =
        fmt::format("{}/{}", acquisition,
                    names[choose_stream(job.path, names, job.how.stream, "ElectricalSeries")]);
    auto source = std::make_shared<nwb_source>(job.path, series + "/data");
    const auto& shape = source->data().shape();
    const std::string where = fmt::format("/{}/data", series);
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0)
        throw io::file_error(job.path, where,
                             fmt::format("has {} dimensions, expected samples by channels, at "
                                         "least 1 of each",
                                         shape.size()));
    if (!source->data().is_int16())
        throw io::file_error(job.path, where, "does not hold integers of 16 bits");

    opened out;
    out.description.files = {job.path};
    out.description.rate_hz = read_rate(job, file.get(), series);
    out.description.channels = numbered_channels(shape[1]);
    read_scaling(job, file.get(), series, source->data(), out.description.channels);
    if (place_channels(job, file.get(), series, out.description.channels))
        out.description.positions = position_source::file;
    out.source = std::move(source);
    return out;
}

}  // namespace spikeweave
