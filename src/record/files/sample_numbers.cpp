#include "record/files/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <system_error>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/random_file.hpp"

namespace spikeweave::record {
namespace {

// Reads single numbers: the file is as long as hours of recording.
class number_file {
public:
    number_file(const std::filesystem::path& path, double rate_hz)
        : file_(path), rate_hz_(rate_hz) {
        const io::npy_reader array(
            [&](std::span<char> into) {
                const auto size = std::min<std::uint64_t>(into.size(), file_.size() - begin_);
                file_.read_at(begin_, into.first(static_cast<std::size_t>(size)));
                begin_ += size;
                return static_cast<std::size_t>(size);
            },
            fmt::format("'{}'", path.string()));
        const io::npy_header& header = array.header();
        is_time_ = header.kind == io::npy_kind::real;
        constexpr std::size_t item_bytes = sizeof(std::uint64_t);
        if (!header.is_number() || header.item_bytes != item_bytes || header.shape.size() != 1)
            throw io::file_error(path, "expected an array of numbers of 8 bytes, one per sample");
        count_ = std::min(header.count(), (file_.size() - begin_) / item_bytes);
    }

    std::uint64_t count() const { return count_; }

    // Returns the time of the first sample.
    double begin_s() const {
        const std::uint64_t bits = bits_at(0);
        return is_time_ ? std::bit_cast<double>(bits)
                        : static_cast<double>(static_cast<std::int64_t>(bits)) / rate_hz_;
    }

    // Returns how many more samples lie between two than their places say.
    double jump(std::uint64_t from, std::uint64_t to) const {
        const std::uint64_t first = bits_at(from);
        const std::uint64_t last = bits_at(to);
        if (!is_time_)
            return static_cast<double>(static_cast<std::int64_t>(last - first - (to - from)));
        const double seconds = std::bit_cast<double>(last) - std::bit_cast<double>(first);
        return seconds * rate_hz_ - static_cast<double>(to - from);
    }

    // Clocks of times need not agree with the rate.
    bool is_jump(double found, std::uint64_t samples) const {
        constexpr double drift = 1e-3;
        return !(std::abs(found) <= (is_time_ ? 0.5 + drift * static_cast<double>(samples) : 0));
    }

private:
    std::uint64_t bits_at(std::uint64_t sample) const {
        std::uint64_t bits = 0;
        char bytes[sizeof bits];
        file_.read_at(begin_ + sample * sizeof bits, bytes);
        std::memcpy(&bits, bytes, sizeof bits);
        return bits;
    }

    io::random_file file_;
    double rate_hz_;
    std::uint64_t begin_ = 0;
    std::uint64_t count_ = 0;
    bool is_time_ = false;
};

struct gap {
    std::uint64_t before;  // the last sample before it
    double missing;
};

constexpr std::size_t most_gaps = 1000;

// Appends the gaps between two samples, by bisection.
void find_gaps(const number_file& numbers, std::uint64_t from, std::uint64_t to,
               std::vector<gap>& gaps) {
    const double jump = numbers.jump(from, to);
    if (gaps.size() == most_gaps || !numbers.is_jump(jump, to - from)) return;
    if (to - from == 1) return gaps.push_back({from, jump});
    const std::uint64_t middle = from + (to - from) / 2;
    find_gaps(numbers, from, middle, gaps);
    find_gaps(numbers, middle, to, gaps);
}

std::vector<gap> find_gaps(const number_file& numbers, std::uint64_t frames) {
    // Jumps forth and back can cancel each other out only within a part.
    constexpr std::uint64_t part = std::uint64_t{1} << 16;
    std::vector<gap> gaps;
    for (std::uint64_t from = 0; from + 1 < frames; from += part)
        find_gaps(numbers, from, std::min(from + part, frames - 1), gaps);
    return gaps;
}

}  // namespace

void take_sample_numbers(const std::filesystem::path& path, std::uint64_t frames,
                         recording_description& what) {
    std::error_code failed;
    if (!std::filesystem::exists(path, failed)) return;
    const double rate_hz = what.rate_hz;
    const number_file numbers(path, rate_hz);
    if (numbers.count() > 0) what.begin = io::time_in_file(path, "item 0", numbers.begin_s());
    const std::string name = path.filename().string();
    std::vector<std::string>& warnings = what.warnings;
    if (numbers.count() != frames)
        warnings.push_back(
            fmt::format("'{}' has numbers of {} samples, and there are {}: the "
                        "recording may have been cut.",
                        name, numbers.count(), frames));
    const std::vector<gap> gaps = find_gaps(numbers, std::min(numbers.count(), frames));
    if (gaps.empty()) return;
    double all = 0;
    for (const gap& one : gaps) all += one.missing;
    const gap& first = gaps.front();
    const double before_s = static_cast<double>(first.before + 1) / rate_hz;
    warnings.push_back(fmt::format(
        "The recording has {}{}: by '{}', {:.0f} samples ({:.6g} s) {} after {:.6g} s ({} "
        "samples){}"
        ". Times count the recorded samples, so later spikes are too early by the gaps before "
        "them.",
        gaps.size() == 1 ? "a gap" : fmt::format("{} gaps", gaps.size()),
        gaps.size() == most_gaps ? " or more" : "", name, std::abs(first.missing),
        std::abs(first.missing) / rate_hz, first.missing > 0 ? "are missing" : "are there twice",
        before_s, first.before + 1,
        gaps.size() == 1 ? "" : fmt::format(", and {:.6g} s in all", all / rate_hz)));
}

}  // namespace spikeweave::record
