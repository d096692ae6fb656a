#include "report/several.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "report/episodes/several.hpp"
#include "report/sort/several.hpp"
#include "report/spade/several.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

std::string episodes_data(std::vector<named_result> all, bool is_series, double alpha,
                          const execution& run) {
    std::vector<compared_result> results;
    results.reserve(all.size());
    for (named_result& one : all) results.push_back(compared_result_of(std::move(one)));
    return several_episodes_data(several_of(std::move(results), run), is_series, alpha);
}

// @throws invalid_argument unless all results are of one kind, such as "spade".
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

std::string several_data(std::vector<named_result> results, const page_options& options,
                         const execution& run) {
    std::vector<std::string> kinds;
    std::vector<std::string> places;
    for (const named_result& one : results) {
        kinds.push_back(one.document.at("kind"));
        places.push_back(one.place);
    }
    check_kinds(kinds, places);
    const bool is_series = options.as == several_view::series;
    if (kinds[0] == "episodes")
        return episodes_data(std::move(results), is_series, options.alpha, run);
    if (kinds[0] == "spade")
        return several_patterns_data(std::move(results), is_series, options.alpha, run);
    if (options.as) throw invalid_argument("`as` is not for results of sort");
    return several_sortings_data(std::move(results), run);
}

}  // namespace spikeweave::report
