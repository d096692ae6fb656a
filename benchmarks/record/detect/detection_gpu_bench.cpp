// From a recording to described spikes on a GPU compared with the CPU's threads, on the same
// machine in the same run. The GPU's result is first compared with the CPU's bit by bit.
// `times_real_time` is the duration of the recording divided by the time taken. The times of the
// parts are reported in seconds.
//
// …_from_file: the samples are read from a raw file in the system's cache.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/simulate/recording.hpp"

namespace {

using namespace spikeweave;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

struct load {
    std::uint32_t channels;
    std::chrono::seconds length;
    std::uint32_t units;

    auto operator<=>(const load&) const = default;
};
constexpr load tetrodes{32, 120s, 20};
constexpr load probe{384, 20s, 200};

// Makes the recording and keeps only the last one.
const recording& recording_of(const load& what) {
    static std::optional<recording> kept;
    static std::optional<load> of;
    if (!of || *of != what) {
        kept.reset();
        kept =
            simulate_recording(
                {.channels = what.channels, .length = what.length, .units = what.units, .seed = 1})
                .traces;
        of = what;
    }
    return *kept;
}

// A raw file of the recording, which is removed at the end.
class raw_file {
public:
    explicit raw_file(const recording& from)
        : path_(std::filesystem::temp_directory_path() /
                ("spikeweave_detection_bench_" + std::to_string(getpid()) + ".bin")) {
        std::vector<std::int16_t> samples(from.frame_count() * from.channel_count());
        from.read(0, samples);
        std::ofstream(path_, std::ios::binary)
            .write(reinterpret_cast<const char*>(samples.data()),
                   static_cast<std::streamsize>(samples.size() * sizeof(std::int16_t)));
    }
    ~raw_file() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    raw_file(const raw_file&) = delete;
    raw_file& operator=(const raw_file&) = delete;

    // Channels are on a line, because positions are not given.
    recording opened(const recording& like) const {
        return read_recording(path_, {.format = recording_format::raw,
                                      .sample_rate = like.rate_hz(),
                                      .channels = static_cast<std::uint32_t>(like.channel_count()),
                                      .gain = like.channels().front().gain_uv});
    }

private:
    std::filesystem::path path_;
};

bool same(const detection_result& a, const detection_result& b) {
    return a.noise == b.noise && a.frames == b.frames && a.peak_channels == b.peak_channels &&
           a.mask_channels == b.mask_channels && a.masks == b.masks && a.fractions == b.fractions &&
           a.features == b.features;
}

// Records the time at which each part of the work was first reported.
class parts_timer {
public:
    void hear(const progress_report& of) {
        const std::string task(of.task);
        if (task == last_) return;
        const auto now = clock_type::now();
        end_last(now);
        last_ = task;
        began_ = now;
    }
    void end() {
        end_last(clock_type::now());
        last_.clear();
    }
    void tell(benchmark::State& state) const {
        for (const auto& [task, seconds] : seconds_)
            state.counters[task] = seconds / static_cast<double>(state.iterations());
    }

private:
    void end_last(clock_type::time_point now) {
        if (!last_.empty()) seconds_[last_] += std::chrono::duration<double>(now - began_).count();
    }
    std::string last_;
    clock_type::time_point began_{};
    std::map<std::string, double> seconds_;
};

void measure(benchmark::State& state, const load& what, const recording& from, execution run) {
    parts_timer parts;
    run.on_progress = [&parts](const progress_report& now) { parts.hear(now); };
    const auto began = clock_type::now();
    for (auto _ : state) {
        const detection_result found = detect_spikes(from, {}, run);
        parts.end();
        benchmark::DoNotOptimize(found.features.data());
        state.counters["spikes"] = static_cast<double>(found.size());
    }
    const double seconds = std::chrono::duration<double>(clock_type::now() - began).count();
    const auto iterations = static_cast<double>(state.iterations());
    state.SetItemsProcessed(state.iterations() *
                            static_cast<std::int64_t>(from.frame_count() * from.channel_count()));
    state.counters["times_real_time"] =
        std::chrono::duration<double>(what.length).count() * iterations / seconds;
    parts.tell(state);
}

void on_cpu(benchmark::State& state, const load& what, int threads) {
    measure(state, what, recording_of(what), {.threads = threads});
}

void on_gpu(benchmark::State& state, const load& what, int threads) {
    const recording& from = recording_of(what);
    const execution run{.threads = threads, .devices = {0}};
    const detection_result found = detect_spikes(from, {}, run);
    if (found.size() == 0 || !same(found, detect_spikes(from)))
        return state.SkipWithError("the answer differs from the CPU's");
    measure(state, what, from, run);
}

void from_file(benchmark::State& state, const load& what, bool gpu) {
    const raw_file file(recording_of(what));
    const recording from = file.opened(recording_of(what));
    execution run;
    if (gpu) {
        run.devices = {0};
        if (!same(detect_spikes(from, {}, run), detect_spikes(from)))
            return state.SkipWithError("the answer differs from the CPU's");
    }
    measure(state, what, from, run);
}

const ratios_to tetrodes_to_one("detect_32_channels", "one_thread");
const ratios_to probe_to_one("detect_384_channels", "one_thread");

void add(const std::string& group, const load& what) {
    const auto named = [&](const char* name, auto&& call) {
        benchmark::RegisterBenchmark((group + "/" + name).c_str(), call)
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
    };
    named("one_thread", [what](benchmark::State& state) { on_cpu(state, what, 1); });
    named("all_cores", [what](benchmark::State& state) { on_cpu(state, what, 0); });
    named("all_cores_from_file",
          [what](benchmark::State& state) { from_file(state, what, false); });
    named("cuda_one_thread", [what](benchmark::State& state) { on_gpu(state, what, 1); });
    named("cuda", [what](benchmark::State& state) { on_gpu(state, what, 0); });
    named("cuda_from_file", [what](benchmark::State& state) { from_file(state, what, true); });
}

const bool added = [] {
    add("detect_32_channels", tetrodes);
    add("detect_384_channels", probe);
    return true;
}();

}  // namespace
