#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/stop.hpp"
#include "mine/assemblies/agglomerate.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/assemblies.hpp"

namespace spikeweave {
namespace {

// With fewer bins the distribution of the statistic does not hold, as the authors' program states.
constexpr std::uint64_t fewest_usable_bins = 100;

std::vector<unit_id> sorted_units(const assembly& of) {
    std::vector<unit_id> out = of.units;
    std::ranges::sort(out);
    return out;
}

void check_bins(const assembly_options& options) {
    if (options.bins.empty()) throw invalid_argument("bins", "expected at least one width");
    std::set<duration> seen;
    for (const duration bin : options.bins) {
        if (bin <= duration{0})
            throw invalid_argument("bins", fmt::format("{} is not above 0", format_duration(bin)));
        if (!seen.insert(bin).second)
            throw invalid_argument("bins", fmt::format("{} is listed twice", format_duration(bin)));
    }
}

auto smallest_p_first(const assembly& one) {
    return std::tuple(one.p.back(), -static_cast<std::int64_t>(one.units.size()), one.bin,
                      one.units);
}

}  // namespace

template <>
enum_table<bin_choice> enum_names<bin_choice>() {
    static constexpr std::array<named_value<bin_choice>, 3> values{{
        {bin_choice::every, "every", "those of every bin width"},
        {bin_choice::best, "best", "of the same units, that with the smallest p"},
        {bin_choice::largest, "largest",
         "also none whose units are all in a larger one of another bin width"},
    }};
    return {"choice of bin widths", values};
}

option_value option_codec<std::vector<duration>>::show(const std::vector<duration>& field) {
    std::string out;
    for (const duration one : field) {
        std::string text = format_duration(one);
        std::erase(text, ' ');
        out += (out.empty() ? "" : ",") + text;
    }
    return out;
}

std::vector<duration> option_codec<std::vector<duration>>::read(const option_value& value) {
    std::vector<duration> out;
    for (const std::string& text : option_codec<std::vector<std::string>>::read(value))
        out.push_back(parse_duration(text));
    return out;
}

option_list describe(assembly_options& options) {
    constexpr double longest_lag = 1'000;
    constexpr double longest_chunk = 1e6;
    option_list list;
    list.begin_group("Assemblies");
    list.add("bins", options.bins, "bin widths; each of them is searched separately")
        .written("WIDTH,...")
        .obeys([&options] { check_bins(options); });
    list.add("max_lag", options.max_lag, "the longest lag between two units, in bins")
        .at_least(2)
        .at_most(longest_lag);
    list.add("reference_lag", options.reference_lag,
             "a joint count is compared with the one at a lag that is shorter by this many bins; 0 "
             "compares it with the one at the opposite lag");
    list.add("alpha", options.alpha,
             "significance level; in each step it is divided by the number of tests")
        .above(0)
        .at_most(1);
    list.add("correct_bins", options.correct_bins,
             "divide the level by the number of bin widths as well")
        .off_means("do not divide the level by the number of bin widths");
    list.add("min_count", options.min_count, "smallest number of activations of an assembly")
        .at_least(1);
    list.add("max_size", options.max_size, "largest number of units in an assembly")
        .unset_is("no limit")
        .above(1);
    list.add("chunk", options.chunk,
             "number of successive bins in which rates are assumed to be constant")
        .at_least(3)
        .at_most(longest_chunk);
    list.add("max_assemblies", options.max_assemblies,
             "if a bin width has more assemblies of one size than this, they are not extended any "
             "further")
        .at_least(1);
    list.add("across_bins", options.across_bins,
             "which assemblies are kept if the same units are found at several bin widths: all "
             "(every), the one with the smallest p (best), or of these only those whose units are "
             "not all in a larger one (largest)");
    return list;
}

void assemblies::choose_bins(std::vector<assembly>& all, bin_choice choice) {
    std::ranges::stable_sort(all, {}, smallest_p_first);
    if (choice == bin_choice::every) return;
    std::set<std::vector<unit_id>> seen;
    std::erase_if(all, [&](const assembly& one) { return !seen.insert(sorted_units(one)).second; });
    if (choice == bin_choice::best) return;
    std::erase_if(all, [&](const assembly& one) {
        const std::vector<unit_id> units = sorted_units(one);
        return std::ranges::any_of(seen, [&](const std::vector<unit_id>& other) {
            return other.size() > units.size() && std::ranges::includes(other, units);
        });
    });
}

mined_assemblies mine_assemblies(const spike_sequence& spikes, const assembly_options& options,
                                 const execution& run) {
    check_options(options);
    if (options.reference_lag > options.max_lag)
        throw invalid_argument(
            "reference_lag",
            fmt::format("{} is above `max_lag` {}", options.reference_lag, options.max_lag));
    const double alpha = options.correct_bins
                             ? options.alpha / static_cast<double>(options.bins.size())
                             : options.alpha;
    mined_assemblies out;
    for (const duration width : options.bins) {
        core::throw_if_stopped(run.stop);
        const assemblies::layout bins(spikes, width, options.max_lag, options.chunk);
        if (bins.usable < fewest_usable_bins) {
            out.too_wide.push_back(width);
            continue;
        }
        const auto units = assemblies::series_of(spikes, bins, run.stop);
        assemblies::width_result found = assemblies::agglomerate(units, bins, alpha, options, run);
        std::ranges::move(found.assemblies, std::back_inserter(out.assemblies));
        std::ranges::move(found.steps, std::back_inserter(out.steps));
    }
    if (out.too_wide.size() == options.bins.size())
        throw invalid_argument(
            "bins", fmt::format("the recording has fewer than {} bins of {} after `max_lag` {}",
                                fewest_usable_bins, format_duration(std::ranges::min(options.bins)),
                                options.max_lag));
    assemblies::choose_bins(out.assemblies, options.across_bins);
    return out;
}

}  // namespace spikeweave
