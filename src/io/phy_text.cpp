#include "io/phy_text.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "io/readable_file.hpp"

namespace spikeweave::io {
namespace {

namespace fs = std::filesystem;

char delimiter_of(std::string_view line) {
    for (const char c : {'\t', ';', ','})
        if (line.find(c) != std::string_view::npos) return c;
    return '\t';
}

std::vector<std::string_view> cells_of(std::string_view line, char delimiter) {
    std::vector<std::string_view> cells = core::split(line, {&delimiter, 1});
    for (std::string_view& cell : cells) cell = core::trimmed(cell, " \t\r\"'");
    return cells;
}

// Programs that know of no whole numbers write 3 as "3.0".
std::optional<std::int64_t> cluster_in(std::string_view cell) {
    constexpr double largest = 0x1p53;
    double value = 0;
    const auto [end, code] = fast_float::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (code != std::errc{} || end != cell.data() + cell.size() || !(std::abs(value) <= largest) ||
        std::trunc(value) != value)
        return {};
    return static_cast<std::int64_t>(value);
}

std::size_t place_of(const std::vector<std::string_view>& header, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
}

// The columns of the clusters and of the wanted values, which is any other one if it has no name;
// nullopt if the header does not have them.
std::optional<std::pair<std::size_t, std::size_t>> columns_in(
    const std::vector<std::string_view>& header, std::string_view name) {
    for (const std::string_view cluster : {"cluster_id", "id", "cluster"}) {
        const std::size_t at = place_of(header, cluster);
        const std::size_t value = !name.empty()            ? place_of(header, name)
                                  : at + 1 < header.size() ? at + 1
                                                           : 0;
        if (value == at) continue;
        if (at < header.size() && value < header.size()) return std::pair(at, value);
    }
    return {};
}

void note_line(cluster_column& out, std::uint64_t line, std::string_view found,
               std::string_view expected) {
    constexpr std::size_t most = 3;
    if (out.warnings.size() == most) out.warnings.emplace_back("More lines of it are not used.");
    if (out.warnings.size() > most) return;
    out.warnings.push_back(fmt::format("'{}', line {}: found {}, expected {}; it is not used.",
                                       out.file.string(), line, shown(found), expected));
}

// Reads a column; nothing if the file does not have it, or cannot be read.
std::optional<cluster_column> column_in(const fs::path& path, std::string_view name) {
    cluster_column out;
    out.file = path;
    try {
        refuse_pipe(path);
        input_stream in(path);
        line_reader lines(in);
        std::string_view line;
        if (!lines.next(line)) return {};
        constexpr std::string_view mark = "\xEF\xBB\xBF";
        if (line.starts_with(mark)) line.remove_prefix(mark.size());
        const char delimiter = delimiter_of(line);
        const auto columns = columns_in(cells_of(line, delimiter), name);
        if (!columns) return {};
        const auto [of_cluster, of_value] = *columns;
        while (lines.next(line)) {
            if (core::trimmed(line).empty()) continue;
            const auto cells = cells_of(line, delimiter);
            const auto cluster =
                of_cluster < cells.size() ? cluster_in(cells[of_cluster]) : std::nullopt;
            if (!cluster)
                note_line(out, lines.line_number(), line,
                          fmt::format("the number of a cluster and its {}",
                                      name.empty() ? "label" : name));
            else if (of_value < cells.size() && !cells[of_value].empty())
                out.cells[*cluster] = cells[of_value];
        }
    } catch (const io_error& error) {
        out.cells.clear();
        out.warnings = {fmt::format("{}; the file is not used.", error.what())};
    }
    return out;
}

// The tables of clusters, those of these names first.
std::vector<fs::path> tables_in(const fs::path& folder,
                                const std::vector<std::string>& first_ones = {}) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string file = entry.path().filename().string();
        if (file.starts_with("cluster_") && (file.ends_with(".tsv") || file.ends_with(".csv")))
            files.push_back(entry.path());
    }
    const auto rank = [&](const fs::path& path) {
        return std::pair(std::ranges::find(first_ones, path.stem().string()) - first_ones.begin(),
                         path.extension() == ".csv");
    };
    std::ranges::sort(files);
    std::ranges::stable_sort(files, {}, rank);
    return files;
}

cluster_column first_with(const std::vector<fs::path>& files, std::string_view name) {
    for (const fs::path& path : files)
        if (auto column = column_in(path, name)) return std::move(*column);
    return {};
}

// A number as Python has it, with a comment behind it; nullopt unless it is finite.
std::optional<double> python_number(std::string_view text) {
    std::string value(core::trimmed(text));
    std::erase(value, '_');
    double number = 0;
    const auto [end, code] =
        fast_float::from_chars(value.data(), value.data() + value.size(), number);
    const std::string_view rest =
        core::trimmed({end, static_cast<std::size_t>(value.data() + value.size() - end)});
    if (code != std::errc{} || (!rest.empty() && !rest.starts_with('#')) || !std::isfinite(number))
        return {};
    return number;
}

}  // namespace

phy_clock read_phy_clock(const fs::path& path) {
    refuse_pipe(path);
    input_stream in(path);
    line_reader lines(in);
    phy_clock out;
    for (std::string_view line; lines.next(line);) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view name = core::trimmed(line.substr(0, equals));
        const bool is_rate = name == "sample_rate" && out.sample_rate == 0;
        if (!is_rate && name != "t_start") continue;
        const std::optional<double> value = python_number(line.substr(equals + 1));
        const std::string place = fmt::format("line {}", lines.line_number());
        if (is_rate && (!value || !(*value > 0)))
            throw file_error(path, place,
                             fmt::format("found {}, expected a sample rate in Hz, such as "
                                         "sample_rate = 30000.0",
                                         shown(line)));
        if (!is_rate && !value)
            throw file_error(
                path, place,
                fmt::format("found {}, expected a time in seconds, such as t_start = 12.5",
                            shown(line)));
        if (is_rate)
            out.sample_rate = *value;
        else
            out.begin = time_in_file(path, place, *value);
    }
    if (out.sample_rate == 0) throw file_error(path, "has no line 'sample_rate = RATE'");
    return out;
}

void cluster_column::distrust(std::int64_t cluster, std::string_view expected) {
    const auto cell = cells.find(cluster);
    if (cell == cells.end()) return;
    warnings.push_back(fmt::format("'{}', cluster {}: found {}, expected {}; it is not used.",
                                   file.string(), cluster, shown(cell->second), expected));
    cells.erase(cell);
}

cluster_column read_phy_labels(const fs::path& folder) {
    const std::vector<fs::path> files =
        tables_in(folder, {"cluster_group", "cluster_info", "cluster_KSLabel"});
    // Kilosort writes its labels as groups, too, with the heading KSLabel.
    for (const fs::path& path : files) {
        if (path.stem() != "cluster_group") break;
        for (const std::string_view name : {"group", "KSLabel", ""})
            if (auto column = column_in(path, name)) return std::move(*column);
    }
    cluster_column out;
    for (const std::string_view name : {"group", "KSLabel", "label"}) {
        out = first_with(files, name);
        if (!out.cells.empty()) break;
    }
    return out;
}

cluster_column read_phy_column(const fs::path& folder, std::string_view name) {
    return first_with(tables_in(folder), name);
}

}  // namespace spikeweave::io
