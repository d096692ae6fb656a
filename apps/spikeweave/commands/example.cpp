#include <fmt/format.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/simulate/examples.hpp"

namespace spikeweave::cli {
namespace {

struct example_command {
    std::string name{};
    std::string to{};
    bool overwrite = false;
    bool json = false;
};

std::string list_of_examples() {
    std::string out;
    for (const example_recording& example : example_recordings())
        out += fmt::format("{:<10} {}\n           answer: {}\n", example.name, example.about,
                           example.answer);
    return out + "\nspikeweave example NAME writes one, with the answer beside it.\n";
}

void run(example_command& options, invocation& call) {
    if (options.name.empty() && options.to.empty()) return write_stdout(list_of_examples());
    if (options.name.empty())
        throw invalid_argument("--output is for one example: name it, from the list of `example`");
    const example_recording& which = find_example(options.name);
    if (options.to.empty()) options.to = which.file;
    std::vector<std::string> simulate{"simulate", std::string(which.model)};
    for (std::string& word :
         std::visit([](const auto& of) { return changed_options(of); }, which.options))
        simulate.push_back(std::move(word));
    simulate.insert(simulate.end(), {"-o", options.to});
    if (options.overwrite) simulate.emplace_back("--overwrite");
    if (options.json) simulate.emplace_back("--json");
    call.run_command(simulate);
    if (options.json || call.quiet) return;
    const std::vector<std::string> file{options.to};
    write_stdout(
        fmt::format("answer: {}\nnext:   spikeweave {}\n", which.answer,
                    fmt::format(fmt::runtime(which.command), shell_line("", file).substr(1))));
}

}  // namespace

void declare_example(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<example_command>();
    sub.add_option("NAME", options->name, "the example to write; without it, all are listed")
        ->type_name("")
        ->group("Options");
    option_list list;
    list.begin_group("Options");
    list.add("output", options->to,
             "file of spikes to write (.tsv .txt .csv, also with .gz; .npz; .nwb, also as .h5), or "
             "the folder "
             "of a recording; the truth is written beside it, as by simulate")
        .by_default("the name of the example")
        .written("OUT");
    list.add("overwrite", options->overwrite, "replace OUT and its truth if they exist");
    add_json(list, options->json);
    add_described(sub, std::move(list));
    sub.footer("Example: spikeweave example culture -o culture.tsv");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
