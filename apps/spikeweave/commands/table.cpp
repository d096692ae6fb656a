#include "spikeweave/report/table.hpp"

#include <cstdint>
#include <filesystem>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"

namespace spikeweave::cli {
namespace {

struct table_command {
    std::vector<std::filesystem::path> folders{};
    std::filesystem::path to{};
    table_options how{};
    bool overwrite = false;
    bool json = false;
};

option_list describe(table_command& options) {
    option_list list;
    list.begin_group("Options");
    list.add("output", options.to, "the table to write, with tabs").written("TABLE.tsv").required();
    list.add_all(describe(options.how));
    list.add("overwrite", options.overwrite, "replace TABLE.tsv if it exists");
    list.add("json", options.json, "print one JSON document");
    return list;
}

void run(table_command& options, invocation& now) {
    check_output_place(options.to, options.overwrite);
    const table_summary written =
        write_table(options.to, options.folders, options.how, now.run(), options.overwrite);
    now.warn(written.warnings);
    now.print(options.json,
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
    add_argument(
        sub, "FOLDER", options->folders,
        "folders that episodes, spade, sort, assemblies, replay or compare wrote with --output, "
        "all of the same command");
    declare_options(sub, chosen, options,
                    "Example: spikeweave table results/* --of circuit -o edges.tsv");
}

}  // namespace spikeweave::cli
