#include "spikeweave/core/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/text.hpp"

namespace spikeweave {
namespace {

// Counts the letters to insert, remove, replace or exchange with their neighbour (optimal string
// alignment).
std::size_t edits_between(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> edits(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                edits[i][j] = i + j;
                continue;
            }
            const std::size_t differ = a[i - 1] == b[j - 1] ? 0 : 1;
            edits[i][j] =
                std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + differ});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
        }
    }
    return edits[a.size()][b.size()];
}

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool is_same_but_for_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view typed,
                                        std::span<const std::string> known) {
    for (const std::string& name : known)
        if (is_same_but_for_case(typed, name)) return name;
    std::optional<std::string> best;
    // Another number, or a letter in three, is another name and no slip.
    constexpr std::size_t shortest = 4;
    if (typed.size() < shortest || std::ranges::all_of(typed, core::is_digit)) return best;
    std::size_t least = std::max<std::size_t>(typed.size() / 3, 1) + 1;
    for (const std::string& name : known) {
        const std::size_t edits = edits_between(typed, name);
        if (edits >= least) continue;
        least = edits;
        best = name;
    }
    return best;
}

std::string did_you_mean(const std::optional<std::string>& near) {
    return near ? fmt::format("; did you mean {}?", *near) : "";
}

}  // namespace spikeweave
