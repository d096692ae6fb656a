#include "report/page_spikes.hpp"

#include <string_view>
#include <vector>

namespace spikeweave::report {
namespace {

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

std::vector<std::uint8_t> varints_of_steps(std::span<const std::int64_t> numbers,
                                           std::int64_t begin) {
    std::vector<std::uint8_t> out;
    out.reserve(3 * numbers.size());
    for (const std::int64_t number : numbers) {
        append_varint(out, static_cast<std::uint64_t>(number - begin));
        begin = number;
    }
    return out;
}

json page_spikes(const spike_sequence& spikes) {
    const std::int64_t begin = spikes.span().begin.count();
    std::vector<std::uint8_t> units;
    units.reserve(spikes.size());
    for (const unit_id unit : spikes.units()) append_varint(units, to_index(unit));
    return {{"number", spikes.size()},
            {"begin_us", begin},
            {"end_us", spikes.span().end.count()},
            {"steps_us", base64(varints_of_steps(spikes.times_us(), begin))},
            {"units", base64(units)}};
}

}  // namespace spikeweave::report
