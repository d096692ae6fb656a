#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "io/file_error.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_output.hpp"
#include "spikes/nwb.hpp"
#include "spikes/readers.hpp"
#include "synfire/core/version.hpp"
#include "synfire/spikes/spike_trains.hpp"

namespace synfire {
namespace {

namespace h5 = io::hdf5;

constexpr auto unknown_start = "1970-01-01T00:00:00.000000+00:00";

// Names what a file holds, so that the same spikes give the same file. Not for security.
class digest {
public:
    void add(std::uint64_t word) {
        for (auto& half : halves_) {
            half = (half ^ word) * 0x9E3779B97F4A7C15U;
            half ^= half >> 32;
            word = std::rotl(word, 29) + 0xD1B54A32D192ED03U;
        }
    }

    void add(std::string_view text) {
        for (const char c : text) add(static_cast<unsigned char>(c));
        add(text.size());
    }

    // A UUID of version 8, the one for digests.
    std::string uuid() const {
        const std::uint64_t a = (halves_[0] & ~std::uint64_t{0xF000}) | 0x8000;
        const std::uint64_t b = (halves_[1] & ~(std::uint64_t{3} << 62)) | (std::uint64_t{1} << 63);
        return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xFFFF,
                           a & 0xFFFF, b >> 48, b & 0xFFFFFFFFFFFF);
    }

private:
    std::uint64_t halves_[2] = {0x243F6A8885A308D3, 0x13198A2E03707344};
};

digest digest_of(const spike_sequence& spikes) {
    digest out;
    for (const std::int64_t t : spikes.times_us()) out.add(static_cast<std::uint64_t>(t));
    for (const unit_id unit : spikes.units()) out.add(index(unit));
    for (const std::string& name : spikes.unit_names()) out.add(name);
    out.add(static_cast<std::uint64_t>(spikes.span().begin.count()));
    out.add(static_cast<std::uint64_t>(spikes.span().end.count()));
    return out;
}

// What every object of NWB's schema carries.
void write_type(hid_t object, const char* name_space, const char* type, digest identity,
                std::string_view path) {
    identity.add(path);
    h5::write_attribute(object, "namespace", name_space);
    h5::write_attribute(object, "neurodata_type", type);
    h5::write_attribute(object, "object_id", identity.uuid());
}

void write_column_attributes(const h5::handle& column, const char* type, const digest& identity,
                             const std::string& path, const char* description) {
    write_type(column.get(), "hdmf-common", type, identity, path);
    if (description != nullptr) h5::write_attribute(column.get(), "description", description);
}

void write_root(hid_t file, const digest& identity) {
    write_type(file, "core", "NWBFile", identity, "/");
    h5::write_attribute(file, "nwb_version", "2.7.0");
    h5::write_text(file, "identifier", identity.uuid());
    h5::write_text(file, "session_description",
                   fmt::format("Spikes written by synfire {}. When the session began is not known: "
                               "1970-01-01 stands for it, and times are seconds since the "
                               "recording's first sample.",
                               version()));
    h5::write_text(file, "session_start_time", unknown_start);
    h5::write_text(file, "timestamps_reference_time", unknown_start);
    h5::write_texts(file, "file_create_date", {unknown_start});
    for (const char* group : {"acquisition", "analysis", "processing", "general", "stimulus"})
        h5::create_group(file, group);
    for (const char* group : {"stimulus/presentation", "stimulus/templates"})
        h5::create_group(file, group);
}

void write_times(const h5::handle& units, const spike_trains& trains, const digest& identity,
                 const writing& job) {
    const h5::handle column =
        h5::create_dataset(units.get(), "spike_times", H5T_IEEE_F64LE, {trains.size()});
    write_column_attributes(column, "VectorData", identity, "/units/spike_times",
                            "the spike times of each unit in seconds");
    h5::write_attribute(column.get(), "resolution", 1e-6);
    const io::progress_meter meter = job.meter();
    const auto times = trains.times_us();
    constexpr std::size_t block_size = std::size_t{1} << 17;
    std::vector<double> block(std::min(times.size(), block_size));
    for (std::size_t begin = 0; begin < times.size(); begin += block.size()) {
        const std::size_t n = std::min(block.size(), times.size() - begin);
        std::transform(times.begin() + static_cast<std::ptrdiff_t>(begin),
                       times.begin() + static_cast<std::ptrdiff_t>(begin + n), block.begin(),
                       [](std::int64_t us) { return static_cast<double>(us) / 1e6; });
        h5::write_block(column.get(), begin, n, H5T_NATIVE_DOUBLE, block.data());
        meter.at(begin + n);
    }
}

void write_index(const h5::handle& units, const std::string& target,
                 const std::vector<std::uint64_t>& ends, const digest& identity) {
    const std::string name = target + "_index";
    const h5::handle column = h5::create_dataset(units.get(), name, H5T_STD_U64LE, {ends.size()});
    const std::string description = fmt::format("where each unit's part of {} ends", target);
    write_column_attributes(column, "VectorIndex", identity, "/units/" + name, description.c_str());
    h5::write_reference(column.get(), "target", "/units/" + target);
    h5::write_block(column.get(), 0, ends.size(), H5T_NATIVE_UINT64, ends.data());
}

// The whole span, once for each unit.
void write_observed(const h5::handle& units, const spike_sequence& spikes, const digest& identity) {
    const std::size_t n = spikes.unit_count();
    const h5::handle column =
        h5::create_dataset(units.get(), "obs_intervals", H5T_IEEE_F64LE, {n, 2});
    write_column_attributes(column, "VectorData", identity, "/units/obs_intervals",
                            "when each unit was observed, in seconds");
    std::vector<double> ends;
    std::vector<std::uint64_t> offsets;
    for (std::size_t u = 0; u < n; ++u) {
        ends.push_back(to_seconds(spikes.span().begin));
        ends.push_back(to_seconds(spikes.span().end));
        offsets.push_back(u + 1);
    }
    h5::write_block(column.get(), 0, n, H5T_NATIVE_DOUBLE, ends.data());
    write_index(units, "obs_intervals", offsets, identity);
}

void write_units(hid_t file, const digest& identity, const writing& job) {
    const spike_sequence& spikes = job.spikes;
    const auto& names = spikes.unit_names();
    const bool numbered = std::all_of(names.begin(), names.end(), is_plain_integer);
    const h5::handle units = h5::create_group(file, "units");
    write_type(units.get(), "core", "Units", identity, "/units");
    h5::write_attribute(units.get(), "description", "the units of a spike sequence");
    std::vector<std::string> columns{"spike_times", "obs_intervals"};
    if (!numbered) columns.emplace_back("unit_name");
    h5::write_attribute(units.get(), "colnames", columns);

    std::vector<std::int64_t> ids(names.size());
    for (std::size_t u = 0; u < ids.size(); ++u) {
        ids[u] = static_cast<std::int64_t>(u);
        if (numbered) std::from_chars(names[u].data(), names[u].data() + names[u].size(), ids[u]);
    }
    const h5::handle id = h5::create_dataset(units.get(), "id", H5T_STD_I64LE, {ids.size()});
    write_column_attributes(id, "ElementIdentifiers", identity, "/units/id", nullptr);
    h5::write_block(id.get(), 0, ids.size(), H5T_NATIVE_INT64, ids.data());

    const spike_trains trains(spikes);
    write_times(units, trains, identity, job);
    write_index(units, "spike_times", {trains.offsets().begin() + 1, trains.offsets().end()},
                identity);
    write_observed(units, spikes, identity);
    if (!numbered) {
        const h5::handle column = h5::write_texts(units.get(), "unit_name", names);
        write_column_attributes(column, "VectorData", identity, "/units/unit_name",
                                nwb_name_column);
    }
}

}  // namespace

void write_nwb(const writing& job) {
    check_exact_in_seconds(job);
    const h5::quiet no_printing;
    const digest identity = digest_of(job.spikes);
    try {
        h5::output file(job.path);
        write_root(file.get(), identity);
        write_units(file.get(), identity, job);
        file.commit();
    } catch (const io_error& error) {
        const std::string_view what = error.what();
        if (what.starts_with('\'')) throw;  // it names the file already
        throw io::file_error(job.path, fmt::format("cannot be written: {}", what));
    }
}

}  // namespace synfire
