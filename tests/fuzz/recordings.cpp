#include "fuzz/recordings.hpp"

#include <map>
#include <vector>

namespace spikeweave::fuzz {
namespace {

std::vector<std::int16_t> all_samples(const recording& from) {
    std::vector<std::int16_t> samples(from.frame_count() * from.channel_count());
    from.read(0, samples);
    return samples;
}

// Shanks are numbered by their first contact in the file; only which channels share one matters.
std::vector<recording_channel> with_shanks_in_order(std::vector<recording_channel> channels) {
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (recording_channel& channel : channels)
        channel.shank = numbers.emplace(channel.shank, static_cast<std::uint32_t>(numbers.size()))
                            .first->second;
    return channels;
}

}  // namespace

void read_recording_and_write_again(const temporary_folder& folder,
                                    const std::filesystem::path& path,
                                    const recording_read_options& how) {
    const recording first = read_recording(path, how);
    constexpr std::uint64_t most_samples = 1'000'000;
    if (first.frame_count() > most_samples / first.channel_count()) return;
    const std::vector<std::int16_t> samples = all_samples(first);

    const auto again = folder.path() / "again";
    recording_writer out(again, first.description(), true);
    out.append(samples);
    out.commit();
    const recording second = read_recording(again);
    require(second.rate_hz() == first.rate_hz(), "a rate comes back as another");
    require(with_shanks_in_order(second.channels()) == with_shanks_in_order(first.channels()),
            "channels come back as others");
    require(all_samples(second) == samples, "samples come back as others");
}

}  // namespace spikeweave::fuzz
