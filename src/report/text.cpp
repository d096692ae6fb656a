#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spikeweave::report {

std::string number_text(double value) {
    return fmt::format("{:.6g}", value);
}

std::string known_number(double value) {
    return std::isfinite(value) ? number_text(value) : "-";
}

std::string p_text(double p) {
    return p < 1e-300 ? "< 1e-300" : fmt::format("{:.2g}", p);
}

std::string milliseconds(duration d) {
    return fmt::format("{}", static_cast<double>(d.count()) / 1000);
}

std::string_view yes_no(bool value) {
    return value ? "yes" : "no";
}

std::string plural(std::size_t n, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
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
