#include <filesystem>
#include <memory>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/report/part_record.hpp"

namespace spikeweave::cli {
namespace {

struct merge_command {
    std::vector<std::filesystem::path> folders{};
    merge_target target{};
};

option_list describe(merge_command& options) {
    option_list list;
    list.begin_group("Options");
    describe_place(list, options.target.output,
                   "folder to write; it holds what a single run would write", "OUT_DIR");
    list.add("input", options.target.input, "the file with the spikes, if it was moved")
        .written("FILE")
        .by_default("where the parts say it was");
    add_json(list, options.target.output.json);
    return list;
}

void run(merge_command& options, invocation& call) {
    const std::vector<part_record> parts = read_parts(options.folders);
    if (options.target.input.empty()) options.target.input = parts.front().run.input.path;
    if (parts.front().verb == "spade")
        merge_spade(parts, options.target, call);
    else
        merge_episodes(parts, options.target, call);
}

}  // namespace

void declare_merge(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<merge_command>();
    add_argument(sub, "FOLDER", options->folders,
                 "folders that episodes or spade wrote with --part");
    declare_options(sub, chosen, options,
                    "Example: spikeweave merge part-1 part-2 part-3 -o patterns");
}

}  // namespace spikeweave::cli
