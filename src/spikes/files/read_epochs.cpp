#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/text_layout.hpp"
#include "spikeweave/spikes/epoch_labels.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

using spikes::epoch_label_columns;
using spikes::find_delimiter;
using spikes::parse_decimal;
using spikes::split_fields;
using spikes::time_scale;
using spikes::without_byte_order_mark;

namespace {

struct epoch_columns {
    char delimiter = '\t';
    std::size_t begin = 0;
    std::size_t end = 1;
    std::optional<std::size_t> label{};
};

std::optional<duration> seconds(std::string_view field) {
    std::size_t used = 0;
    const auto us = parse_decimal(field, time_scale::seconds(), used);
    if (!us || used != field.size()) return {};
    return duration{*us};
}

std::string plain(std::string_view heading) {
    std::string out;
    for (const char c : heading)
        if (c != '"' && c != '\'')
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

// Finds the columns in a header; they are the first two if the header has other names.
void take_header(const std::vector<std::string>& names, epoch_columns& columns) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> known{
        {{"start_time", "stop_time"}, {"begin", "end"}}};
    for (const auto& [begin, end] : known) {
        const auto first = std::find(names.begin(), names.end(), begin);
        const auto second = std::find(names.begin(), names.end(), end);
        if (first == names.end() || second == names.end()) continue;
        columns.begin = static_cast<std::size_t>(first - names.begin());
        columns.end = static_cast<std::size_t>(second - names.begin());
        return;
    }
}

class epoch_rows {
public:
    /// @param label_column  the name of the column of labels, or "" if the file decides; null if
    ///        labels are not read
    epoch_rows(const std::filesystem::path& path, const std::string* label_column)
        : path_(&path), label_column_(label_column) {}

    void take(std::string_view line, std::uint64_t number);
    std::vector<time_span> epochs{};
    std::vector<epoch_label> labels{};

private:
    [[noreturn]] void fail(std::uint64_t number, std::string_view text) const {
        throw io::file_error(*path_, fmt::format("line {}", number), text);
    }
    duration field(const std::vector<std::string_view>& fields, std::size_t column,
                   std::uint64_t number) const;
    std::optional<std::size_t> label_in(const std::vector<std::string>& names,
                                        std::uint64_t number) const;
    void take_label(std::string_view text, std::uint64_t number);

    const std::filesystem::path* path_;
    const std::string* label_column_;
    std::optional<epoch_columns> columns_;
};

duration epoch_rows::field(const std::vector<std::string_view>& fields, std::size_t column,
                           std::uint64_t number) const {
    const auto time = seconds(fields[column]);
    if (!time)
        fail(number,
             fmt::format("found {}, expected a time in seconds", io::shown(fields[column])));
    return *time;
}

// The column of the labels in a header.
std::optional<std::size_t> epoch_rows::label_in(const std::vector<std::string>& names,
                                                std::uint64_t number) const {
    const auto place = [&](std::string_view name) -> std::optional<std::size_t> {
        const auto found = std::find(names.begin(), names.end(), plain(name));
        if (found == names.end()) return {};
        return static_cast<std::size_t>(found - names.begin());
    };
    if (label_column_ == nullptr) return {};
    if (!label_column_->empty()) {
        if (const auto at = place(*label_column_)) return at;
        fail(number, fmt::format("found the columns {}, expected one named {}, with the labels",
                                 io::shown(fmt::format("{}", fmt::join(names, ", "))),
                                 io::shown(*label_column_)));
    }
    for (const char* const name : epoch_label_columns)
        if (const auto at = place(name)) return at;
    return {};
}

void epoch_rows::take_label(std::string_view text, std::uint64_t number) {
    if (text.size() > 1 && text.front() == text.back() && (text[0] == '"' || text[0] == '\''))
        text = text.substr(1, text.size() - 2);
    if (text.empty()) fail(number, "found an epoch without a label, expected one for each epoch");
    if (!io::is_printable_utf8(text))
        fail(number,
             fmt::format("found the label {}, expected printable text in UTF-8", io::shown(text)));
    labels.push_back({epochs.back().begin, std::string(text)});
}

void epoch_rows::take(std::string_view line, std::uint64_t number) {
    if (!columns_) {
        columns_.emplace().delimiter = find_delimiter(line);
        const auto names = split_fields(line, columns_->delimiter);
        if (std::none_of(names.begin(), names.end(), seconds)) {
            std::vector<std::string> heads(names.size());
            std::transform(names.begin(), names.end(), heads.begin(), plain);
            take_header(heads, *columns_);
            if (columns_->end < heads.size() && heads[columns_->end] == "duration")
                fail(number, fmt::format("found the column {}, expected the end of the epochs, "
                                         "such as begin and end or start_time and stop_time",
                                         io::shown(names[columns_->end])));
            columns_->label = label_in(heads, number);
            return;
        }
        if (label_column_ != nullptr && !label_column_->empty())
            fail(number, fmt::format("found no header, expected one with the column {}",
                                     io::shown(*label_column_)));
        if (label_column_ != nullptr && names.size() > 2 && !seconds(names[2])) columns_->label = 2;
    }
    const auto fields = split_fields(line, columns_->delimiter);
    const std::size_t needed =
        std::max({columns_->begin, columns_->end, columns_->label.value_or(0)}) + 1;
    if (fields.size() < needed)
        fail(number, fmt::format("found {} columns in {}, expected at least {}, with the begin and "
                                 "the end of an epoch in seconds{}",
                                 fields.size(), io::shown(line), needed,
                                 columns_->label ? ", and its label" : ""));
    const time_span epoch{field(fields, columns_->begin, number),
                          field(fields, columns_->end, number)};
    if (epoch.end <= epoch.begin)
        fail(number, fmt::format("found an epoch from {} to {}, expected it to end after it begins",
                                 format_duration(epoch.begin), format_duration(epoch.end)));
    if (!epochs.empty() && epoch.begin < epochs.back().end)
        fail(number, fmt::format("found an epoch from {}, expected none before the end of the one "
                                 "before it, {}",
                                 format_duration(epoch.begin), format_duration(epochs.back().end)));
    epochs.push_back(epoch);
    if (columns_->label) take_label(fields[*columns_->label], number);
}

void read_rows(epoch_rows& rows, const std::filesystem::path& path, const execution& run) {
    io::input_stream in(path);
    io::line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        core::throw_if_stopped(run.stop);
        if (lines.line_number() == 1) line = without_byte_order_mark(line);
        const std::size_t first = line.find_first_not_of(" \t");
        if (first != std::string_view::npos && line[first] != '#')
            rows.take(line, lines.line_number());
    }
    if (rows.epochs.empty())
        throw io::file_error(path,
                             "found no epoch, expected one a line: its begin and its end in "
                             "seconds");
}

}  // namespace

std::vector<time_span> read_epochs(const std::filesystem::path& path, const execution& run,
                                   std::vector<std::string>* warnings) {
    if (path.extension() == ".nwb") return read_nwb_intervals(path, "trials", run, warnings);
    epoch_rows rows(path, nullptr);
    read_rows(rows, path, run);
    return std::move(rows.epochs);
}

std::vector<time_span> read_epochs(const std::filesystem::path& path, const std::string& column,
                                   std::vector<epoch_label>& labels, const execution& run,
                                   std::vector<std::string>* warnings) {
    if (path.extension() == ".nwb") {
        labels = read_nwb_labels(path, "trials", column, run);
        return read_nwb_intervals(path, "trials", run, warnings);
    }
    epoch_rows rows(path, &column);
    read_rows(rows, path, run);
    labels = std::move(rows.labels);
    return std::move(rows.epochs);
}

std::vector<std::string> labels_of(std::span<const time_span> epochs,
                                   std::span<const epoch_label> labels) {
    std::vector<std::string> out;
    if (labels.empty()) return out;
    for (const time_span& epoch : epochs) {
        const auto after = std::ranges::upper_bound(labels, epoch.begin, {}, &epoch_label::begin);
        out.push_back(after == labels.begin() ? std::string() : std::prev(after)->label);
    }
    return out;
}

}  // namespace spikeweave
