#include "spikeweave/report/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/sort/masked_gmm.hpp"

namespace spikeweave {

std::string list_episode_strategies() {
    const auto runs_on = [](device_kind where, episode_strategy strategy) {
        const auto all = available_episode_strategies(where);
        return std::ranges::find(all, strategy) != all.end();
    };
    std::string text;
    for (const auto& [strategy, name, help] : enum_names<episode_strategy>().values) {
        const bool on_cpu = runs_on(device_kind::cpu, strategy);
        const bool on_cuda = runs_on(device_kind::cuda, strategy);
        if (on_cpu || on_cuda)
            text += fmt::format("{:<20} {:<8} {}\n", name,
                                on_cpu && on_cuda ? "cpu,cuda"
                                : on_cpu          ? "cpu"
                                                  : "cuda",
                                help);
    }
    return text + "All are exact and give the same counts.\n";
}

std::string list_spade_strategies() {
    std::string text;
    for (const auto& [strategy, name, help] : enum_names<spade_strategy>().values)
        text += fmt::format("{:<14} {}\n", name, help);
    return text + "All are exact and give the same patterns.\n";
}

std::string list_sort_strategies() {
    std::string text;
    const auto available = available_sort_strategies();
    for (const auto& [strategy, name, help] : enum_names<sort_strategy>().values)
        if (std::ranges::find(available, strategy) != available.end())
            text += fmt::format("{:<20} {}\n", name, help);
    return text + "All give the same clusters.\n";
}

}  // namespace spikeweave
