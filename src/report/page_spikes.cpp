#include "report/page_spikes.hpp"

#include <string_view>
#include <vector>

namespace spikeweave::report {
namespace {

// Numbers of seven bits, the lowest first; the top bit of a byte says that more follow (LEB128).
void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) out.push_back(static_cast<std::uint8_t>(value | 0x80U));
    out.push_back(static_cast<std::uint8_t>(value));
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = bytes.size() - i;
        const std::uint32_t word = static_cast<std::uint32_t>(bytes[i] << 16U) |
                                   (left > 1 ? static_cast<std::uint32_t>(bytes[i + 1] << 8U) : 0) |
                                   (left > 2 ? bytes[i + 2] : 0U);
        out += digits[word >> 18U];
        out += digits[(word >> 12U) & 63U];
        out += left > 1 ? digits[(word >> 6U) & 63U] : '=';
        out += left > 2 ? digits[word & 63U] : '=';
    }
    return out;
}

json page_spikes(const spike_sequence& spikes) {
    const std::int64_t begin = spikes.span().begin.count();
    std::vector<std::uint8_t> times;
    times.reserve(3 * spikes.size());
    std::int64_t before = begin;
    for (const std::int64_t time : spikes.times_us()) {
        append_varint(times, static_cast<std::uint64_t>(time - before));
        before = time;
    }
    std::vector<std::uint8_t> units;
    units.reserve(spikes.size());
    for (const unit_id unit : spikes.units()) append_varint(units, to_index(unit));
    return {{"number", spikes.size()},
            {"begin_us", begin},
            {"end_us", spikes.span().end.count()},
            {"steps_us", base64(times)},
            {"units", base64(units)}};
}

}  // namespace spikeweave::report
