#include "cli/result_output.hpp"

#include <algorithm>
#include <iterator>

#include "spikeweave/report/page.hpp"

namespace spikeweave::cli {

void describe_output(option_list& list, output_options& options, const std::string& files) {
    list.begin_group("Output");
    list.add("output", options.to, "folder to write: " + files).basic().written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    add_page_option(list, options.report);
    list.add("json", options.json, "print one JSON document");
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

void check_place(const output_options& options, result_kind kind, const invocation& now) {
    if (!options.to.empty() && now.is_root())
        check_result_place(options.to, options.overwrite, kind);
}

void record_input(run_record& into, run_record input, const invocation& now) {
    into.command = now.command_line;
    into.input = std::move(input.input);
    into.duplicates = input.duplicates;
    into.stimuli = input.stimuli;
    std::ranges::move(input.parameters, std::back_inserter(into.parameters));
}

}  // namespace spikeweave::cli
