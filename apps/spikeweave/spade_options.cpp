#include "spade_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli.hpp"
#include "described_options.hpp"
#include "output.hpp"
#include "reading.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

[[noreturn]] void list_spade_strategies() {
    std::string text;
    for (const auto& [strategy, name, help] : enum_names<spade_strategy>().values)
        text += fmt::format("{:<14} {}\n", name, help);
    write_stdout(text + "All are exact and give the same patterns.\n");
    throw CLI::Success();
}

void declare_output(CLI::App& app, spade_command& options) {
    app.option_defaults()->group("Output");
    CLI::Option* folder =
        add_value(app, "-o,--output", options.to, parse_path,
                  "folder to write: patterns.tsv, signatures.tsv, spectrum.tsv, funnel.tsv, "
                  "patterns.svg, spectrum.svg and run.json")
            ->type_name("OUT_DIR");
    app.add_flag("--overwrite", options.overwrite, "replace OUT_DIR if it exists")->needs(folder);
    app.add_flag("--occurrences", options.occurrences,
                 "also write when untested patterns occur: patterns.tsv may become large")
        ->needs(folder);
    app.add_flag("--nwb", options.nwb, "also write patterns.nwb")->needs(folder);
    app.add_flag("--json", options.json, "print one JSON document");
}

// The epochs are read from a file.
void declare_analysis(CLI::App& app, spade_command& options) {
    option_list analysis = describe(options.analysis);
    add_value(app, "--epochs", options.epochs_path, parse_path,
              with_command_line_names(analysis.find("epochs").help) +
                  "; EPOCHS is a table of begin and end in seconds")
        ->type_name("EPOCHS")
        ->group(analysis.find("epochs").group);
    analysis.remove("epochs");
    add_described(app, std::make_shared<option_list>(std::move(analysis)));
}

}  // namespace

void declare_spade(CLI::App& app, spade_command& options) {
    app.option_defaults()->group("Input");
    add_reading(app, options.path, options.how);
    CLI::Option* transactions =
        app.add_flag("--transactions", options.transactions,
                     "FILE holds windows, one a line: items UNIT * WINDOW + BIN as numbers");
    add_value(app, "--only-units", options.only_units, parse_names, "leave out all other units")
        ->type_name("A,B,...")
        ->excludes(transactions);
    declare_output(app, options);
    declare_analysis(app, options);
    for (const char* const name : {"t_start", "t_stop", "epochs", "surrogates"})
        find_described(app, name)->excludes(transactions);
    const std::string computation = find_described(app, "strategy")->get_group();
    add_value(app, "--max-memory", options.max_memory_bytes, parse_memory,
              "stop if more memory than this is needed, such as 2GB [four fifths of what is free]")
        ->type_name("SIZE")
        ->group(computation);
    app.add_flag_callback("--list-strategies", list_spade_strategies,
                          "list the ways to search and stop")
        ->group(computation);
}

void add_parameters(const spade_command& options, parameter_list& list) {
    list.emplace_back("only_units", options.only_units.empty()
                                        ? parameter_value(nullptr)
                                        : fmt::format("{}", fmt::join(options.only_units, ",")));
    list.emplace_back("max_memory", options.max_memory_bytes == 0
                                        ? parameter_value(nullptr)
                                        : parameter_value(options.max_memory_bytes));
}

}  // namespace spikeweave::cli
