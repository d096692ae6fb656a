#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/npy.hpp"
#include "spikes/files/integer_units.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"

namespace spikeweave::spikes {

/// Number of spikes that are read from numpy arrays at once.
inline constexpr std::size_t numpy_block = std::size_t{1} << 14;

/// Turns the items of a numpy array into microseconds, and rejects invalid times.
class numpy_times {
public:
    /// Uses the caller's unit of time, or else seconds; integers require a given unit.
    numpy_times(const io::npy_reader& times, const reading& job);
    /// @param begin  the time that the numbers count from
    numpy_times(time_scale scale, const reading& job, duration begin = {})
        : scale_(scale), job_(&job), begin_us_(begin.count()) {}

    /// Reads as many of the next times, in microseconds, as `into` holds, or fewer at the end.
    /// @throws io_error
    std::size_t read(io::npy_reader& times, std::span<std::int64_t> into);
    std::int64_t convert(const io::npy_reader& times, double value) {
        largest_ = std::max(largest_, std::abs(value));
        const bool is_sample = !scale_.is_samples() || value == std::trunc(value);
        return checked(times, is_sample ? scale_.from_real(value) : std::nullopt, value);
    }
    std::int64_t convert(const io::npy_reader& times, std::int64_t value) {
        return checked(times, scale_.from_whole(value), static_cast<double>(value));
    }

    /// Warns if the numbers that were read are too coarse for these times.
    void check_resolution(const io::npy_reader& times, spike_file& file) const;

private:
    // Called for each spike; all that an error needs is elsewhere, so that this is inlined.
    std::int64_t checked(const io::npy_reader& times, std::optional<std::int64_t> us,
                         double value) {
        if (us) *us += begin_us_;
        if (!us || (*us < 0 && !job_->how.allow_negative)) throw_invalid(times, us, value);
        ++record_;
        return *us;
    }
    [[noreturn]] void throw_invalid(const io::npy_reader& times, std::optional<std::int64_t> us,
                                    double value) const;

    time_scale scale_ = time_scale::seconds();
    const reading* job_;
    std::int64_t begin_us_ = 0;
    std::uint64_t record_ = 0;
    double largest_ = 0;  // of the real numbers
    std::vector<double> reals_;
};

/// The unit that a row of (time_s, unit) names. @throws io_error unless it is a whole number.
std::int64_t whole_unit(const io::npy_reader& rows, std::uint64_t record, double value);
inline std::int64_t whole_unit(const io::npy_reader&, std::uint64_t, std::int64_t value) {
    return value;
}

/// Reads `count` items from each of two arrays in parallel.
void read_spike_arrays(io::npy_reader& times, io::npy_reader& units, numpy_times& to_us,
                       integer_units& numbers, spike_sequence_builder& builder,
                       const io::progress_meter& meter, std::uint64_t count = UINT64_MAX);

/// Reads the file of the times and that of the units of a folder, of as many items.
void read_array_files(const std::filesystem::path& times_path,
                      const std::filesystem::path& units_path, numpy_times to_us,
                      spike_sequence_builder& builder, spike_file& file, const reading& job);

/// Reads rows (time, unit).
void read_spike_rows(io::npy_reader& rows, numpy_times& to_us, integer_units& numbers,
                     spike_sequence_builder& builder, const io::progress_meter& meter);

}  // namespace spikeweave::spikes
