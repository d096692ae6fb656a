#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "io/progress_meter.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {
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
