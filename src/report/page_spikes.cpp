#include "report/page_spikes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/unit_places.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::report {
namespace {

void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) out.push_back(static_cast<std::uint8_t>(value | 0x80U));
    out.push_back(static_cast<std::uint8_t>(value));
}

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::vector<std::uint8_t> bytes_of(std::string_view base64) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(base64.size() / 4 * 3);
    std::uint32_t held = 0;
    int bits = 0;
    for (const char digit : base64.substr(0, base64.find('='))) {
        const std::size_t value = base64_digits.find(digit);
        if (value == std::string_view::npos) throw invalid_argument("spikes are not in base64");
        held = held << 6U | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes.push_back(static_cast<std::uint8_t>(held >> static_cast<unsigned>(bits)));
    }
    return bytes;
}

// Calls `take` with each number of a list in base64 of LEB128.
template <class Take>
void each_number(const json& base64, const Take& take) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::uint8_t byte : bytes_of(base64.get_ref<const std::string&>())) {
        if (shift > 63) throw invalid_argument("a number of the spikes has more than 64 bits");
        value |= std::uint64_t{byte & 127U} << shift;
        shift += 7;
        if (byte >= 128) continue;
        take(value);
        value = 0;
        shift = 0;
    }
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr std::string_view digits = base64_digits;
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

json scaled(std::span<const float> items) {
    constexpr float largest = 32'767;
    float most = 0;
    for (const float item : items)
        if (std::isfinite(item)) most = std::max(most, std::abs(item));
    const float scale = most > 0 ? most / largest : 1;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 * items.size());
    for (const float item : items) {
        const long value = std::isfinite(item) ? std::lround(item / scale) : 0;
        const auto held = static_cast<std::uint16_t>(static_cast<std::int16_t>(value));
        bytes.push_back(static_cast<std::uint8_t>(held & 0xFFU));
        bytes.push_back(static_cast<std::uint8_t>(held >> 8U));
    }
    return {{"scale", scale}, {"values", base64(bytes)}};
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

json page_spikes(const spike_sequence& spikes, std::size_t first) {
    const std::int64_t begin = spikes.span().begin.count();
    std::vector<std::uint8_t> units;
    units.reserve(spikes.size() - first);
    for (const unit_id unit : spikes.units().subspan(first)) append_varint(units, to_index(unit));
    json data{{"number", spikes.size() - first},
              {"begin_us", begin},
              {"end_us", spikes.span().end.count()},
              {"steps_us", base64(varints_of_steps(spikes.times_us().subspan(first), begin))},
              {"units", base64(units)}};
    for (const auto& [from, end] : spikes.epochs())
        data["epochs_us"].push_back({from.count(), end.count()});
    return data;
}

spike_sequence read_page_spikes(const json& page) {
    const json& spikes = page.at("spikes");
    const duration begin{spikes.at("begin_us").get<std::int64_t>()};
    const duration end{spikes.at("end_us").get<std::int64_t>()};
    std::vector<std::int64_t> times;
    auto at = static_cast<std::uint64_t>(begin.count());
    each_number(spikes.at("steps_us"), [&](std::uint64_t step) {
        times.push_back(static_cast<std::int64_t>(at += step));
    });
    std::vector<unit_id> units;
    each_number(spikes.at("units"), [&](std::uint64_t unit) {
        units.push_back(unit_id{static_cast<std::uint32_t>(unit)});
    });
    spike_sequence all(std::move(times), std::move(units), page.at("unit_names"), {begin, end});
    all.set_places(places_in(page, all.unit_names()));
    const auto epochs = spikes.find("epochs_us");
    if (epochs == spikes.end()) return all;
    std::vector<time_span> spans;
    for (const auto& [first, last] :
         epochs->get<std::vector<std::pair<std::int64_t, std::int64_t>>>())
        spans.push_back({duration{first}, duration{last}});
    const auto labels = spikes.find("epoch_labels");
    if (labels != spikes.end() && labels->get<std::vector<std::string>>().size() != spans.size())
        throw invalid_argument(
            fmt::format("it has {} labels of {} epochs", labels->size(), spans.size()));
    return within_epochs(all, spans);
}

}  // namespace spikeweave::report
