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

void run(completion_command& options, invocation& /*now*/) {
    write_stdout(completion_script(*options.program, options.which));
}

}  // namespace

void declare_completion(CLI::App& sub, command& chosen) {
    const auto options =
        std::make_shared<completion_command>(completion_command{.program = sub.get_parent()});
    option_list list;
    list.begin_group("Options");
    list.add("shell", options->which, "the shell that you use");
    sub.add_option_function<std::string>(
           "SHELL",
           [options](const std::string& name) {
               option_list of_shell;
               of_shell.add("shell", options->which, "");
               set_checked([&] { of_shell.find("shell").set_text(name); });
           },
           "the same as --shell SHELL")
        ->type_name("");
    add_described(sub, std::move(list));
    find_described(sub, "shell")->excludes(sub.get_option("SHELL"));
    sub.footer("Example: source <(spikeweave completion bash)");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
