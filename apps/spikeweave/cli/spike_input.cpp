#include "cli/spike_input.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {

spike_source::spike_source(const std::string& path, const std::stop_token& stop) : path_(path) {
    if (!is_standard_input(path)) return;
    held_.emplace(stop);
    path_ = held_->path();
}

spike_file spike_source::read(const spike_read_options& how, const execution& run) const {
    const auto renamed = [this](std::string text) {
        for (const std::string& name : {"'" + path_ + "'", path_})
            if (const std::size_t at = text.find(name); at != std::string::npos)
                text.replace(at, name.size(), "standard input");
        return text;
    };
    try {
        return read_spikes(path_, how, run);
    } catch (const std::bad_alloc&) {
        throw io_error(
            fmt::format("'{}': there is not enough memory for its spikes: --only-units reads some "
                        "of them, and episodes --stream holds only a part in memory at a time",
                        held_ ? "standard input" : path_));
    } catch (const io_error& error) {
        if (!held_) throw;
        throw io_error(renamed(error.what()));
    } catch (const invalid_argument& error) {
        if (!held_) throw;
        throw invalid_argument(renamed(error.what()));
    }
}

input_record spike_source::describe(const execution& run) const {
    input_record record = describe_input(path_, run);
    if (held_) record.path = "-";
    return record;
}

void add_spike_file(CLI::App& app, std::string& path, const std::string& what) {
    app.add_option("FILE", path, what + "; - is standard input")
        ->required()
        ->type_name("")
        ->group("Input");
}

option_list describe(spike_input_options& options) {
    return describe(options.how);
}

spike_input read_input(const spike_input_options& options, const invocation& now,
                       const execution& run) {
    if (is_standard_input(options.path) && now.ranks)
        throw invalid_argument("several processes cannot share standard input: name a file");
    const spike_source source(options.path, now.stop);
    spike_file file = source.read(options.how, run);
    spike_read_options how = options.how;
    spike_input in{.has_recorded_span = file.has_recorded_span,
                   .record = {.parameters = parameters_of(describe(how)),
                              .input = source.describe(run),
                              .duplicates = file.duplicates,
                              .stimuli = file.stimulus_us.size()}};
    add_warnings(in.record, warnings_of(file));
    in.stimulus_us = std::move(file.stimulus_us);
    now.stop_if_asked();
    in.left_out = units_left_out(file);
    in.spikes = std::move(file.spikes);
    return in;
}

std::vector<episode> read_given(const std::filesystem::path& file, const spike_input& input) {
    if (!input.left_out.empty()) check_not_left_out(input.left_out, units_of_episodes(file));
    return read_episodes(file, input.spikes);
}

}  // namespace spikeweave::cli
