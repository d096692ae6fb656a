#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spikeweave::core {

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
