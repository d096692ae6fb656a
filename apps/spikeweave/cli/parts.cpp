#include "cli/parts.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/output.hpp"
#include "cli/result_output.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/version.hpp"

namespace spikeweave::cli {
namespace {

// Where a part is written, and what is printed, is not what it is a part of.
void remove_place(option_list& described) {
    for (const char* name : {"output", "overwrite", "json", "part"}) described.remove(name);
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
                const std::filesystem::path& to) {
    if (options.part.is_all()) return;
    check_part(options.part, surrogates);
    if (to.empty()) throw invalid_argument("`part` needs `output`");
}

void take_parameters(const std::vector<part_record>& parts, option_list described) {
    remove_place(described);
    const run_record& run = parts.front().run;
    try {
        set_parameters(described, run.parameters);
    } catch (const invalid_argument& error) {
        throw invalid_argument(
            fmt::format("these parts are of spikeweave {}, and this is {}: {}; make them again",
                        run.version, version(), error.what()));
    }
}

void write_part(const std::filesystem::path& to, bool overwrite, part_record part, run_record input,
                option_list described, const invocation& now, const execution& run) {
    if (!now.is_root()) return;
    remove_place(described);
    input.parameters.clear();  // the described ones have them
    record_input(part.run, std::move(input), now);
    record_run(part.run, described, part.run.seed, run, {});
    part.run.seconds = now.seconds();
    write_part(to, part, overwrite, run);
    now.progress.clear();
    if (!now.quiet)
        write_stdout(fmt::format("part {} of {} of the surrogates written to {}\n", part.part.part,
                                 part.part.parts, to.string()));
}

}  // namespace spikeweave::cli
