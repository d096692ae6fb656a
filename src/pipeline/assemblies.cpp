#include "spikeweave/pipeline/assemblies.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "core/grouped.hpp"

namespace spikeweave {
namespace {

void warn_of_what_was_not_searched(assembly_result& result) {
    for (const duration bin : result.found.too_wide)
        result.warnings.push_back(
            fmt::format("The recording is too short for bins of {}, which were not searched.",
                        format_duration(bin)));
    for (const assembly_step& step : result.found.steps)
        if (step.too_many)
            result.warnings.push_back(fmt::format(
                "In bins of {} there are {} assemblies of {} units, more than `max_assemblies`; "
                "larger ones were not searched.",
                format_duration(step.bin), core::grouped(step.kept), step.size));
}

}  // namespace

option_list describe(assembly_analysis_options& options) {
    option_list list = describe(options.time);
    list.add_all(describe(options.search));
    list.add_all(describe_threads(options.run));
    return list;
}

assembly_result find_assemblies(const spike_sequence& recording,
                                const assembly_analysis_options& options, const execution& run) {
    const auto began = std::chrono::steady_clock::now();
    check_options(options);
    assembly_result result{.options = options};
    chosen_time chosen = choose_time(recording, options.time);
    result.warnings = std::move(chosen.warnings);
    result.part = std::move(chosen.spikes);
    execution mining = run;
    mining.threads = options.run.threads;
    result.found = mine_assemblies(result.part ? *result.part : recording, options.search, mining);
    warn_of_what_was_not_searched(result);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace spikeweave
