#include "io/phy_text.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trimmed.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"

namespace spikeweave::io {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const std::size_t tab = line.find('\t');
        cells.push_back(core::trimmed(line.substr(0, tab)));
        if (tab == std::string_view::npos) return cells;
        line.remove_prefix(tab + 1);
    }
}

std::int64_t cluster_in(std::string_view cell, std::string_view line, const line_reader& lines,
                        const std::filesystem::path& path, std::string_view what) {
    std::int64_t cluster = 0;
    const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), cluster);
    if (code != std::errc{} || end != cell.data() + cell.size())
        throw file_error(
            path, fmt::format("line {}", lines.line_number()),
            fmt::format("found {}, expected a cluster's number and its {}", shown(line), what));
    return cluster;
}

// None if the file has no such column.
std::optional<std::map<std::int64_t, double>> column_in(const std::filesystem::path& path,
                                                        std::string_view name) {
    input_stream in(path);
    line_reader lines(in);
    std::string_view line;
    if (!lines.next(line)) return {};
    const auto header = cells_of(line);
    const auto at = static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
    if (header.front() != "cluster_id" || at == header.size()) return {};
    std::map<std::int64_t, double> out;
    while (lines.next(line)) {
        if (core::trimmed(line).empty()) continue;
        const auto cells = cells_of(line);
        const std::int64_t cluster = cluster_in(cells.front(), line, lines, path, name);
        if (at >= cells.size() || cells[at].empty()) continue;
        double value = 0;
        const auto [end, code] =
            fast_float::from_chars(cells[at].data(), cells[at].data() + cells[at].size(), value);
        if (code != std::errc{} || end != cells[at].data() + cells[at].size())
            throw file_error(
                path, fmt::format("line {}", lines.line_number()),
                fmt::format("found {}, expected a number in column {}", shown(line), name));
        out[cluster] = value;
    }
    return out;
}

}  // namespace

double read_phy_sample_rate(const std::filesystem::path& path) {
    input_stream in(path);
    line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos ||
            core::trimmed(line.substr(0, equals)) != "sample_rate")
            continue;
        std::string value(core::trimmed(line.substr(equals + 1)));
        std::erase(value, '_');
        double rate = 0;
        const auto [end, code] =
            fast_float::from_chars(value.data(), value.data() + value.size(), rate);
        const std::string_view rest =
            core::trimmed({end, static_cast<std::size_t>(value.data() + value.size() - end)});
        if (code != std::errc{} || (!rest.empty() && !rest.starts_with('#')) || !(rate > 0) ||
            !std::isfinite(rate))
            throw file_error(path, fmt::format("line {}", lines.line_number()),
                             fmt::format("found {}, expected a sample rate in Hz, such as "
                                         "sample_rate = 30000.0",
                                         shown(line)));
        return rate;
    }
    throw file_error(path, "has no line 'sample_rate = RATE'");
}

std::map<std::int64_t, std::string> read_phy_groups(const std::filesystem::path& path) {
    std::map<std::int64_t, std::string> out;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return out;
    input_stream in(path);
    line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string_view::npos || lines.line_number() == 1) continue;
        const std::string_view rest = line.substr(tab + 1);
        const std::int64_t cluster =
            cluster_in(core::trimmed(line.substr(0, tab)), line, lines, path, "group");
        out[cluster] = core::trimmed(rest.substr(0, rest.find('\t')));
    }
    return out;
}

std::map<std::int64_t, double> read_phy_column(const std::filesystem::path& folder,
                                               std::string_view name) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string file = entry.path().filename().string();
        if (file.starts_with("cluster_") && file.ends_with(".tsv")) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const std::filesystem::path& path : files)
        if (auto column = column_in(path, name)) return std::move(*column);
    return {};
}

}  // namespace spikeweave::io
