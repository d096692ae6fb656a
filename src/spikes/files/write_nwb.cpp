#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "io/file_error.hpp"
#include "io/hdf5.hpp"
#include "io/hdf5_output.hpp"
#include "io/hdf5_schemas.hpp"
#include "spikes/files/readers.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::spikes {
namespace {

namespace h5 = io::hdf5;
namespace nwb = io::nwb;

nwb::digest digest_of(const writing& job) {
    const spike_sequence& spikes = job.spikes;
    nwb::digest out;
    for (const unit_column& column : job.columns) {
        out.add(column.name);
        for (const double value : column.values) out.add(std::bit_cast<std::uint64_t>(value));
        for (const std::string& text : column.texts) out.add(text);
    }
    for (const std::int64_t t : spikes.times_us()) out.add(static_cast<std::uint64_t>(t));
    for (const unit_id unit : spikes.units()) out.add(static_cast<std::uint64_t>(to_index(unit)));
    for (const std::string& name : spikes.unit_names()) out.add(name);
    out.add(static_cast<std::uint64_t>(spikes.span().begin.count()));
    out.add(static_cast<std::uint64_t>(spikes.span().end.count()));
    return out;
}

void write_times(const nwb::table& units, const spike_trains& trains, const writing& job) {
    const h5::handle column = units.new_column("spike_times", H5T_IEEE_F64LE, {trains.size()},
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

// Writes the whole span once for each unit.
void write_observed(const nwb::table& units, const spike_sequence& spikes) {
    const std::size_t n = spikes.unit_count();
    const h5::handle column = units.new_column("obs_intervals", H5T_IEEE_F64LE, {n, 2},
                                               "when each unit was observed, in seconds");
    std::vector<double> ends;
    std::vector<std::uint64_t> offsets;
    for (std::size_t u = 0; u < n; ++u) {
        ends.push_back(to_seconds(spikes.span().begin));
        ends.push_back(to_seconds(spikes.span().end));
        offsets.push_back(u + 1);
    }
    h5::write_block(column.get(), 0, n, H5T_NATIVE_DOUBLE, ends.data());
    units.write_index("obs_intervals", offsets, "where each unit's part of obs_intervals ends");
}

void write_units(hid_t file, const nwb::digest& identity, const writing& job) {
    const spike_sequence& spikes = job.spikes;
    const auto& names = spikes.unit_names();
    const bool numbered = std::all_of(names.begin(), names.end(), is_plain_integer);
    std::vector<std::string> columns{"spike_times", "obs_intervals"};
    if (!numbered) columns.emplace_back("unit_name");
    for (const unit_column& column : job.columns) columns.push_back(column.name);
    const nwb::table units(file, "/units", "core", "Units", identity,
                           "the units of a spike sequence", columns);

    std::vector<std::int64_t> ids(names.size());
    for (std::size_t u = 0; u < ids.size(); ++u) {
        ids[u] = static_cast<std::int64_t>(u);
        if (numbered) std::from_chars(names[u].data(), names[u].data() + names[u].size(), ids[u]);
    }
    units.write_ids(ids);

    const spike_trains trains(spikes);
    write_times(units, trains, job);
    units.write_index("spike_times", {trains.offsets().begin() + 1, trains.offsets().end()},
                      "where each unit's part of spike_times ends");
    write_observed(units, spikes);
    if (!numbered)
        h5::write_attribute(units.write_texts("unit_name", names, nwb_name_column).get(),
                            nwb_names_mark, nwb_mark_of(names));
    for (const unit_column& column : job.columns) {
        std::string description = column.description;
        std::erase(description, '`');  // pages and help texts show it as code
        if (!column.texts.empty()) {
            units.write_texts(column.name, column.texts, description.c_str());
            continue;
        }
        const h5::handle made =
            units.new_column(column.name, H5T_IEEE_F64LE, {names.size()}, description.c_str());
        h5::write_block(made.get(), 0, names.size(), H5T_NATIVE_DOUBLE, column.values.data());
    }
}

}  // namespace

std::string nwb_mark_of(const std::vector<std::string>& names) {
    nwb::digest mark;
    for (const std::string& name : names) mark.add(name);
    return mark.uuid();
}

void write_nwb(const writing& job) {
    // The recorded time stands with the units.
    if (job.spikes.unit_count() == 0)
        throw invalid_argument(fmt::format(
            "'{}': a recording without units cannot be written to an .nwb; write .npz or "
            ".tsv",
            job.path.string()));
    check_exact_in_seconds(job);
    const h5::quiet no_printing;
    const nwb::digest identity = digest_of(job);
    try {
        h5::output file(job.path, job.overwrite);
        nwb::write_root(file.get(), identity,
                        fmt::format("Spikes written by spikeweave {}.", version()));
        write_units(file.get(), identity, job);
        file.commit();
    } catch (const io_error& error) {
        const std::string_view what = error.what();
        if (what.starts_with('\'')) throw;  // the message already names the file
        throw io::file_error(job.path, fmt::format("cannot be written: {}", what));
    }
}

}  // namespace spikeweave::spikes
