#pragma once

#include <string>

/// Declares that the speed of the benchmarks "GROUP/…" is to be told as a ratio to that of
/// "GROUP/BASELINE". Ratios are printed after all benchmarks ran: within one run they hold where
/// single times on a shared machine do not. The best of the repetitions counts, by
/// `items_per_second`.
struct ratios_to {
    ratios_to(std::string group, std::string baseline);
};
