#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/text.hpp"

namespace spikeweave::report {

std::string number_text(double value) {
    return fmt::format("{:.6g}", value);
}

std::string known_number(double value) {
    return std::isfinite(value) ? number_text(value) : "-";
}

std::string shown_number(double value, int precision) {
    if (!std::isfinite(value)) return "-";
    const double size = std::abs(value);
    const std::string sign = value < 0 ? "-" : "";
    std::string digits = fmt::format("{:.{}e}", size, precision - 1);  // d.dde-dd
    const auto end_of_mantissa = digits.find('e');
    const int exponent = std::stoi(digits.substr(end_of_mantissa + 1));
    const bool is_whole = size == std::floor(size);
    if (exponent < 9 && (exponent >= 3 || is_whole))
        return sign + core::grouped(static_cast<std::uint64_t>(
                          std::round(is_whole ? size : std::stod(digits))));
    const bool is_plain = exponent >= -3 && exponent < 3;
    digits = is_plain ? fmt::format("{:.{}f}", size, precision - 1 - exponent)
                      : digits.substr(0, end_of_mantissa);
    if (digits.find('.') != std::string::npos) digits.resize(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    if (is_plain) return sign + digits;
    constexpr std::array<std::string_view, 10> raised{"⁰", "¹", "²", "³", "⁴",
                                                      "⁵", "⁶", "⁷", "⁸", "⁹"};
    digits += exponent < 0 ? "·10⁻" : "·10";
    for (const char digit : std::to_string(std::abs(exponent)))
        digits += raised.at(static_cast<std::size_t>(digit - '0'));
    return sign + digits;
}

std::string p_text(double p) {
    return p < 1e-300 ? "< 10⁻³⁰⁰" : shown_number(p);
}

std::string_view yes_no(bool value) {
    return value ? "yes" : "no";
}

std::string time_text(duration d) {
    const bool is_short = d != duration{0} && std::abs(d.count()) < 1'000'000;
    return is_short ? shown_number(1'000 * to_seconds(d), 4) + " ms"
                    : shown_number(to_seconds(d), 4) + " s";
}

std::string range_text(std::size_t least, std::size_t most) {
    return least == most ? core::grouped(least)
                         : fmt::format("{} to {}", core::grouped(least), core::grouped(most));
}

std::string level_text(correction_method correction, double alpha) {
    using enum correction_method;
    switch (correction) {
        case none:
            return fmt::format("{:g} % level without a correction", 100 * alpha);
        case benjamini_hochberg:
        case benjamini_yekutieli:
        case two_stage_bh:
        case two_stage_bky:
            return fmt::format("{:g} % false discovery rate", 100 * alpha);
        default:
            return fmt::format("{:g} % familywise error rate", 100 * alpha);
    }
}

std::string with_warnings(std::string sentence, std::size_t warnings) {
    if (warnings > 0) sentence += fmt::format(" {}.", plural(warnings, "warning", "warnings"));
    return sentence;
}

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        // XML cannot represent U+FFFE and U+FFFF, either.
        if (text.substr(i).starts_with("\xEF\xBF\xBE") ||
            text.substr(i).starts_with("\xEF\xBF\xBF")) {
            out += '?';
            i += 2;
            continue;
        }
        const char c = text[i];
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                // XML cannot represent most control characters.
                out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
        }
    }
    return out;
}

std::size_t length_of(std::string_view utf8) {
    return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

}  // namespace spikeweave::report
