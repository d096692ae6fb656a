#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "io/little_endian.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"
#include "spikes/files/readers.hpp"

namespace spikeweave::spikes {
namespace {

constexpr std::size_t block_spikes = std::size_t{1} << 16;

void begin_array(io::zip_writer& archive, std::string_view name, io::npy_kind kind,
                 std::size_t item_bytes, std::uint64_t count) {
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::format_npy_header({kind, item_bytes, false, {count}}));
}

void write_texts(io::zip_writer& archive, std::string_view name,
                 const std::vector<std::string>& texts) {
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::npy_of_texts(texts));
}

template <class Item, class ValueAt>
void write_numbers(io::zip_writer& archive, std::string_view name, io::npy_kind kind,
                   std::size_t count, ValueAt value_at, const io::progress_meter& meter) {
    begin_array(archive, name, kind, sizeof(Item), count);
    std::vector<Item> block(std::min(count, block_spikes));
    for (std::size_t begin = 0; begin < count; begin += block.size()) {
        const std::size_t n = std::min(block.size(), count - begin);
        for (std::size_t i = 0; i < n; ++i) block[i] = value_at(begin + i);
        archive.write({reinterpret_cast<const char*>(block.data()), n * sizeof(Item)});
        meter.at(begin + n);
    }
}

std::int64_t integer_of(const std::string& name) {
    std::int64_t value = 0;
    std::from_chars(name.data(), name.data() + name.size(), value);
    return value;
}

}  // namespace

// Writes the arrays of a pynapple TsGroup, so that nap.load_file opens them; `unit_name` becomes
// metadata.
void write_npz(const writing& job) {
    const spike_sequence& spikes = job.spikes;
    const auto& names = spikes.unit_names();
    check_exact_in_seconds(job);
    const bool numbered = std::all_of(names.begin(), names.end(), is_plain_integer);
    std::vector<std::int64_t> keys(names.size());
    for (std::size_t u = 0; u < keys.size(); ++u)
        keys[u] = numbered ? integer_of(names[u]) : static_cast<std::int64_t>(u);
    const double begin_s = to_seconds(spikes.span().begin);
    const double end_s = to_seconds(spikes.span().end);
    const io::progress_meter meter = job.meter();

    io::zip_writer archive(job.path, job.overwrite);
    write_texts(archive, "type", {"TsGroup"});
    write_numbers<double>(
        archive, "t", io::npy_kind::real, spikes.size(),
        [&](std::size_t i) { return static_cast<double>(spikes.times_us()[i]) / 1e6; }, meter);
    write_numbers<std::int64_t>(
        archive, "index", io::npy_kind::integer, spikes.size(),
        [&](std::size_t i) { return keys[to_index(spikes.units()[i])]; }, meter);
    write_numbers<std::int64_t>(
        archive, "keys", io::npy_kind::integer, keys.size(), [&](std::size_t u) { return keys[u]; },
        meter);
    write_numbers<double>(
        archive, "start", io::npy_kind::real, 1, [&](std::size_t) { return begin_s; }, meter);
    write_numbers<double>(
        archive, "end", io::npy_kind::real, 1, [&](std::size_t) { return end_s; }, meter);
    if (!numbered) write_texts(archive, "unit_name", names);
    for (const unit_column& column : job.columns)
        if (column.texts.empty())
            write_numbers<double>(
                archive, column.name, io::npy_kind::real, names.size(),
                [&](std::size_t u) { return column.values[u]; }, meter);
        else
            write_texts(archive, column.name, column.texts);
    archive.commit();
}

}  // namespace spikeweave::spikes
