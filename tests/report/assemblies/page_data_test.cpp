#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/run_json.hpp"
#include "spikeweave/report/assemblies.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {
namespace {

// A result of assemblies of a and b, which are active in so many bins of 1 ms.
report::json document_with(const std::vector<std::size_t>& active) {
    assembly_report result{.spikes = {{0, 1'000},
                                      {unit_id{0}, unit_id{1}},
                                      {"a", "b"},
                                      {duration{0}, std::chrono::seconds{200}}}};
    for (const std::size_t number : active) {
        assembly& one = result.found.assemblies.emplace_back();
        one = {.bin = std::chrono::milliseconds{1},
               .units = {unit_id{0}, unit_id{1}},
               .lags = {0, 1},
               .p = {0},
               .counts = {number}};
        for (std::size_t k = 0; k < number; ++k)
            one.activations.push_back({std::chrono::milliseconds{k}, 1});
    }
    return report::json::parse(document_of(result));
}

TEST(AssemblyDocument, HasTheNumberOfActivationsThatItLacks) {
    const report::json document = document_with({150'000, 60'000, 7});

    const report::json& activations = document.at("active");
    EXPECT_EQ(activations.at("number"), (report::json{150'000, 60'000, 7}));
    const std::vector<std::vector<std::int64_t>> begins = activations.at("begins_us");
    ASSERT_EQ(begins.size(), 3U);
    EXPECT_EQ(begins[0].size(), 150'000U);
    EXPECT_EQ(begins[0].back(), 149'999'000);
    EXPECT_EQ(begins[1].size(), 50'000U);
    EXPECT_TRUE(begins[2].empty());
    EXPECT_EQ(document.at("assemblies").at("lags_ms").at(0), (report::json{0.0, 1.0}));
}

TEST(AssemblyDocument, BeginsWithTheResultInASentence) {
    EXPECT_EQ(document_with({7, 8}).at("run").at("summary"),
              "2 assemblies of 2 units, in bins of 1 ms, among 2 units in 200 s.");
    EXPECT_EQ(document_with({}).at("run").at("summary"), "No assembly among 2 units in 200 s.");
}

}  // namespace
}  // namespace spikeweave
