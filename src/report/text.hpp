#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::report {

/// Text for a terminal, which may have colours.
class terminal_text {
public:
    explicit terminal_text(bool colour) : colour_(colour) {}
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
        out_ += '\n';
    }
    std::string bold(std::string_view text) const { return styled('1', text); }
    std::string dim(std::string_view text) const { return styled('2', text); }
    std::string taken() { return std::move(out_); }

private:
    std::string styled(char style, std::string_view text) const {
        return colour_ ? fmt::format("\033[{}m{}\033[0m", style, text) : std::string(text);
    }

    bool colour_;
    std::string out_;
};

/// Formats six digits: more than the precision of a null model, and equal on every machine.
std::string number_text(double value);
/// The same, or "-" for what is not known.
std::string known_number(double value);
/// Formats a number as the pages do: a whole one as it is, any other with three or four significant
/// digits: 12,345, 0.0123, 2.06·10⁻⁶⁷; "-" for what is not known.
std::string shown_number(double value, int precision = 3);
/// Formats a time in the same way, with four digits: "59.99 s", "1,800 s", "0.1 ms".
std::string time_text(duration d);
/// The same for a p; smaller values become "< 10⁻³⁰⁰".
std::string p_text(double p);
std::string_view yes_no(bool value);
using core::milliseconds;
using core::pattern_text;
using core::plural;
/// Returns "3" or "3 to 5".
std::string range_text(std::size_t least, std::size_t most);
/// Returns the error rate that a correction keeps at `alpha`: "1 % false discovery rate".
std::string level_text(correction_method correction, double alpha);
/// Returns the sentence with a second one, the number of warnings, if there are any.
std::string with_warnings(std::string sentence, std::size_t warnings);
/// Escapes "&" as "&amp;" and so on.
std::string xml_escaped(std::string_view text);
/// Counts characters, not bytes.
std::size_t length_of(std::string_view utf8);

}  // namespace spikeweave::report
