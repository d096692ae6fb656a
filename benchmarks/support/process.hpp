#pragma once

#include <ctime>
#include <string>

/// CPU time of this process with all its threads: the time that a shared machine disturbs least.
inline double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Returns free memory to the system and resets the peak.
void reset_peak_memory();
/// Returns the peak memory of this process since then (VmHWM).
double peak_megabytes();

/// Runs a program without a shell and returns its output; empty if it fails.
std::string output_of(const char* const* arguments);
