#include "cli/parts.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/output.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/pipeline/epochs.hpp"

namespace spikeweave::cli {
namespace {

// The options that a part is made with: those of the analysis, with the epochs themselves. Their
// labels are beside the options.
void keep_analysis(option_list& described, std::vector<time_span>& epochs) {
    for (const char* name : {"output", "overwrite", "json", "part", "around", "epoch_labels"})
        described.remove(name);
    described.change("epochs").bind(epochs);
}

}  // namespace

void add_part_option(option_list& list, part_options& options) {
    list.add("part", options.part,
             "test with the K-th of N equal parts of the surrogates only, and write part.json to "
             "OUT_DIR, for spikeweave merge")
        .written("K/N")
        .by_default("all surrogates")
        .only_with("surrogates")
        .not_with({"hold_out", "confirm"});
}

void check_part(const part_options& options, const surrogate_options& surrogates,
                const output_options& output, result_kind whole, const invocation& call) {
    check_place(output, options.part.is_all() ? whole : result_kind::part, call);
    if (options.part.is_all()) return;
    check_part(options.part, surrogates);
    if (output.to.empty()) throw invalid_argument("`part` needs `output`");
}

void take_parameters(const std::vector<part_record>& parts, option_list described,
                     std::vector<time_span>& epochs) {
    keep_analysis(described, epochs);
    const run_record& run = parts.front().run;
    try {
        set_parameters(described, run.parameters);
    } catch (const invalid_argument& error) {
        throw invalid_argument(
            fmt::format("these parts are of spikeweave {}, and this is {}: {}; make them again",
                        run.version, version(), error.what()));
    }
}

void write_part(const output_options& output, part_record part, run_record input,
                option_list described, std::vector<time_span>& epochs, const invocation& call,
                const execution& run) {
    if (!call.is_root()) return;
    keep_analysis(described, epochs);
    input.parameters.clear();  // the described ones have them
    record_input(part.run, std::move(input), call);
    record_run(part.run, described, part.run.seed, run, {});
    part.run.seconds = call.seconds();
    write_part(output.to, part, output.overwrite, run);
    call.progress.clear();
    if (!call.quiet)
        write_stdout(fmt::format("part {} of {} of the surrogates written to {}\n", part.part.part,
                                 part.part.parts, output.to.string()));
}

}  // namespace spikeweave::cli
