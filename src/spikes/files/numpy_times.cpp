#include "spikes/files/numpy_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/file_error.hpp"
#include "io/random_file.hpp"

namespace spikeweave::spikes {

std::int64_t whole_unit(const io::npy_reader& rows, std::uint64_t record, double value) {
    constexpr double largest =
        9007199254740992.0;  // 2^53: doubles do not represent larger integers exactly
    if (!(std::abs(value) <= largest) || std::trunc(value) != value)
        throw io_error(
            fmt::format("{}: row {}: found unit {}, expected rows (time_s, unit) with a "
                        "whole number for the unit",
                        rows.what(), record, value));
    return static_cast<std::int64_t>(value);
}

namespace {

template <class Number>
void read_rows_as(io::npy_reader& rows, numpy_times& to_us, integer_units& numbers,
                  spike_sequence_builder& builder, const io::progress_meter& meter) {
    std::vector<Number> block(2 * numpy_block);
    std::uint64_t record = 0;
    while (const std::size_t n = rows.read(std::span{block})) {
        for (std::size_t i = 0; i + 1 < n; i += 2, ++record) {
            const std::int64_t us = to_us.convert(rows, block[i]);
            builder.append(us, numbers.find(whole_unit(rows, record, block[i + 1])));
        }
        meter.at(2 * record * rows.header().item_bytes);
    }
}

}  // namespace

numpy_times::numpy_times(const io::npy_reader& times, const reading& job) : job_(&job) {
    if (!job.how.time_unit.empty()) {
        scale_ = time_scale::from(job.how.time_unit);
    } else if (times.header().is_whole()) {
        throw io_error(
            fmt::format("{}: found whole numbers for times, expected seconds as real numbers, or "
                        "their unit given as `time_unit` (s, ms, us, ns or samples:RATE)",
                        times.what()));
    }
}

void numpy_times::throw_invalid(const io::npy_reader& times, std::optional<std::int64_t> us,
                                double value) const {
    if (!us && scale_.is_samples() && std::trunc(value) != value)
        throw io_error(fmt::format(
            "{}: item {}: found {}, expected a whole number of samples; if the times are seconds, "
            "give `time_unit` s",
            times.what(), record_, value));
    if (!us)
        throw io_error(fmt::format("{}: item {}: found {}, expected a time in {}", times.what(),
                                   record_, value, scale_.name()));
    throw io_error(fmt::format("{}: item {}: {}", times.what(), record_,
                               found_before_zero(fmt::format("{}", value))));
}

void numpy_times::check_resolution(const io::npy_reader& times, spike_file& file) const {
    if (times.header().is_whole() || times.header().item_bytes != sizeof(float)) return;
    std::string warning = warning_of_32_bits(largest_, scale_);
    if (!warning.empty()) file.warnings.push_back(std::move(warning));
}

std::size_t numpy_times::read(io::npy_reader& times, std::span<std::int64_t> into) {
    if (times.header().is_whole()) {
        const std::size_t n = times.read(into);
        for (std::size_t i = 0; i < n; ++i) into[i] = convert(times, into[i]);
        return n;
    }
    reals_.resize(into.size());
    const std::size_t n = times.read(std::span{reals_});
    for (std::size_t i = 0; i < n; ++i) into[i] = convert(times, reals_[i]);
    return n;
}

void read_spike_arrays(io::npy_reader& times, io::npy_reader& units, numpy_times& to_us,
                       integer_units& numbers, spike_sequence_builder& builder,
                       const io::progress_meter& meter, std::uint64_t count) {
    std::vector<std::int64_t> us(numpy_block);
    std::vector<std::int64_t> unit(numpy_block);
    const std::uint64_t bytes = times.header().item_bytes + units.header().item_bytes;
    std::uint64_t done = 0;
    while (done < count) {
        const auto most =
            static_cast<std::size_t>(std::min<std::uint64_t>(numpy_block, count - done));
        const std::size_t n = to_us.read(times, std::span{us}.first(most));
        if (n == 0) return;
        if (units.read(std::span{unit}.first(n)) != n)
            throw io_error(fmt::format("{}: has fewer items than there are times", units.what()));
        for (std::size_t i = 0; i < n; ++i) builder.append(us[i], numbers.find(unit[i]));
        done += n;
        meter.at(done * bytes);
    }
}

void read_array_files(const std::filesystem::path& times_path,
                      const std::filesystem::path& units_path, numpy_times to_us,
                      spike_sequence_builder& builder, spike_file& file, const reading& job) {
    io::npy_reader times(io::open_bytes(times_path), fmt::format("'{}'", times_path.string()));
    io::npy_reader units(io::open_bytes(units_path), fmt::format("'{}'", units_path.string()));
    const std::uint64_t count = times.header().count();
    if (count != units.header().count())
        throw io::file_error(times_path.parent_path(),
                             fmt::format("holds {} times and {} clusters, expected equal numbers",
                                         count, units.header().count()));
    integer_units numbers(builder);
    read_spike_arrays(times, units, to_us, numbers, builder,
                      job.meter(count * (times.header().item_bytes + units.header().item_bytes)));
    times.expect_end();
    units.expect_end();
    to_us.check_resolution(times, file);
}

void read_spike_rows(io::npy_reader& rows, numpy_times& to_us, integer_units& numbers,
                     spike_sequence_builder& builder, const io::progress_meter& meter) {
    if (rows.header().is_whole()) {
        read_rows_as<std::int64_t>(rows, to_us, numbers, builder, meter);
    } else {
        read_rows_as<double>(rows, to_us, numbers, builder, meter);
    }
}

}  // namespace spikeweave::spikes
