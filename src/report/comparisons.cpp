#include "report/comparisons.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "report/episodes/comparison.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace report {

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

}  // namespace report

std::string compared_page(const std::vector<result_data>& results, const page_options& options,
                          const execution& run) {
    check_options(options);
    if (results.size() < 2) throw invalid_argument("a comparison is of two results or more");
    std::vector<report::compared_result> compared;
    for (const result_data& one : results)
        compared.push_back(report::result_of_page(one.name, report::json::parse(one.data)));
    return page_of(report::comparison_page_data(report::compare(std::move(compared), run),
                                                options.as == comparison_view::series,
                                                options.alpha));
}

}  // namespace spikeweave
