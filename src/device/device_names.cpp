#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

constexpr int highest_ordinal = 1024;

[[noreturn]] void refuse(std::string_view text) {
    throw invalid_argument(fmt::format(
        "'{}' names no device (expected cpu, cuda, cuda:0,1, cuda:all or automatic)", text));
}

std::vector<int> all_ordinals() {
    const std::vector<device_info> all = devices();
    if (all.empty())
        throw invalid_argument(fmt::format("there is no GPU: {}", device_unavailable_reason()));
    std::vector<int> ordinals;
    ordinals.reserve(all.size());
    for (const device_info& one : all) ordinals.push_back(one.ordinal);
    return ordinals;
}

// Reads "0,1"; returns nullopt if the text is not a list of ordinals.
std::optional<std::vector<int>> listed_ordinals(std::string_view text) {
    std::vector<int> ordinals;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        int ordinal = 0;
        const auto [behind, error] = std::from_chars(at, end, ordinal);
        if (error != std::errc{} || ordinal < 0 || ordinal > highest_ordinal) return std::nullopt;
        ordinals.push_back(ordinal);
        if (behind == end) return ordinals;
        if (*behind != ',') return std::nullopt;
        at = behind + 1;
    }
}

}  // namespace

std::optional<std::vector<int>> parse_devices(std::string_view text) {
    constexpr std::string_view prefix = "cuda:";
    if (text == "automatic") return std::nullopt;
    if (text == "cpu") return std::vector<int>{};
    if (text == "cuda") return std::vector<int>{0};
    if (text == "cuda:all") return all_ordinals();
    if (!text.starts_with(prefix)) refuse(text);
    auto ordinals = listed_ordinals(text.substr(prefix.size()));
    if (!ordinals) refuse(text);
    return ordinals;
}

std::string format_devices(const std::optional<std::vector<int>>& devices) {
    if (!devices) return "automatic";
    return devices->empty() ? "cpu" : fmt::format("cuda:{}", fmt::join(*devices, ","));
}

}  // namespace spikeweave
