#include "report/comparisons.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "report/episodes/comparison.hpp"
#include "report/sort/comparison.hpp"
#include "report/spade/comparison.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace report {
namespace {

std::string episodes_data(std::vector<named_page> pages, bool is_series, double alpha,
                          const execution& run) {
    std::vector<compared_result> results;
    results.reserve(pages.size());
    for (named_page& one : pages) results.push_back(result_of_page(one.name, std::move(one.data)));
    return comparison_page_data(compare(std::move(results), run), is_series, alpha);
}

}  // namespace

std::vector<std::string> names_of_folders(std::span<const std::filesystem::path> folders) {
    std::vector<std::string> names;
    for (const std::filesystem::path& folder : folders) {
        const std::filesystem::path whole =
            std::filesystem::absolute(folder / "").lexically_normal();
        names.push_back(whole.parent_path().filename().string());
    }
    if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
        for (std::size_t i = 0; i < names.size(); ++i) names[i] = folders[i].string();
    return names;
}

void check_kinds(std::span<const std::string> kinds, std::span<const std::string> places) {
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (kinds[i] != kinds[0])
            throw invalid_argument(fmt::format(
                "'{}' is a result of {} and '{}' is one of {}: only results of one kind can be "
                "compared",
                places[0], kinds[0], places[i], kinds[i]));
    if (kinds[0] == "replay" || kinds[0] == "assemblies" || kinds[0] == "compare")
        throw invalid_argument(
            fmt::format("'{}' is a result of {}, which cannot be compared with another one",
                        places[0], kinds[0]));
    if (kinds[0] == "windows")
        throw invalid_argument(
            fmt::format("'{}' is a result of episodes in windows, which cannot be compared with "
                        "another one",
                        places[0]));
}

std::string comparison_data(std::vector<named_page> results, const page_options& options,
                            const execution& run) {
    std::vector<std::string> kinds;
    std::vector<std::string> places;
    for (const named_page& one : results) {
        kinds.push_back(one.data.at("kind"));
        places.push_back(one.place);
    }
    check_kinds(kinds, places);
    const bool is_series = options.as == comparison_view::series;
    if (kinds[0] == "episodes")
        return episodes_data(std::move(results), is_series, options.alpha, run);
    if (kinds[0] == "spade")
        return pattern_comparison_data(std::move(results), is_series, options.alpha, run);
    if (options.as) throw invalid_argument("`as` is not for results of sort");
    return sorting_comparison_data(std::move(results), run);
}

}  // namespace report

std::string compared_page(const std::vector<result_data>& results, const page_options& options,
                          const execution& run) {
    check_options(options);
    if (results.size() < 2) throw invalid_argument("a comparison is of two results or more");
    std::vector<report::named_page> pages;
    pages.reserve(results.size());
    for (const result_data& one : results)
        pages.push_back({one.name, one.name, report::json::parse(one.data)});
    return page_of(report::comparison_data(std::move(pages), options, run));
}

}  // namespace spikeweave
