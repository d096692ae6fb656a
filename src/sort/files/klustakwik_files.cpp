#include "sort/files/klustakwik_files.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "io/progress_meter.hpp"

namespace spikeweave {

using sort::read_whole_numbers;

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::uint64_t lines_between_reports = 4096;

std::string place(const io::line_reader& lines) {
    return fmt::format("line {}", lines.line_number());
}

// Returns the next word of a line, empty at its end.
std::string_view next_word(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
    rest.remove_prefix(word.size());
    return word;
}

std::int64_t whole_number(std::string_view word, const std::filesystem::path& path,
                          const io::line_reader& lines) {
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (code != std::errc{} || end != word.data() + word.size())
        throw io::file_error(path, place(lines),
                             fmt::format("found {}, expected a whole number", io::shown(word)));
    return value;
}

std::size_t read_column_count(io::line_reader& lines, const std::filesystem::path& path) {
    std::string_view line;
    if (!lines.next(line)) throw io::file_error(path, "is empty, expected the number of columns");
    std::string_view rest = line;
    const std::string_view word = next_word(rest);
    std::int64_t columns = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), columns);
    // A longer row would not fit into a line that can be read.
    constexpr std::int64_t most = io::line_blocks::block_bytes / 2;
    if (code != std::errc{} || end != word.data() + word.size() || columns < 1 || columns > most ||
        !next_word(rest).empty())
        throw io::file_error(path, "line 1",
                             fmt::format("found {}, expected the number of columns and nothing "
                                         "else, as in a .fet.N (of a file of spikes there is "
                                         "nothing to sort; sort takes a recording or features)",
                                         io::shown(line)));
    return static_cast<std::size_t>(columns);
}

void parse_row(std::string_view line, const std::filesystem::path& path,
               const io::line_reader& lines, std::span<double> into) {
    std::string_view rest = line;
    for (std::size_t i = 0; i < into.size(); ++i) {
        const std::string_view word = next_word(rest);
        if (word.empty())
            throw io::file_error(path, place(lines),
                                 fmt::format("found {} numbers, expected {}", i, into.size()));
        const auto [end, code] =
            fast_float::from_chars(word.data(), word.data() + word.size(), into[i]);
        if (code != std::errc{} || end != word.data() + word.size() || !std::isfinite(into[i]))
            throw io::file_error(
                path, fmt::format("{}, column {}", place(lines), i + 1),
                fmt::format("found {}, expected a finite number", io::shown(word)));
    }
    if (const std::string_view more = next_word(rest); !more.empty())
        throw io::file_error(
            path, place(lines),
            fmt::format("continues with {} after {} numbers", io::shown(more), into.size()));
}

}  // namespace

namespace sort {

void read_rows(const std::filesystem::path& path, const row_taker& take, const execution& run) {
    io::input_stream in(path);
    io::line_reader lines(in);
    std::vector<double> row(read_column_count(lines, path));
    const io::progress_meter meter(run, "reading " + path.filename().string(), in.size());
    bool any = false;
    for (std::string_view line; lines.next(line);) {
        if (line.find_first_not_of(blanks) == std::string_view::npos) continue;
        parse_row(line, path, lines, row);
        take(row, place(lines));
        any = true;
        if (lines.line_number() % lines_between_reports == 0) meter.at(in.position());
    }
    if (!any) throw io::file_error(path, "holds no spikes");
}

number_table read_table(const std::filesystem::path& path, const execution& run) {
    number_table table;
    read_rows(
        path,
        [&](std::span<const double> row, const std::string&) {
            table.columns = row.size();
            table.values.insert(table.values.end(), row.begin(), row.end());
        },
        run);
    return table;
}

std::optional<std::filesystem::path> beside(const std::filesystem::path& features,
                                            const char* extension) {
    std::string name = features.filename().string();
    constexpr std::string_view fet = ".fet";
    const std::size_t at = name.rfind(fet);
    if (at == std::string::npos) return {};
    const std::size_t behind = at + fet.size();
    if (behind != name.size() && name[behind] != '.') return {};
    name.replace(at, fet.size(), extension);
    return features.parent_path() / name;
}

std::vector<std::int64_t> read_whole_numbers(const std::filesystem::path& path,
                                             const execution& run) {
    io::input_stream in(path);
    io::line_reader lines(in);
    const io::progress_meter meter(run, "reading " + path.filename().string(), in.size());
    std::vector<std::int64_t> numbers;
    for (std::string_view line; lines.next(line);) {
        std::string_view rest = line;
        const std::string_view word = next_word(rest);
        if (word.empty()) continue;
        numbers.push_back(whole_number(word, path, lines));
        if (const std::string_view more = next_word(rest); !more.empty())
            throw io::file_error(
                path, place(lines),
                fmt::format("continues with {} after one whole number", io::shown(more)));
        if (lines.line_number() % lines_between_reports == 0) meter.at(in.position());
    }
    return numbers;
}

void append_masks(spike_masks& masks, std::span<const double> row, const std::string& place,
                  const std::filesystem::path& path) {
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (!(row[i] >= 0 && row[i] <= 1))
            throw io::file_error(path, fmt::format("{}, column {}", place, i + 1),
                                 fmt::format("found {}, expected a mask from 0 to 1", row[i]));
    }
    masks.append(row);
}

}  // namespace sort

std::vector<std::int64_t> read_clusters(const std::filesystem::path& path, std::size_t expected,
                                        const execution& run) {
    std::vector<std::int64_t> clusters = read_whole_numbers(path, run);
    if (clusters.size() != expected + 1)
        throw io::file_error(
            path, fmt::format("holds {} numbers, expected the number of clusters and one for each "
                              "of {} spikes",
                              clusters.size(), expected));
    clusters.erase(clusters.begin());
    return clusters;
}

void write_clusters(const std::filesystem::path& path, const sorting& sorted,
                    std::uint32_t first_unit) {
    std::vector<bool> there(std::size_t{sorted.unit_count} + 1);
    for (const std::uint32_t label : sorted.labels) there.at(label) = true;
    io::atomic_file file(path);
    file.write(fmt::format("{}\n", std::count(there.begin(), there.end(), true)));
    for (const std::uint32_t label : sorted.labels)
        file.write(fmt::format("{}\n", label == 0 ? 1U : label - 1 + first_unit));
    file.commit();
}

void write_samples(const std::filesystem::path& path, const sorting& sorted) {
    if (sorted.samples.size() != sorted.labels.size())
        throw invalid_argument("the times of these spikes are not known in samples");
    io::atomic_file file(path);
    for (const std::int64_t sample : sorted.samples) file.write(fmt::format("{}\n", sample));
    file.commit();
}

}  // namespace spikeweave
