#include "cli/result_output.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/described_options.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::cli {

void describe_place(option_list& list, place_options& options, const std::string& help,
                    const std::string& placeholder, const std::string& replaced) {
    list.add("output", options.to, help).written(placeholder).required();
    list.add("overwrite", options.overwrite,
             "replace " + (replaced.empty() ? placeholder + " if it exists" : replaced));
}

void add_json(option_list& list, bool& wanted) {
    list.add("json", wanted, "print one JSON document");
}

void add_json(CLI::App& app, bool& wanted) {
    option_list list;
    list.begin_group("Options");
    add_json(list, wanted);
    add_described(app, std::move(list));
}

void describe_output(option_list& list, output_options& options, const std::string& files) {
    list.begin_group("Output");
    list.add("output", options.to, "folder to write: " + files).basic().written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    add_page_option(list, options.report);
    add_json(list, options.json);
}

void add_occurrences(option_list& list, bool& wanted) {
    list.add("occurrences", wanted,
             "also write occurrences.tsv: the times at which the chains and direct edges occur")
        .only_with("output");
}

void add_max_memory(option_list& list, std::uint64_t& bytes) {
    list.begin_group("Computation");
    list.add("max_memory", bytes, "stop if more memory than this is needed, such as 2GB")
        .unset_is("four fifths of the free memory")
        .in_bytes();
}

void check_place(const output_options& options, result_kind kind, const invocation& call) {
    if (!options.to.empty() && call.is_root())
        check_result_place(options.to, options.overwrite, kind);
}

void record_input(run_record& into, run_record input, const invocation& call) {
    into.command = call.command_line;
    into.input = std::move(input.input);
    into.duplicates = input.duplicates;
    into.stimuli = input.stimuli;
    into.epoch_labels = std::move(input.epoch_labels);
    std::ranges::move(input.parameters, std::back_inserter(into.parameters));
}

}  // namespace spikeweave::cli
