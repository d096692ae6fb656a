#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"
#include "spikeweave/sort/files.hpp"

namespace spikeweave {

using io::read_whole;

namespace {

template <class Item>
std::vector<Item> read_array(const io::zip_reader& archive, const io::zip_entry& entry,
                             const std::filesystem::path& path, const char* name) {
    io::npy_reader array(archive.open(entry), fmt::format("'{}', array '{}'", path.string(), name));
    return read_whole<Item>(array);
}

std::vector<float> read_fractions(const io::zip_reader& archive, const io::zip_entry& entry,
                                  const std::filesystem::path& path, std::size_t expected) {
    const auto found = read_array<double>(archive, entry, path, "fractions");
    if (found.size() != expected)
        throw io::file_error(path, fmt::format("holds {} fractions of samples, expected {}, one a "
                                               "time",
                                               found.size(), expected));
    for (std::size_t n = 0; n < found.size(); ++n)
        if (!(found[n] >= -0.5 && found[n] <= 1))
            throw io::file_error(
                path, fmt::format("array 'fractions', spike {}", n + 1),
                fmt::format("found {}, expected a number from -0.5 to 1", found[n]));
    return {found.begin(), found.end()};
}

}  // namespace

sorting read_sorting(const std::filesystem::path& path) {
    const io::zip_reader archive(path);
    const io::zip_entry* const labels = archive.find("labels.npy");
    if (labels == nullptr)
        throw io::file_error(path, "has no array 'labels', expected one label per spike");
    sorting out;
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
    for (const std::int64_t label : read_array<std::int64_t>(archive, *labels, path, "labels")) {
        if (label < 0 || label > most)
            throw io::file_error(
                path, fmt::format("array 'labels', spike {}", out.labels.size() + 1),
                fmt::format("found {}, expected a unit from 0 to {}", label, most));
        out.labels.push_back(static_cast<std::uint32_t>(label));
        out.unit_count = std::max(out.unit_count, out.labels.back());
    }
    if (const io::zip_entry* const samples = archive.find("samples.npy")) {
        out.samples = read_array<std::int64_t>(archive, *samples, path, "samples");
        if (out.samples.size() != out.labels.size())
            throw io::file_error(path, fmt::format("holds {} times, expected {}, one per spike",
                                                   out.samples.size(), out.labels.size()));
    }
    if (const io::zip_entry* const fractions = archive.find("fractions.npy"))
        out.fractions = read_fractions(archive, *fractions, path, out.samples.size());
    if (const io::zip_entry* const rate = archive.find("sample_rate.npy")) {
        const auto found = read_array<double>(archive, *rate, path, "sample_rate");
        if (found.size() != 1 || !(found[0] > 0) || !std::isfinite(found[0]))
            throw io::file_error(path, "array 'sample_rate': expected one rate in Hz");
        out.sample_rate = found[0];
    }
    if (const io::zip_entry* const begin = archive.find("t_start.npy")) {
        const auto found = read_array<double>(archive, *begin, path, "t_start");
        if (found.size() != 1)
            throw io::file_error(path, "array 't_start': expected one time in seconds");
        out.begin = io::time_in_file(path, "array 't_start'", found[0]);
    }
    return out;
}

}  // namespace spikeweave
