#include <fmt/format.h>

#include <charconv>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// The first n / parts × (part - 1) surrogates precede it, rounded down.
std::uint32_t before(std::uint64_t part, std::uint64_t parts, std::uint64_t n) {
    return static_cast<std::uint32_t>(n * (part - 1) / parts);
}

void check(const surrogate_part& which) {
    if (which.part == 0 || which.part > which.parts)
        throw invalid_argument(fmt::format("there is no part {} of {}: expected one from 1 on",
                                           which.part, which.parts));
}

}  // namespace

std::uint32_t surrogate_part::begin(std::uint32_t n) const {
    check(*this);
    return before(part, parts, n);
}

std::uint32_t surrogate_part::end(std::uint32_t n) const {
    check(*this);
    return before(std::uint64_t{part} + 1, parts, n);
}

void check_part(const surrogate_part& part, const surrogate_options& options) {
    check(part);
    if (options.surrogates < part.parts)
        throw invalid_argument("part", fmt::format("{} surrogates cannot be divided among {} runs",
                                                   options.surrogates, part.parts));
}

option_value option_codec<surrogate_part>::show(const surrogate_part& field) {
    if (field.is_all()) return nullptr;
    return fmt::format("{}/{}", field.part, field.parts);
}

surrogate_part option_codec<surrogate_part>::read(const option_value& value) {
    if (std::holds_alternative<std::nullptr_t>(value)) return {};
    const auto& text = std::get<std::string>(value);
    surrogate_part which;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, which.part);
    const bool has_slash = first.ec == std::errc{} && first.ptr != end && *first.ptr == '/';
    const auto second = std::from_chars(has_slash ? first.ptr + 1 : end, end, which.parts);
    if (!has_slash || second.ec != std::errc{} || second.ptr != end)
        throw invalid_argument(fmt::format("'{}' is not K/N, such as 3/20", text));
    check(which);
    return which;
}

}  // namespace spikeweave
