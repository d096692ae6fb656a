#include "fuzz/spikes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace spikeweave::fuzz {
namespace {

// Orders spikes as a table of units does: simultaneous spikes in the order of units.
std::vector<std::pair<std::int64_t, unit_id>> by_time_and_unit(const spike_sequence& spikes) {
    std::vector<std::pair<std::int64_t, unit_id>> out;
    for (std::size_t i = 0; i < spikes.size(); ++i)
        out.emplace_back(spikes.times_us()[i], spikes.units()[i]);
    std::sort(out.begin(), out.end());
    return out;
}

// Formats that are slow to write are chosen rarely.
const char* extension_for(std::string_view bytes) {
    const std::size_t hash = std::hash<std::string_view>{}(bytes);
    if (hash % 64 == 0) return ".nwb";
    if (hash % 16 == 1) return ".csv.gz";
    constexpr std::array<const char*, 4> others{".tsv", ".csv", ".txt", ".npz"};
    return others[hash / 64 % others.size()];
}

}  // namespace

void read_and_write_again(const temporary_folder& folder, const std::filesystem::path& path,
                          spike_format format, std::string_view bytes) {
    spike_file first;
    try {
        first = read_spikes(path, {.format = format}, one_thread());
    } catch (const io_error& error) {
        check_message(error.what());
        first = read_spikes(
            path, {.format = format, .time_unit = "samples:25000", .allow_negative = true},
            one_thread());
    }
    static_cast<void>(check_spikes(first.spikes));

    const char* const extension = extension_for(bytes);
    const auto again = folder.path() / (std::string("again") + extension);
    try {
        write_spikes(again, first.spikes, one_thread());
    } catch (const invalid_argument& error) {
        check_message(error.what());  // not every format supports every name and time
        return;
    }
    const spike_file second = read_spikes(again, {.allow_negative = true}, one_thread());
    const bool same = std::string_view(extension) == ".nwb"
                          ? by_time_and_unit(first.spikes) == by_time_and_unit(second.spikes) &&
                                first.spikes.unit_names() == second.spikes.unit_names() &&
                                first.spikes.span() == second.spikes.span()
                          : first.spikes == second.spikes;
    require(same, std::string("spikes come back as others from ") + extension);
    require(second.duplicates == 0 && second.out_of_order == 0,
            std::string("spikes come back out of order or twice from ") + extension);
}

}  // namespace spikeweave::fuzz
