#pragma once

#include <ctime>
#include <string>

/// CPU time of this process, all threads together: what a shared machine changes least.
inline double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Gives free memory back and forgets the peak so far.
void reset_peak_memory();
/// The most memory that this process had since then (VmHWM).
double peak_megabytes();

/// What a program prints, run without a shell; empty when it fails.
std::string output_of(const char* const* arguments);
