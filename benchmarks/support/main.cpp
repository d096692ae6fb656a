#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/support/ratios.hpp"

namespace {

struct declared {
    std::string group;
    std::string baseline;
};

std::vector<declared>& ratios() {
    static std::vector<declared> all;
    return all;
}

// Prints what Google Benchmark prints, and stores the best speed of each benchmark.
class best_of_repetitions : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            const auto speed = run.counters.find("items_per_second");
            if (run.error_occurred) failed_ = true;
            if (run.run_type != Run::RT_Iteration || run.error_occurred ||
                speed == run.counters.end())
                continue;
            double& best = best_.try_emplace(run.run_name.function_name, 0).first->second;
            best = std::max(best, speed->second.value);
        }
        ConsoleReporter::ReportRuns(runs);
    }

    void print_ratios() {
        for (const auto& [group, baseline] : ratios()) {
            const auto base = best_.find(group + "/" + baseline);
            if (base == best_.end()) continue;
            for (const auto& [name, speed] : best_) {
                if (name.starts_with(group + "/") && name != base->first)
                    GetOutputStream() << fmt::format("{} is {:.2f} times as fast as {}\n", name,
                                                     speed / base->second, baseline);
            }
        }
    }

    bool failed() const { return failed_; }

private:
    std::map<std::string, double> best_;
    bool failed_ = false;
};

}  // namespace

ratios_to::ratios_to(std::string group, std::string baseline) {
    benchmark::AddCustomContext("baseline of " + group, baseline);  // for tools/bench_report.py
    ratios().push_back({std::move(group), std::move(baseline)});
}

int main(int argc, char** argv) {
#ifndef NDEBUG
    std::fputs("benchmarks are for Release builds only (preset bench)\n", stderr);
    return 1;
#endif
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    best_of_repetitions reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    reporter.print_ratios();
    return reporter.failed() ? 1 : 0;
}
