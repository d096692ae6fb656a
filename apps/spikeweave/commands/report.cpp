#include <fmt/format.h>

#include <filesystem>

#include "cli/described_options.hpp"
#include "commands/commands.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::cli {
namespace {

struct report_command : place_options {
    std::vector<std::filesystem::path> folders{};
    page_options page{};
};

option_list describe(report_command& options) {
    option_list list;
    list.begin_group("Options");
    describe_place(list, options, "the page to write", "PAGE.html");
    list.add_all(describe(options.page));
    return list;
}

void run(report_command& options, invocation& call) {
    check_output_place(options.to, options.overwrite);
    const written_page page =
        write_page(options.to, options.folders, options.page, call.run(), options.overwrite);
    call.warn(page.warnings);
    if (!call.quiet)
        write_stdout(
            fmt::format("{}\n{} shows this in a browser\n", page.summary, options.to.string()));
}

}  // namespace

void declare_report(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<report_command>();
    add_argument(
        sub, "FOLDER", options->folders,
        "a folder that episodes, spade, sort, track, replay, assemblies, bursts or compare wrote "
        "with --output; several of episodes, spade, sort or bursts are compared; or a session "
        "that live recorded with --record");
    declare_options(sub, chosen, options, "Example: spikeweave report chains -o chains.html");
}

}  // namespace spikeweave::cli
