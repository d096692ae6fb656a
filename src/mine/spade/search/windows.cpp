#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "io/progress_meter.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {
namespace {

void check_encoding(std::size_t unit_count, std::uint32_t window_bins) {
    if (window_bins == 0) throw invalid_argument("a window must have at least one bin");
    if (unit_count * std::uint64_t{window_bins} > std::numeric_limits<std::int32_t>::max())
        throw invalid_argument(
            fmt::format("{} units in windows of {} bins are more items than can be numbered",
                        unit_count, window_bins));
}

// The units that fire in each bin that has any: bins ascending, units ascending in each.
struct rows {
    std::vector<std::uint32_t> bins{};
    std::vector<std::size_t> offsets{0};
    std::vector<std::uint32_t> units{};
};

rows rows_of(const binned_spikes& spikes) {
    std::vector<std::uint64_t> events;
    events.reserve(spikes.size());
    for (std::uint32_t unit = 0; unit < spikes.unit_count(); ++unit)
        for (const std::uint32_t bin : spikes.bins(unit_id{unit}))
            events.push_back(std::uint64_t{bin} << 32U | unit);
    std::sort(events.begin(), events.end());
    rows out;
    out.units.reserve(events.size());
    for (const std::uint64_t event : events) {
        const auto bin = static_cast<std::uint32_t>(event >> 32U);
        if (out.bins.empty() || out.bins.back() != bin) {
            if (!out.bins.empty()) out.offsets.push_back(out.units.size());
            out.bins.push_back(bin);
        }
        out.units.push_back(static_cast<std::uint32_t>(event));
    }
    if (!out.bins.empty()) out.offsets.push_back(out.units.size());
    return out;
}

}  // namespace

spade_windows::spade_windows(const binned_spikes& spikes, std::uint32_t window_bins,
                             const std::stop_token& stop)
    : unit_count_(spikes.unit_count()), window_bins_(window_bins), from_bins_(true) {
    check_encoding(unit_count_, window_bins);
    rows raster = rows_of(spikes);
    const std::size_t n = raster.bins.size();
    const auto for_each_row = [&](std::size_t w, auto&& take) {
        for (std::size_t r = w; r < n && raster.bins[r] - raster.bins[w] < window_bins; ++r)
            take(r, raster.bins[r] - raster.bins[w]);
    };
    std::size_t total = 0;
    for (std::size_t w = 0; w < n; ++w) {
        core::stop_at_times(w, stop);
        for_each_row(w, [&](std::size_t r, std::uint32_t) {
            total += raster.offsets[r + 1] - raster.offsets[r];
        });
    }
    items_.reserve(total);
    offsets_.reserve(n + 1);
    for (std::size_t w = 0; w < n; ++w) {
        core::stop_at_times(w, stop);
        for_each_row(w, [&](std::size_t r, std::uint32_t lag) {
            for (std::size_t i = raster.offsets[r]; i < raster.offsets[r + 1]; ++i)
                items_.push_back(raster.units[i] * window_bins + lag);
        });
        std::sort(items_.begin() + static_cast<std::ptrdiff_t>(offsets_.back()), items_.end());
        offsets_.push_back(items_.size());
    }
    starts_ = std::move(raster.bins);
}

spade_windows::spade_windows(std::vector<std::size_t> offsets, std::vector<pattern_item> items,
                             std::size_t unit_count, std::uint32_t window_bins)
    : unit_count_(unit_count),
      window_bins_(window_bins),
      offsets_(std::move(offsets)),
      items_(std::move(items)) {
    check_encoding(unit_count, window_bins);
    if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != items_.size())
        throw invalid_argument("the offsets of windows do not fit the items");
    for (std::size_t w = 0; w + 1 < offsets_.size(); ++w) {
        if (offsets_[w + 1] < offsets_[w] || offsets_[w + 1] > items_.size())
            throw invalid_argument("the offsets of windows do not ascend");
        for (std::size_t i = offsets_[w]; i < offsets_[w + 1]; ++i)
            if (items_[i] >= unit_count * window_bins ||
                (i > offsets_[w] && items_[i] <= items_[i - 1]))
                throw invalid_argument(
                    fmt::format("the items of window {} do not ascend below {} units × {} bins", w,
                                unit_count, window_bins));
        starts_.push_back(static_cast<std::uint32_t>(w));
    }
}

namespace {

constexpr std::string_view blanks = " \t\v\f";

// Removes the next word from the front of the line; returns an empty word at its end.
std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(word.size());
    return word;
}

class transaction_parser {
public:
    transaction_parser(const std::filesystem::path& path, io::line_reader& lines)
        : path_(path), lines_(lines) {}

    // Appends the items of a line, ascending.
    void parse(std::string_view line, std::vector<pattern_item>& items) const {
        const auto begin = static_cast<std::ptrdiff_t>(items.size());
        for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
            items.push_back(item(word));
        std::sort(items.begin() + begin, items.end());
        const auto twice = std::adjacent_find(items.begin() + begin, items.end());
        if (twice != items.end())
            fail(fmt::format("item {} is listed twice, expected it once a window", *twice));
    }

private:
    pattern_item item(std::string_view word) const {
        std::int64_t value = 0;
        const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
        const bool whole = end == word.data() + word.size();
        constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
        if ((code == std::errc{} || code == std::errc::result_out_of_range) && whole &&
            (code != std::errc{} || value < 0 || value > most))
            fail(fmt::format("found the item {}, expected 0 to {}", io::shown(word), most));
        if (code != std::errc{} || !whole)
            fail(fmt::format("found {}, expected items as whole numbers separated by spaces",
                             io::shown(word)));
        return static_cast<pattern_item>(value);
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw io::file_error(path_, fmt::format("line {}", lines_.line_number()), why);
    }

    const std::filesystem::path& path_;
    io::line_reader& lines_;
};

}  // namespace

spade_windows read_transactions(const std::filesystem::path& path, std::uint32_t window_bins,
                                const execution& run) {
    if (window_bins == 0) throw invalid_argument("a window must have at least one bin");
    io::input_stream in(path);
    io::line_reader lines(in);
    const io::progress_meter meter(run, "reading " + path.filename().string(), in.size());
    const transaction_parser parser(path, lines);
    std::vector<std::size_t> offsets{0};
    std::vector<pattern_item> items;
    pattern_item largest = 0;
    for (std::string_view line; lines.next(line);) {
        parser.parse(line, items);
        if (items.size() > offsets.back()) largest = std::max(largest, items.back());
        offsets.push_back(items.size());
        constexpr std::uint64_t between_reports = 1024;
        if (lines.line_number() % between_reports == 0) meter.at(in.position());
    }
    if (items.empty()) throw io::file_error(path, "has no item, expected one window per line");
    try {
        return {std::move(offsets), std::move(items), std::size_t{largest} / window_bins + 1,
                window_bins};
    } catch (const invalid_argument& error) {
        throw io::file_error(path, error.what());
    }
}

}  // namespace spikeweave
