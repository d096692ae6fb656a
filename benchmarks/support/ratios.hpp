#pragma once

#include <string>

/// Declares that the speed of the benchmarks "GROUP/…" is reported as a ratio to that of
/// "GROUP/BASELINE". Ratios are printed after all benchmarks ran: within one run they are reliable
/// even on a shared machine, unlike single times. The best repetition counts, by
/// `items_per_second`.
struct ratios_to {
    ratios_to(std::string group, std::string baseline);
};
