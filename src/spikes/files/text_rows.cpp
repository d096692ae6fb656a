#include "spikes/files/text_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "spikeweave/spikes/spike_blocks.hpp"

namespace spikeweave::spikes {
namespace {

constexpr std::array<std::uint64_t, 19> powers_of_ten = [] {
    std::array<std::uint64_t, 19> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
}();

// Parses plain decimals of up to 18 digits, which nearly all are; others are parsed by
// `parse_decimal`. The line's end stops it.
// @return the end of the number, or nullptr if it is invalid or too large
const char* parse_time(const char* p, const time_scale& scale, std::int64_t& us) {
    const char* const start = p;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    std::uint64_t value = 0;
    const char* const digits = p;
    while (core::is_digit(*p)) value = value * 10 + static_cast<std::uint64_t>(*p++ - '0');
    auto count = p - digits;
    std::ptrdiff_t decimals = 0;
    if (*p == '.') {
        const char* const point = p++;
        while (core::is_digit(*p)) value = value * 10 + static_cast<std::uint64_t>(*p++ - '0');
        decimals = p - point - 1;
        count += decimals;
    }
    constexpr std::ptrdiff_t most_digits = 18;
    const std::ptrdiff_t shift = scale.decimals() - decimals;
    if (count == 0 || count + (shift > 0 ? shift : 0) > most_digits || shift < -most_digits ||
        scale.is_samples() || *p == 'e' || *p == 'E') {
        const char* end = start;
        while (*end != '\n') ++end;
        std::size_t used = 0;
        const auto parsed =
            parse_decimal({start, static_cast<std::size_t>(end - start)}, scale, used);
        if (!parsed) return nullptr;
        us = *parsed;
        return start + used;
    }
    if (shift >= 0) {
        value *= powers_of_ten[static_cast<std::size_t>(shift)];
    } else {
        const std::uint64_t divisor = powers_of_ten[static_cast<std::size_t>(-shift)];
        const std::uint64_t rest = value % divisor;
        value /= divisor;
        value += (2 * rest > divisor || (2 * rest == divisor && value % 2 == 1)) ? 1 : 0;
    }
    us = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return p;
}

const char* skip_blanks(const char* p, char delimiter) {
    while (*p == ' ' || (*p == '\t' && delimiter != '\t')) ++p;
    return p;
}

// Returns the end of a field: its delimiter or the end of the line.
const char* end_of_field(const char* p, char delimiter) {
    if (delimiter == ' ') {
        while (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\r') ++p;
    } else {
        while (*p != delimiter && *p != '\n') ++p;
    }
    return p;
}

std::string_view label_between(const char* begin, const char* end) {
    while (end > begin && (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\t')) --end;
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
        const auto inside = static_cast<std::size_t>(end - begin - 2);
        // Quotes within quotes are decoded later.
        if (std::memchr(begin + 1, '"', inside) == nullptr) return {begin + 1, inside};
    }
    return {begin, static_cast<std::size_t>(end - begin)};
}

struct row {
    std::int64_t time_us = 0;
    std::string_view label{};
};

// @return the beginning of the next line, or nullptr if the line does not have the layout
const char* parse_row(const char* p, const text_layout& layout, row& out) {
    const char delimiter = layout.delimiter;
    for (int column = 0; column < layout.columns; ++column) {
        p = skip_blanks(p, delimiter);
        if (column == layout.time_column) {
            p = parse_time(p, layout.scale, out.time_us);
            if (p == nullptr) return nullptr;
        } else {
            const char* const begin = p;
            p = end_of_field(p, delimiter);
            if (column == layout.unit_column) out.label = label_between(begin, p);
        }
        const bool had_blank = *p == ' ' || *p == '\t';
        p = skip_blanks(p, delimiter);
        if (column + 1 == layout.columns) {
            while (*p == '\t') ++p;  // NEST ends lines with one
            if (*p == '\r') ++p;
            return *p == '\n' ? p + 1 : nullptr;
        }
        if (delimiter == ' ') {
            if (!had_blank) return nullptr;
        } else if (*p++ != delimiter) {
            return nullptr;
        }
    }
    return nullptr;
}

// Explains why a number is not a time, if that is known.
std::string what_is_wrong(std::string_view time, const time_scale& scale) {
    const auto is_time = [&](const std::string& text) {
        std::size_t used = 0;
        return parse_decimal(text, scale, used).has_value() && used == text.size();
    };
    std::string text(time);
    if (std::count(text.begin(), text.end(), ',') == 1) {
        std::replace(text.begin(), text.end(), ',', '.');
        return is_time(text) ? " with a point, not a comma" : "";
    }
    std::size_t used = 0;
    if (scale.is_samples() || parse_decimal(text, scale, used) || used != text.size()) return "";
    return fmt::format(" of at most {} s", largest_time_us / 1'000'000);
}

// numpy.savetxt writes unit 3 as "3.000000000000000000e+00": a whole real is the same as the
// integer.
std::string label_without_quotes(std::string_view field) {
    if (field.find('.') != std::string_view::npos) {
        std::size_t used = 0;
        const auto value = parse_decimal(field, time_scale::seconds(), used);
        if (value && used == field.size() && *value % 1'000'000 == 0)
            return std::to_string(*value / 1'000'000);
    }
    if (!io::is_printable_utf8(field))
        throw invalid_argument(
            fmt::format("found {}, expected the name of a unit in UTF-8", io::shown(field)));
    return std::string(field);
}

}  // namespace

// Quotes within quotes are doubled; the parser does not decode such fields.
std::string label_of(std::string_view field) {
    if (field.size() < 2 || field.front() != '"' || field.back() != '"')
        return label_without_quotes(field);
    std::string inside;
    for (std::size_t i = 1; i + 1 < field.size(); ++i) {
        inside += field[i];
        if (field[i] == '"' && i + 2 < field.size() && field[i + 1] == '"') ++i;
    }
    return label_without_quotes(inside);
}

template <class Spikes>
void text_rows::parse(std::string_view block, std::uint64_t lines_before, Spikes& spikes) {
    const char* p = block.data();
    const char* const end = p + block.size();
    // With allow_negative every time that can be represented is valid.
    const std::int64_t earliest = job_->how.allow_negative ? INT64_MIN : 0;
    row current;
    for (std::uint64_t number = lines_before + 1; p != end; ++number) {
        const char* const line = p;
        const char* next = parse_row(line, layout_, current);
        if (*line == '#' || next == nullptr || current.time_us < earliest ||
            current.label.empty() || number == layout_.header_line) {
            next = static_cast<const char*>(
                       std::memchr(line, '\n', static_cast<std::size_t>(end - line))) +
                   1;
            const std::string_view text{line, static_cast<std::size_t>(next - line - 1)};
            const std::size_t first = text.find_first_not_of(" \t\r");
            const bool comment = first != std::string_view::npos && text[first] == '#';
            if (comment) take_comment(text.substr(first + 1));
            if (!comment && first != std::string_view::npos && number != layout_.header_line)
                fail(text, number);
        } else {
            unit_id unit{};
            try {
                unit = labels_.find(current.label);
            } catch (const invalid_argument& error) {
                throw io::file_error(job_->path, fmt::format("line {}", number), error.what());
            }
            if (unit == stimulus_marker) {
                stimulus_us.push_back(current.time_us);
            } else {
                spikes.append(current.time_us, unit);
            }
        }
        p = next;
    }
}

template void text_rows::parse(std::string_view, std::uint64_t, spike_sequence_builder&);
template void text_rows::parse(std::string_view, std::uint64_t, spike_block&);

void text_rows::take_comment(std::string_view line) {
    constexpr std::size_t most = 1000;
    if (comments.size() < most || line.starts_with(" unit_without_spikes:") ||
        line.starts_with(" span_s:"))
        comments.emplace_back(line);
}

void text_rows::fail(std::string_view line, std::uint64_t number) const {
    const std::string place = fmt::format("line {}", number);
    const auto fields = split_fields(line, layout_.delimiter);
    if (fields.size() != static_cast<std::size_t>(layout_.columns))
        throw io::file_error(job_->path, place,
                             fmt::format("found {} columns in {}, expected {}", fields.size(),
                                         io::shown(line), layout_.columns));
    const std::string_view time = fields[static_cast<std::size_t>(layout_.time_column)];
    std::size_t used = 0;
    const auto us = parse_decimal(time, layout_.scale, used);
    if (us && used == time.size() && *us < 0 && !job_->how.allow_negative)
        throw io::file_error(job_->path, place, found_before_zero(io::shown(time)));
    if (us && used == time.size())
        throw io::file_error(
            job_->path, place,
            fmt::format("found {}, expected the name of a unit beside the time", io::shown(line)));
    throw io::file_error(job_->path, place,
                         fmt::format("found {}, expected a time in {}{}", io::shown(time),
                                     layout_.scale.name(), what_is_wrong(time, layout_.scale)));
}

void parse_text(io::line_blocks& blocks, io::input_stream& in, std::string_view first_block,
                text_rows& rows, spike_sequence_builder& builder, const reading& job) {
    const io::progress_meter meter = job.meter(in.size());
    for (std::string_view block = first_block; !block.empty(); block = blocks.next()) {
        rows.parse(block, blocks.lines_before(), builder);
        meter.at(in.position());
    }
}

}  // namespace spikeweave::spikes
