#include "spikeweave/report/run_record.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "io/digest.hpp"
#include "spikeweave/core/version.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave {
namespace {

std::string shell_word(std::string_view word) {
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
        return std::string(word);
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

}  // namespace

std::uint64_t peak_memory_bytes() {
    constexpr std::uint64_t bytes_per_unit = 1024;
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return static_cast<std::uint64_t>(usage.ru_maxrss) * bytes_per_unit;
}

std::string shell_line(std::string_view program, std::span<const std::string> words) {
    std::string text(program);
    for (const std::string& word : words) text += " " + shell_word(word);
    return text;
}

input_record describe_input(const std::filesystem::path& path, const execution& run) {
    const io::digest digest = io::digest_of(path, run.stop);
    return {path.string(), digest.bytes, std::string(io::digest_algorithm), digest.hex};
}

void record_run(run_record& record, const option_list& resolved, std::uint64_t seed,
                const execution& run, std::span<const int> used) {
    const parameter_list parameters = parameters_of(resolved);
    record.parameters.insert(record.parameters.end(), parameters.begin(), parameters.end());
    record.version = version();
    record.seed = seed;
    record.threads = thread_count(run);
    if (!used.empty())
        for (const device_info& one : devices())
            if (std::ranges::find(used, one.ordinal) != used.end()) record.devices.push_back(one);
    record.peak_memory_bytes = peak_memory_bytes();
}

}  // namespace spikeweave
