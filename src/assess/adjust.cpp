#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "assess/renewal.hpp"
#include "synfire/assess/significance.hpp"
#include "synfire/core/error.hpp"

namespace synfire {
namespace {

constexpr std::array<std::pair<correction, std::string_view>, 4> names{{
    {correction::none, "none"},
    {correction::bonferroni, "bonferroni"},
    {correction::holm, "holm"},
    {correction::benjamini_hochberg, "benjamini-hochberg"},
}};

}  // namespace

std::string_view to_string(correction method) {
    for (const auto& [value, name] : names)
        if (value == method) return name;
    return "?";
}

correction correction_from(std::string_view name) {
    for (const auto& [value, known] : names)
        if (known == name) return value;
    throw invalid_argument(fmt::format(
        "no correction is named '{}'; there are none, bonferroni, holm, benjamini-hochberg", name));
}

std::vector<double> adjust(std::span<const double> p, std::uint64_t tests, correction method) {
    if (tests < p.size())
        throw invalid_argument(
            fmt::format("{} p-values cannot come from {} tests", p.size(), tests));
    if (!std::all_of(p.begin(), p.end(), [](double value) { return value >= 0 && value <= 1; }))
        throw invalid_argument("a p-value must lie between 0 and 1");

    std::vector<double> q(p.begin(), p.end());
    const auto m = static_cast<double>(tests);
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
    switch (method) {
        case correction::none:
            break;
        case correction::bonferroni:
            for (double& value : q) value = std::min(1.0, value * m);
            break;
        case correction::holm: {
            double largest = 0;
            for (std::size_t rank = 0; rank < order.size(); ++rank) {
                largest = std::max(largest, (m - static_cast<double>(rank)) * p[order[rank]]);
                q[order[rank]] = std::min(1.0, largest);
            }
            break;
        }
        case correction::benjamini_hochberg: {
            double smallest = 1;  // of the unlisted, which rank last
            for (std::size_t rank = order.size(); rank-- > 0;) {
                smallest = std::min(smallest, m / static_cast<double>(rank + 1) * p[order[rank]]);
                q[order[rank]] = smallest;
            }
            break;
        }
    }
    return q;
}

std::vector<double> adjust_by_size(const episode_table& table, std::span<const double> p,
                                   correction method) {
    std::map<std::size_t, std::vector<std::size_t>> of_size;
    for (std::size_t i = 0; i < table.episodes.size(); ++i)
        of_size[table.episodes[i].what.size()].push_back(i);

    std::vector<double> q(p.size(), 1.0);
    for (const auto& [size, members] : of_size) {
        if (size < 2) continue;  // not a test
        std::uint64_t tests = members.size();
        for (const episode_level& level : table.levels)
            if (level.size == size) tests = std::max(tests, level.candidates);
        std::vector<double> listed;
        listed.reserve(members.size());
        for (const std::size_t i : members) listed.push_back(p[i]);
        const std::vector<double> adjusted = adjust(listed, tests, method);
        for (std::size_t k = 0; k < members.size(); ++k) q[members[k]] = adjusted[k];
    }
    return q;
}

}  // namespace synfire
