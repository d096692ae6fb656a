#include "cli/completion.hpp"

#include <memory>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"

namespace spikeweave::cli {
namespace {

struct completion_command {
    const CLI::App* program = nullptr;
    shell which = shell::bash;
};

void run(completion_command& options, session& /*now*/) {
    write_stdout(completion_script(*options.program, options.which));
}

}  // namespace

void declare_completion(CLI::App& sub, command& chosen) {
    const auto options =
        std::make_shared<completion_command>(completion_command{.program = sub.get_parent()});
    option_list list;
    list.begin_group("Options");
    list.add("shell", options->which, "the shell that you use");
    add_described(sub, std::move(list));
    sub.footer("Example: source <(spikeweave completion --shell bash)");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
