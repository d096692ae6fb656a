#include "spikeweave/report/page.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "io/session_schema.hpp"
#include "page_text.hpp"
#include "report/document.hpp"
#include "report/episodes/window_tables.hpp"
#include "report/live/page_data.hpp"
#include "report/several.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// In JSON these characters are in texts only. Escaped, they can end no script, and no reader takes
// them for ends of lines or refuses them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> escapes{
    {{"<", "\\u003c"},
     {">", "\\u003e"},
     {"&", "\\u0026"},
     {"\xE2\x80\xA8", "\\u2028"},
     {"\xE2\x80\xA9", "\\u2029"},
     {"\xEF\xBF\xBE", "\\ufffe"},
     {"\xEF\xBF\xBF", "\\uffff"}}};

void append_escaped(std::string& out, std::string_view data) {
    while (!data.empty()) {
        const std::size_t plain = std::min(data.find_first_of("<>&\xE2\xEF"), data.size());
        out += data.substr(0, plain);
        data.remove_prefix(plain);
        if (data.empty()) break;
        std::string_view text = data.substr(0, 1);
        std::size_t length = 1;
        for (const auto& [bytes, escape] : escapes)
            if (data.starts_with(bytes)) {
                text = escape;
                length = bytes.size();
            }
        out += text;
        data.remove_prefix(length);
    }
}

bool is_session(const std::filesystem::path& path) {
    std::array<char, 100> head{};  // that of a database
    std::ifstream file = io::open_found(path);
    file.read(head.data(), head.size());
    return io::is_session(path, {head.data(), static_cast<std::size_t>(file.gcount())});
}

// Errors in a document name its file.
template <class Make>
auto from_document(const std::string& place, const Make& make) {
    try {
        return make();
    } catch (const report::json::exception& error) {
        throw io::file_error(std::filesystem::path(place) / "result.json",
                             report::reason_of(error));
    }
}

std::string data_of(report::named_result one, const page_options& options, const execution& run) {
    return from_document(one.place, [&] {
        if (one.document.at("kind") == "windows")
            return report::window_page_text(one.document, options.alpha, run);
        return report::page_text(std::move(one.document));
    });
}

std::string data_of(std::vector<report::named_result> results, const page_options& options,
                    const execution& run) {
    check_options(options);
    if (results.empty()) throw invalid_argument("a page shows at least one result");
    if (results.size() > 1) return report::several_data(std::move(results), options, run);
    if (options.as) throw invalid_argument("`as` is for a page of several results");
    return data_of(std::move(results.front()), options, run);
}

report::page_content content_of(std::span<const std::filesystem::path> shown,
                                const page_options& options, const execution& run) {
    if (shown.size() == 1 && is_session(shown.front())) {
        if (options.as) throw invalid_argument("`as` is for a page of several results");
        return report::session_page(shown.front(), options.alpha, run);
    }
    const std::vector<std::string> names = report::names_of_folders(shown);
    std::vector<report::named_result> results;
    for (std::size_t i = 0; i < shown.size(); ++i)
        results.push_back({names[i], shown[i].string(), report::read_document(shown[i])});
    return {data_of(std::move(results), options, run), {}};
}

// Reads nothing but the sentence: data may be large.
std::string summary_in(const std::string& data) {
    using event = report::json::parse_event_t;
    const auto is_read = [](int depth, event what, const report::json& read) {
        return what != event::key || depth != 1 || read == "run";
    };
    return report::json::parse(data, is_read).at("run").at("summary");
}

}  // namespace

void add_page_option(option_list& list, bool& wanted) {
    list.add("report", wanted, "also write report.html, a page for a browser")
        .off_means("do not write report.html, the page for a browser")
        .only_with("output");
}

std::string page_of(std::string_view data) {
    std::string page(report::page_head);
    append_escaped(page, data);
    for (const std::string_view part : report::page_tail) page += part;
    return page;
}

template <>
enum_table<several_view> enum_names<several_view>() {
    using enum several_view;
    static constexpr named_value<several_view> values[]{{side_by_side, "side-by-side"},
                                                        {series, "series"}};
    return {"view of several results", values};
}

option_list describe(page_options& options) {
    option_list list;
    list.begin_group("Options");
    list.add("as", options.as,
             "how several results are shown: all compared with the first one (side-by-side), or "
             "one after another, each compared with the one before it (series)")
        .by_default("side-by-side");
    list.add("alpha", options.alpha,
             "significance level for differences of rates between two results or windows")
        .above(0)
        .at_most(1);
    list.add_moved({"spikes"}, "the folder of the result holds its spikes");
    return list;
}

std::string read_result(const std::filesystem::path& folder) {
    return report::compact(report::read_document(folder));
}

std::string page_of_results(const std::vector<result_document>& results,
                            const page_options& options, const execution& run) {
    std::vector<report::named_result> read;
    read.reserve(results.size());
    for (const result_document& one : results)
        read.push_back({one.name, one.name, report::json::parse(one.text)});
    return page_of(data_of(std::move(read), options, run));
}

written_page write_page(const std::filesystem::path& page,
                        std::span<const std::filesystem::path> folders, const page_options& options,
                        const execution& run, bool overwrite) {
    check_options(options);
    report::page_content shown = content_of(folders, options, run);
    io::atomic_file file(page, overwrite);
    file.write(page_of(shown.data));
    file.commit();
    return {summary_in(shown.data), std::move(shown.warnings)};
}

}  // namespace spikeweave
