#include "spikes/files/text_layout.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/text.hpp"
#include "io/file_error.hpp"

namespace spikeweave::spikes {
namespace {

bool is_number(std::string_view field) {
    std::size_t used = 0;
    static_cast<void>(parse_decimal(field, time_scale::microseconds(), used));
    return used > 0 && used == field.size();
}

bool has_decimal_comma(std::string_view field) {
    std::string text(field);
    if (std::count(text.begin(), text.end(), ',') != 1) return false;
    std::replace(text.begin(), text.end(), ',', '.');
    return is_number(text);
}

// The parts of a column's heading: "Spike Time (ms)" has base "spike_time" and unit "ms".
struct heading {
    std::string base;
    std::string unit;
};

heading parse_heading(std::string_view field) {
    std::string text;
    for (const char c : field)
        if (c != '"' && c != '\'')
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::replace(text.begin(), text.end(), ' ', '_');
    for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'[', ']'}}) {
        const std::size_t at = text.find(open);
        if (at == std::string::npos || text.back() != close) continue;
        std::string base = text.substr(0, at);
        while (base.ends_with('_')) base.pop_back();
        return {base, text.substr(at + 1, text.size() - at - 2)};
    }
    const std::size_t at = text.rfind('_');
    if (at == std::string::npos) return {text, ""};
    const std::string unit = text.substr(at + 1);
    if (unit == "samples" || time_scale::named(unit)) return {text.substr(0, at), unit};
    return {text, ""};
}

bool is_time(const heading& head) {
    constexpr std::array<std::string_view, 15> names{
        "time",       "times",       "t",         "timestamp",  "timestamps",
        "spike_time", "spike_times", "spiketime", "spiketimes", "event_time",
        "sample",     "samples",     "frame",     "frames",     "sample_index"};
    return std::find(names.begin(), names.end(), head.base) != names.end();
}

bool counts_samples(const heading& head) {
    return head.unit == "samples" || head.base.starts_with("sample") ||
           head.base.starts_with("frame");
}

// Lower values are more likely to be the unit in a file with several such columns; -1 for none.
int unit_priority(const heading& head) {
    constexpr std::array<std::string_view, 21> names{
        "unit",    "units",      "unit_id", "unit_name",  "neuron",  "neurons",  "neuron_id",
        "cluster", "cluster_id", "cell",    "cell_id",    "channel", "channels", "channel_id",
        "ch",      "electrode",  "label",   "electrodes", "id",      "index",    "event"};
    const auto found = std::find(names.begin(), names.end(), head.base);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

// Whether a column numbers what begins again and again: "trial", "trial_id", "Sweep".
bool counts_trials(const heading& head) {
    std::string_view base = head.base;
    for (const std::string_view ending :
         {"_id", "_number", "_num", "_no", "_nr", "_index", "_idx", "_n"})
        if (base.ends_with(ending)) {
            base.remove_suffix(ending.size());
            break;
        }
    if (base.ends_with('s')) base.remove_suffix(1);
    constexpr std::array<std::string_view, 12> names{
        "trial", "sweep",  "epoch", "segment",   "session", "repetition",
        "rep",   "repeat", "block", "recording", "run",     "presentation"};
    return std::find(names.begin(), names.end(), base) != names.end();
}

struct numbered_line {
    std::uint64_t number;
    std::string_view text;
};

// Returns the columns that a heading names; nullopt if it names no time.
std::optional<text_layout> layout_of_heading(const std::vector<std::string_view>& fields,
                                             std::string& time_unit) {
    text_layout layout;
    layout.columns = static_cast<int>(fields.size());
    layout.time_column = layout.unit_column = -1;
    int best = INT32_MAX;
    for (int i = 0; i < layout.columns; ++i) {
        const heading head = parse_heading(fields[static_cast<std::size_t>(i)]);
        const int priority = unit_priority(head);
        if (is_time(head) && layout.time_column < 0) {
            layout.time_column = i;
            time_unit = counts_samples(head) ? "samples" : head.unit;
        } else if (priority >= 0 && priority < best) {
            layout.unit_column = i;
            best = priority;
        } else if (counts_trials(head) && layout.trial_column.empty()) {
            layout.trial_column = head.base;
        }
    }
    if (layout.time_column < 0) return {};
    if (layout.unit_column < 0 && layout.columns == 2) layout.unit_column = 1 - layout.time_column;
    if (layout.unit_column < 0) return {};
    const heading unit = parse_heading(fields[static_cast<std::size_t>(layout.unit_column)]);
    for (const std::string_view sorted : {"cluster", "neuron", "cell"})
        layout.names_clusters = layout.names_clusters || unit.base.starts_with(sorted);
    return layout;
}

[[noreturn]] void refuse_first_line(const std::vector<std::string_view>& fields,
                                    const numbered_line& line, const reading& job) {
    const bool has_comma = std::any_of(fields.begin(), fields.end(), has_decimal_comma);
    throw io::file_error(
        job.path, fmt::format("line {}", line.number),
        fmt::format("found {}, expected a spike or a header that names a time and a unit, such as "
                    "'time_s unit'{}",
                    io::shown(line.text), has_comma ? "; a time has a point, not a comma" : ""));
}

// Refuses a heading in which two columns have the same name.
void expect_named_once(const std::vector<std::string_view>& fields, const text_layout& layout,
                       const numbered_line& header, const reading& job) {
    for (const int column : {layout.time_column, layout.unit_column}) {
        const std::string_view name = fields[static_cast<std::size_t>(column)];
        if (std::count(fields.begin(), fields.end(), name) > 1)
            throw io::file_error(
                job.path, fmt::format("line {}", header.number),
                fmt::format("names the column {} twice, expected once", io::shown(name)));
    }
}

time_scale scale_of(const std::string& unit, const numbered_line& header, const reading& job) {
    if (!job.how.time_unit.empty()) return time_scale::from(job.how.time_unit);
    if (unit.empty()) return time_scale::seconds();
    if (const auto known = time_scale::named(unit)) return *known;
    throw io::file_error(
        job.path, fmt::format("line {}", header.number),
        unit == "samples"
            ? "the times are in samples, expected their number per second: give `time_unit` "
              "samples:RATE"
            : fmt::format("the times are in {}, expected s, ms, us or ns", io::shown(unit)));
}

// Properties of one column of a file without header.
struct column_facts {
    std::size_t rows = 0;
    std::size_t numbers = 0;
    bool fractions = false;
    bool ascending = true;
    std::set<std::string_view> values{};
    double last = -std::numeric_limits<double>::infinity();

    void add(std::string_view field) {
        ++rows;
        values.insert(field);
        double value = 0;
        const auto [end, code] =
            fast_float::from_chars(field.data(), field.data() + field.size(), value);
        if (code != std::errc{} || end != field.data() + field.size()) return;
        ++numbers;
        fractions = fractions || value != std::trunc(value);
        ascending = ascending && value >= last;
        last = value;
    }

    // One damaged line must not make the other column the time.
    bool mostly_numbers() const { return 2 * numbers >= rows; }
};

// Finds the time column of a file without headings.
int find_time_column(const std::vector<numbered_line>& rows, char delimiter, const reading& job) {
    std::array<column_facts, 2> facts;
    for (const numbered_line& row : rows) {
        const auto fields = split_fields(row.text, delimiter);
        if (fields.size() != 2) continue;  // refused later with its line number
        for (std::size_t i = 0; i < 2; ++i) facts[i].add(fields[i]);
    }
    const auto& [first, second] = facts;
    const auto choose = [](bool is_first) { return is_first ? 0 : 1; };
    if (first.mostly_numbers() != second.mostly_numbers()) return choose(first.mostly_numbers());
    if (first.fractions != second.fractions) return choose(first.fractions);
    if (first.mostly_numbers() && !first.fractions && first.ascending != second.ascending) {
        const bool is_first = first.ascending;
        if ((is_first ? first : second).values.size() >= (is_first ? second : first).values.size())
            return choose(is_first);
    }
    throw io::file_error(
        job.path, fmt::format("line {}", rows.front().number),
        fmt::format("found {}, which does not show which column is the time; expected a "
                    "header such as 'time_s{}unit'",
                    io::shown(rows.front().text),
                    delimiter == '\t' ? "<TAB>" : std::string(1, delimiter)));
}

}  // namespace

char find_delimiter(std::string_view line) {
    for (const char c : {'\t', ';', ','})
        if (line.find(c) != std::string_view::npos) return c;
    return ' ';
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::vector<std::string_view> split_fields(std::string_view line, char delimiter) {
    std::vector<std::string_view> out;
    line = core::trimmed(line);
    while (true) {
        const std::size_t end = delimiter == ' ' ? line.find_first_of(" \t") : line.find(delimiter);
        out.push_back(core::trimmed(line.substr(0, end)));
        if (end == std::string_view::npos) return out;
        line.remove_prefix(end + 1);
        if (delimiter == ' ') line = core::trimmed(line);
    }
}

std::optional<text_layout> find_text_layout(std::string_view first_lines, const reading& job) {
    constexpr std::size_t most_rows = 1000;
    std::vector<numbered_line> rows;
    numbered_line last_comment{0, {}};
    for (std::uint64_t number = 1; !first_lines.empty() && rows.size() < most_rows; ++number) {
        const std::size_t end = first_lines.find('\n');
        const std::string_view line = core::trimmed(first_lines.substr(0, end));
        first_lines.remove_prefix(end == std::string_view::npos ? first_lines.size() : end + 1);
        if (line.find('\0') != std::string_view::npos)
            throw io::file_error(job.path, fmt::format("line {}", number),
                                 fmt::format("found {}, expected text", io::shown(line)));
        if (line.starts_with('#') && rows.empty()) last_comment = {number, line};
        if (!line.empty() && !line.starts_with('#')) rows.push_back({number, line});
    }
    if (rows.empty()) return {};

    const char delimiter = find_delimiter(rows.front().text);
    auto fields = split_fields(rows.front().text, delimiter);
    std::string time_unit;
    std::optional<text_layout> layout;
    if (std::none_of(fields.begin(), fields.end(), is_number)) {
        layout = layout_of_heading(fields, time_unit);
        if (layout) expect_named_once(fields, *layout, rows.front(), job);
        if (!layout) refuse_first_line(fields, rows.front(), job);
        layout->header_line = rows.front().number;
        layout->scale = scale_of(time_unit, rows.front(), job);
    } else if (!last_comment.text.empty()) {
        // numpy.savetxt writes its header as a comment.
        const auto names = split_fields(core::trimmed(last_comment.text.substr(1)), delimiter);
        if (names.size() == fields.size()) layout = layout_of_heading(names, time_unit);
        if (layout) layout->scale = scale_of(time_unit, last_comment, job);
    }
    if (!layout) {
        if (fields.size() != 2)
            throw io::file_error(
                job.path, fmt::format("line {}", rows.front().number),
                fmt::format("found {} columns in {}, expected 2 (a time and a unit) or a header "
                            "that names them",
                            fields.size(), io::shown(rows.front().text)));
        layout.emplace();
        layout->time_column = find_time_column(rows, delimiter, job);
        layout->unit_column = 1 - layout->time_column;
        layout->scale = scale_of("", rows.front(), job);
    }
    layout->delimiter = delimiter;
    return layout;
}

}  // namespace spikeweave::spikes
