#include <filesystem>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::cli {
namespace {

struct report_command {
    std::filesystem::path folder{};
    std::filesystem::path to{};
    std::filesystem::path spikes{};
    bool overwrite = false;
};

option_list describe(report_command& options) {
    option_list list;
    list.begin_group("Options");
    list.add("output", options.to, "the page to write").written("PAGE.html");
    list.add("spikes", options.spikes, "the file that the result was made of")
        .by_default("where it was then")
        .written("FILE");
    list.add("overwrite", options.overwrite, "replace PAGE.html if it exists");
    return list;
}

void run(report_command& options, session& now) {
    check_output_place(options.to, options.overwrite);
    write_page(options.to, options.folder, options.spikes, now.run());
}

}  // namespace

void add_report(CLI::App& app, command& chosen) {
    const auto options = std::make_shared<report_command>();
    CLI::App& sub = *app.add_subcommand("report", "Show a result as a page for a browser.");
    sub.add_option("FOLDER", options->folder, "what episodes, spade or sort wrote with --output")
        ->required()
        ->type_name("")
        ->group("Input");
    add_described(sub, describe(*options));
    find_described(sub, "output")->required();
    sub.footer("Example: spikeweave report chains -o chains.html");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
