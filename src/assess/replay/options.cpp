#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "spikeweave/assess/episodes/options.hpp"
#include "spikeweave/assess/replay.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

constexpr double least_scale = 0.001;
constexpr double most_scale = 1000;
constexpr std::uint32_t most_scales = 1000;

// Reads a number up to the next colon, and removes both.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
    const std::string_view part = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    Number value{};
    const auto [stopped, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || stopped != part.data() + part.size()) return {};
    return value;
}

void check_scales(const scale_grid& scales) {
    if (!(scales.least >= least_scale && scales.least <= scales.most && scales.most <= most_scale &&
          scales.steps >= 1 && scales.steps <= most_scales) ||
        (scales.steps == 1 && scales.least != scales.most))
        throw invalid_argument(
            "scales", fmt::format("expected LEAST:MOST:STEPS with {} <= LEAST <= MOST <= {} and 2 "
                                  "to {} steps (1 if LEAST is MOST), such as 0.05:2:12",
                                  least_scale, most_scale, most_scales));
}

}  // namespace

std::vector<double> scale_grid::values() const {
    constexpr double digits = 1e4;
    check_scales(*this);
    std::vector<double> out;
    for (std::uint32_t i = 0; i < steps; ++i) {
        const double part = steps == 1 ? 0 : static_cast<double>(i) / (steps - 1);
        out.push_back(std::round(least * std::pow(most / least, part) * digits) / digits);
    }
    return out;
}

option_value option_codec<scale_grid>::show(const scale_grid& field) {
    return fmt::format("{}:{}:{}", field.least, field.most, field.steps);
}

scale_grid option_codec<scale_grid>::read(const option_value& value) {
    const auto& given = std::get<std::string>(value);
    std::string_view text = given;
    const auto least = take_number<double>(text);
    const auto most = take_number<double>(text);
    const auto steps = take_number<std::uint32_t>(text);
    if (!least || !most || !steps || !text.empty())
        throw invalid_argument(
            fmt::format("'{}' is not LEAST:MOST:STEPS, such as 0.05:2:12", given));
    return {*least, *most, *steps};
}

template <>
enum_table<replay_null> enum_names<replay_null>() {
    using enum replay_null;
    static constexpr named_value<replay_null> values[]{
        {identities, "identities",
         "exchange the spike trains of a chain's active units in each event"},
        {surrogates, "surrogates", "surrogates of all spikes"}};
    return {"null model", values};
}

template <>
enum_table<replay_direction> enum_names<replay_direction>() {
    using enum replay_direction;
    static constexpr named_value<replay_direction> values[]{{forward, "forward"},
                                                            {reverse, "reverse"}};
    return {"direction", values};
}

option_list describe(population_event_options& options) {
    constexpr double most_deviations = 100;
    option_list list;
    list.begin_group("Events");
    list.add("event_threshold", options.threshold,
             "an event is found where the smoothed rate of all units together exceeds its mean by "
             "this many standard deviations")
        .above(0)
        .at_most(most_deviations);
    list.add("event_min", options.shortest, "shorter events are not used").above(0);
    list.add("event_max", options.longest, "longer events are not used").above(0);
    return list;
}

option_list describe(replay_options& options) {
    constexpr double most_alpha = 0.5;
    option_list list;
    list.begin_group("Replay");
    list.add("scales", options.scales,
             "factors by which all delays are multiplied: the smallest, the largest and how many, "
             "evenly spaced in their logarithm")
        .basic()
        .written("LEAST:MOST:STEPS")
        .obeys([&options] { check_scales(options.scales); });
    list.add("null", options.null,
             "null model for the counts: identities exchanges the spike trains of the "
             "chain's active units in each event, and counts in events only; surrogates uses those "
             "of `surrogate_method`, and counts in all of the analysed time");
    list.add("ties", options.ties,
             "whether two occurrences overlap is decided by the times of their spikes (time) or by "
             "the order of these (order)");
    list.add("alpha", options.alpha, "significance level, for the p of events and the q of chains")
        .basic()
        .above(0)
        .at_most(most_alpha);
    list.add_all(describe_episode_surrogates(options.surrogates));
    option& number = list.change("surrogates");
    number.help = "number of shuffles of the null model";
    number.default_text.clear();
    number.at_least(1);
    list.change("seed").help = "random seed of the shuffles";
    list.change("seed").needs.clear();
    for (const char* const name : {"surrogate_method", "dither"})
        list.change(name).only_with("null").help += " (`null` surrogates)";
    return list;
}

}  // namespace spikeweave
