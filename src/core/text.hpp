#pragma once

// Parts of texts that are read, and parts of messages.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spikeweave/core/time.hpp"

namespace spikeweave::core {

/// Whether `c` is one of 0 to 9, in every locale.
inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

/// The text without these characters at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r");

/// The parts of a text between the delimiters: one more than there are delimiters.
/// @param by  not empty
std::vector<std::string_view> split(std::string_view text, std::string_view by);

/// Formats a number as "12,345,678".
std::string grouped(std::uint64_t number);

/// Returns "1 edge", "2,000 edges".
std::string plural(std::uint64_t n, std::string_view one, std::string_view many);

/// Formats exact milliseconds without a unit.
std::string milliseconds(duration d);

/// Formats spikes with lags, in the order of these, as "n12 →5ms→ n7 + n3".
std::string pattern_text(std::vector<std::pair<duration, std::string_view>> spikes);

/// The first few texts, and how many more there are: "a, b, c and 4 more".
std::string listed(std::span<const std::string> texts);

/// Warns of a time in the options that is far longer than any interval between spikes of neurons.
/// Numbers are seconds, and it is easy to give milliseconds instead.
/// @param what  the beginning of the sentence, such as "The bins are"
void check_given_time(std::string_view what, duration given, std::vector<std::string>& warnings);

/// The length in bytes of the UTF-8 character at the front; 0 if there is none.
std::size_t utf8_length(std::string_view bytes);

/// Whether the character, which is UTF-8, is neither a control character, a line end, a mark that
/// changes the direction of text nor a code point that is no character.
bool prints(std::string_view character);

/// Appends a character as it is if it prints, otherwise each byte as \\xNN.
void append_printable(std::string& out, std::string_view character);

/// The text with what does not print as \\xNN, except ends of lines and tabs: texts of files and of
/// other programs must not control the terminal of whoever reads a message.
std::string printable_text(std::string_view text);

}  // namespace spikeweave::core
