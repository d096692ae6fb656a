#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "spikes/files/text_layout.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

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
void take_header(const std::vector<std::string_view>& fields, epoch_columns& columns) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 2> known{
        {{"start_time", "stop_time"}, {"begin", "end"}}};
    std::vector<std::string> names(fields.size());
    std::transform(fields.begin(), fields.end(), names.begin(), plain);
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
    explicit epoch_rows(const std::filesystem::path& path) : path_(&path) {}

    void take(std::string_view line, std::uint64_t number);
    std::vector<time_span> epochs{};

private:
    [[noreturn]] void fail(std::uint64_t number, std::string_view text) const {
        throw io::file_error(*path_, fmt::format("line {}", number), text);
    }
    duration field(const std::vector<std::string_view>& fields, std::size_t column,
                   std::uint64_t number) const;

    const std::filesystem::path* path_;
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

void epoch_rows::take(std::string_view line, std::uint64_t number) {
    if (!columns_) {
        columns_.emplace().delimiter = find_delimiter(line);
        const auto names = split_fields(line, columns_->delimiter);
        if (std::none_of(names.begin(), names.end(), seconds)) {
            take_header(names, *columns_);
            if (columns_->end < names.size() && plain(names[columns_->end]) == "duration")
                fail(number, fmt::format("found the column {}, expected the end of the epochs, "
                                         "such as begin and end or start_time and stop_time",
                                         io::shown(names[columns_->end])));
            return;
        }
    }
    const auto fields = split_fields(line, columns_->delimiter);
    const std::size_t needed = std::max(columns_->begin, columns_->end) + 1;
    if (fields.size() < needed)
        fail(number, fmt::format("found {} columns in {}, expected at least {}, with the begin and "
                                 "the end of an epoch in seconds",
                                 fields.size(), io::shown(line), needed));
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
}

}  // namespace

std::vector<time_span> read_epochs(const std::filesystem::path& path, const execution& run,
                                   std::vector<std::string>* warnings) {
    if (path.extension() == ".nwb") return read_nwb_intervals(path, "trials", run, warnings);
    io::input_stream in(path);
    io::line_reader lines(in);
    epoch_rows rows(path);
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
    return std::move(rows.epochs);
}

}  // namespace spikeweave
