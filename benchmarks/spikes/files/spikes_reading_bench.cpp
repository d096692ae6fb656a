// Events per second from files, compared with a baseline that only finds line ends in the same
// bytes: the limit that the disk, the page cache and the memory set for a text reader.
//
// SPIKEWEAVE_BENCH_EVENTS sets the number of events (10^6 by default). Peak memory is that of the
// process, so it requires a single benchmark: --benchmark_filter=read_spikes/npz.

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "spikeweave/spikes/files.hpp"

namespace {

using spikeweave::spike_file;

constexpr std::uint64_t units = 100;

std::uint64_t event_count() {
    const char* asked = std::getenv("SPIKEWEAVE_BENCH_EVENTS");
    return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1'000'000;
}

// Event i is about 50 us after the previous one: 20,000 events per second in all.
std::int64_t time_of(std::uint64_t i) {
    return static_cast<std::int64_t>(50 * i + i * 2654435761U % 50);
}

std::uint64_t unit_of(std::uint64_t i) {
    return i * 40503 % 65521 % units;
}

class temporary_file {
public:
    explicit temporary_file(const std::string& extension)
        : path_(std::filesystem::temp_directory_path() /
                ("spikeweave-bench-" + std::to_string(::getpid()) + extension)) {}
    ~temporary_file() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// The file is written line by line, so that writing does not determine the peak memory.
void write_text(const std::filesystem::path& path, std::uint64_t count) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(path.c_str(), "w"),
                                                        &std::fclose);
    std::fputs("time_s\tunit\n", out.get());
    for (std::uint64_t i = 0; i < count; ++i)
        std::fprintf(out.get(), "%lld.%06lld\t%llu\n",
                     static_cast<long long>(time_of(i) / 1'000'000),
                     static_cast<long long>(time_of(i) % 1'000'000),
                     static_cast<unsigned long long>(unit_of(i)));
}

// Peak memory never decreases, so the other formats are written by another process.
void write_by_library(const std::filesystem::path& path, std::uint64_t count) {
    std::fflush(nullptr);
    if (const pid_t child = ::fork(); child == 0) {
        spikeweave::spike_sequence_builder builder;
        std::vector<spikeweave::unit_id> ids;
        for (std::uint64_t u = 0; u < units; ++u) ids.push_back(builder.unit(std::to_string(u)));
        for (std::uint64_t i = 0; i < count; ++i) builder.append(time_of(i), ids[unit_of(i)]);
        spikeweave::write_spikes(path, builder.finish());
        ::_exit(0);
    } else {
        int status = 0;
        ::waitpid(child, &status, 0);
    }
}

double peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
}

// The result is checked first: a reader that loses events is not fast.
bool is_right(const spike_file& file, std::uint64_t count) {
    const std::uint64_t last = count - 1;
    return file.spikes.size() == count && file.spikes.times_us().back() == time_of(last) &&
           file.spikes.name(file.spikes.units().back()) == std::to_string(unit_of(last)) &&
           file.out_of_order == 0;
}

void report(benchmark::State& state, const std::filesystem::path& path, std::uint64_t count) {
    const auto done = static_cast<std::int64_t>(state.iterations());
    state.SetItemsProcessed(done * static_cast<std::int64_t>(count));
    state.SetBytesProcessed(done * static_cast<std::int64_t>(std::filesystem::file_size(path)));
    state.counters["peak_bytes_per_event"] = peak_bytes() / static_cast<double>(count);
}

void read_spikes(benchmark::State& state, const std::string& extension) {
    const std::uint64_t count = event_count();
    const temporary_file file(extension);
    extension == ".tsv" ? write_text(file.path(), count) : write_by_library(file.path(), count);
    for (auto _ : state) {
        const spike_file read = spikeweave::read_spikes(file.path());
        if (!is_right(read, count)) return state.SkipWithError("events were lost or changed");
    }
    report(state, file.path(), count);
}

void scan_lines(benchmark::State& state) {
    const std::uint64_t count = event_count();
    const temporary_file file(".tsv");
    write_text(file.path(), count);
    std::vector<char> block(std::size_t{1} << 20);
    for (auto _ : state) {
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.path().c_str(), "r"),
                                                           &std::fclose);
        std::uint64_t lines = 0;
        while (const std::size_t n = std::fread(block.data(), 1, block.size(), in.get())) {
            const char* const end = block.data() + n;
            for (const char* p = block.data(); p != end; ++lines) {
                p = static_cast<const char*>(
                    std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
                if (p == nullptr) break;
                ++p;
            }
        }
        if (lines != count + 1) return state.SkipWithError("the baseline lost lines");
    }
    report(state, file.path(), count);
}

}  // namespace

BENCHMARK(scan_lines)->Name("scan_lines/text")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(read_spikes, text, ".tsv")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(read_spikes, text_gz, ".tsv.gz")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(read_spikes, npz, ".npz")->Unit(benchmark::kMillisecond)->UseRealTime();
#ifdef SPIKEWEAVE_BENCH_NWB
BENCHMARK_CAPTURE(read_spikes, nwb, ".nwb")->Unit(benchmark::kMillisecond)->UseRealTime();
#endif
