#include "report/cohort_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include "io/file_error.hpp"
#include "io/readable_file.hpp"

namespace spikeweave::report {
namespace {

constexpr std::string_view key = "recording";

class sheet_lines {
public:
    explicit sheet_lines(const std::filesystem::path& path)
        : path_(path), in_(io::open_given(path)) {
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
        if (!next()) throw io::file_error(path_, "cannot be read, or is empty");
        if (line_.starts_with(byte_order_mark)) line_.erase(0, byte_order_mark.size());
        if (line_.find('\t') == std::string::npos) delimiter_ = ',';
    }

    bool next() {
        while (std::getline(in_, line_)) {
            ++number_;
            if (line_.ends_with('\r')) line_.pop_back();
            if (!line_.empty()) return true;
        }
        return false;
    }

    std::vector<std::string> cells() const {
        std::vector<std::string> cells(1);
        bool quoted = false;
        for (std::size_t at = 0; at < line_.size(); ++at) {
            const char c = line_[at];
            if (delimiter_ == ',' && c == '"') {
                // Two quotes within quotes are one.
                if (quoted && line_.substr(at + 1, 1) == "\"")
                    cells.back() += line_[++at];
                else
                    quoted = !quoted;
            } else if (c == delimiter_ && !quoted) {
                cells.emplace_back();
            } else {
                cells.back() += c;
            }
        }
        if (quoted) fail("a quotation does not end in this line");
        for (const std::string& cell : cells)
            if (!cell.empty() && !io::is_printable_utf8(cell))
                fail(fmt::format("{} is no printable text in UTF-8", io::shown(cell)));
        return cells;
    }

    [[noreturn]] void fail(std::string_view text) const {
        throw io::file_error(path_, fmt::format("line {}", number_), text);
    }

private:
    std::filesystem::path path_;
    std::ifstream in_;
    std::string line_;
    std::size_t number_ = 0;
    char delimiter_ = '\t';
};

}  // namespace

cohort_sheet read_cohort_sheet(const std::filesystem::path& path) {
    sheet_lines lines(path);
    cohort_sheet sheet{.path = path, .columns = lines.cells()};
    std::set<std::string_view> known;
    for (const std::string& name : sheet.columns)
        if (name.empty() || !known.insert(name).second)
            lines.fail(name.empty() ? "a column has no name"
                                    : fmt::format("two columns are called {}", io::shown(name)));
    const auto found = std::ranges::find(sheet.columns, key);
    if (found == sheet.columns.end())
        lines.fail("there is no column recording, which has the names of the result folders");
    const auto place = found - sheet.columns.begin();
    while (lines.next()) {
        std::vector<std::string> cells = lines.cells();
        if (cells.size() != sheet.columns.size())
            lines.fail("it has not as many fields as the first line");
        const std::string name = std::move(cells[static_cast<std::size_t>(place)]);
        cells.erase(cells.begin() + place);
        if (!sheet.of_recording.emplace(name, std::move(cells)).second)
            lines.fail(fmt::format("the recording {} is there twice", io::shown(name)));
    }
    sheet.columns.erase(found);
    return sheet;
}

}  // namespace spikeweave::report
