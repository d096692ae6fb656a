// spike_convert IN OUT: reads and writes through the library, and prints what was read; what the
// interoperability tests run.

#include <fmt/format.h>

#include <exception>

#include "synfire/core/error.hpp"
#include "synfire/spikes/files.hpp"

int main(int argc, char** argv) {
    try {
        if (argc < 2 || argc > 3) throw synfire::invalid_argument("usage: spike_convert IN [OUT]");
        const synfire::spike_file file = synfire::read_spikes(argv[1]);
        fmt::print("{} {} units {} spikes {} stimuli span {} {} duplicates {} out of order {}\n",
                   synfire::to_string(file.format), file.spikes.unit_count(), file.spikes.size(),
                   file.stimulus_us.size(), file.spikes.span().begin.count(),
                   file.spikes.span().end.count(), file.duplicates, file.out_of_order);
        for (const auto& warning : file.warnings) fmt::print("warning: {}\n", warning);
        for (const auto& warning : synfire::check_spikes(file.spikes))
            fmt::print("check: {}\n", warning);
        if (argc == 3) synfire::write_spikes(argv[2], file.spikes);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
