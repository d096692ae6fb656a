#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/manual_page.hpp"
#include "cli/output.hpp"
#include "cli/suggestions.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/nearest_name.hpp"

namespace spikeweave::cli {
namespace {

struct manual_command {
    const CLI::App* program = nullptr;
    std::string about{};
};

const CLI::App& page_about(const manual_command& options) {
    if (options.about.empty()) return *options.program;
    const std::vector<std::string> commands = names_of_commands(*options.program);
    if (std::ranges::find(commands, options.about) == commands.end())
        throw invalid_argument(fmt::format("there is no command '{}'{}", options.about,
                                           did_you_mean(nearest_name(options.about, commands))));
    return *options.program->get_subcommand(options.about);
}

void run(manual_command& options, invocation& /*now*/) {
    write_stdout(manual_page(page_about(options)));
}

}  // namespace

void declare_manual(CLI::App& sub, command& chosen) {
    const auto options =
        std::make_shared<manual_command>(manual_command{.program = sub.get_parent()});
    sub.add_option("COMMAND", options->about,
                   "the command that the page is about; if not given, all of spikeweave")
        ->type_name("");
    sub.footer("Example: spikeweave manual episodes | man -l -");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
