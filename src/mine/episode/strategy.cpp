#include "mine/episode/strategy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "synfire/core/error.hpp"

namespace synfire {
namespace {

struct strategy_entry {
    episode_strategy strategy;
    std::string_view name;
    episodes::list_counter count;
};

constexpr std::array<strategy_entry, 6> strategies{{
    {episode_strategy::reference, "reference", episodes::count_by_reference},
    {episode_strategy::state_machine, "state-machine", episodes::count_by_state_machine},
    {episode_strategy::two_pass, "two-pass", episodes::count_by_two_pass},
    {episode_strategy::occurrences, "occurrences", episodes::count_by_occurrences},
    {episode_strategy::segments, "segments", episodes::count_by_segments},
    {episode_strategy::latest_start, "latest-start", episodes::count_by_latest_start},
}};

}  // namespace

std::string_view to_string(episode_strategy strategy) {
    if (strategy == episode_strategy::automatic) return "automatic";
    return std::find_if(strategies.begin(), strategies.end(),
                        [&](const auto& s) { return s.strategy == strategy; })
        ->name;
}

episode_strategy episode_strategy_from(std::string_view name) {
    if (name == "automatic") return episode_strategy::automatic;
    std::vector<std::string_view> names{"automatic"};
    for (const auto& s : strategies) {
        if (s.name == name) return s.strategy;
        names.push_back(s.name);
    }
    throw invalid_argument(
        fmt::format("no strategy is named '{}'; there are: {}", name, fmt::join(names, ", ")));
}

std::vector<episode_strategy> available_episode_strategies() {
    std::vector<episode_strategy> all;
    all.reserve(strategies.size());
    for (const auto& s : strategies) all.push_back(s.strategy);
    return all;
}

std::string_view to_string(tie_rule ties) {
    return ties == tie_rule::time ? "time" : "order";
}

tie_rule tie_rule_from(std::string_view name) {
    if (name == "time") return tie_rule::time;
    if (name == "order") return tie_rule::order;
    throw invalid_argument(fmt::format("no tie rule is named '{}'; there are: time, order", name));
}

std::string_view to_string(pair_method method) {
    switch (method) {
        case pair_method::automatic:
            return "automatic";
        case pair_method::merge:
            return "merge";
        case pair_method::look_back:
            return "look-back";
    }
    return "?";
}

pair_method pair_method_from(std::string_view name) {
    for (const auto method : {pair_method::automatic, pair_method::merge, pair_method::look_back}) {
        if (name == to_string(method)) return method;
    }
    throw invalid_argument(fmt::format(
        "no way to count pairs is named '{}'; there are: automatic, merge, look-back", name));
}

namespace episodes {

list_counter counter_of(episode_strategy strategy) {
    for (const auto& s : strategies) {
        if (s.strategy == strategy) return s.count;
    }
    throw invalid_argument("automatic is no strategy that can count");
}

episode_strategy chosen(episode_strategy strategy) {
    return strategy == episode_strategy::automatic ? episode_strategy::latest_start : strategy;
}

}  // namespace episodes
}  // namespace synfire
