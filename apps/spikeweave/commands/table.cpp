#include "spikeweave/report/table.hpp"

#include <cstdint>
#include <filesystem>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"

namespace spikeweave::cli {
namespace {

struct table_command : place_options {
    std::vector<std::filesystem::path> folders{};
    table_options rows{};
};

option_list describe(table_command& options) {
    option_list list;
    list.begin_group("Options");
    describe_place(list, options, "the table to write, with tabs", "TABLE.tsv");
    list.add_all(describe(options.rows));
    add_json(list, options.json);
    return list;
}

void run(table_command& options, invocation& call) {
    check_output_place(options.to, options.overwrite);
    const table_summary written =
        write_table(options.to, options.folders, options.rows, call.run(), options.overwrite);
    call.warn(written.warnings);
    call.print(options.json,
               json_document({{"output", options.to.string()},
                              {"rows", written.rows},
                              {"recordings", std::uint64_t{written.recordings}},
                              {"without", written.without},
                              {"warnings", written.warnings}}),
               written.text());
}

}  // namespace

void declare_table(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<table_command>();
    add_argument(sub, "FOLDER", options->folders,
                 "folders that episodes, spade, sort, track, assemblies, bursts, replay or compare "
                 "wrote with "
                 "--output, all of the same command");
    declare_options(sub, chosen, options,
                    "Example: spikeweave table results/* --of circuit -o edges.tsv");
}

}  // namespace spikeweave::cli
