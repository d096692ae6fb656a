#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/assemblies/page_data.hpp"
#include "report/run_json.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

// A result of assemblies of a and b, which are active in so many bins of 1 ms.
struct result_of_assemblies {
    explicit result_of_assemblies(const std::vector<std::size_t>& active) {
        folder.file("run.json", "{}");
        folder.file("search.tsv", "bin_ms\tsize\ttests\tsignificant\tkept\n");
        std::string assemblies = "assembly\tunits\tlags_ms\tbin_ms\tcount\tp\tp_corrected\n";
        std::string activations = "assembly\tbegin_s\tcount\n";
        for (std::size_t i = 0; i < active.size(); ++i) {
            const std::string number = std::to_string(i + 1);
            assemblies += number + "\ta+b\t0 1\t1\t" + std::to_string(active[i]) + "\t0\t0\n";
            for (std::size_t k = 0; k < active[i]; ++k)
                activations += number + '\t' + std::to_string(k) + "e-3\t1\n";
        }
        folder.file("assemblies.tsv", assemblies);
        folder.file("activations.tsv", activations);
    }

    report::json page() const {
        const spike_sequence spikes({0, 1'000}, {unit_id{0}, unit_id{1}}, {"a", "b"},
                                    {duration{0}, std::chrono::seconds{200}});
        return report::json::parse(report::assembly_page_data(folder.path(), spikes, {}));
    }

    temporary_folder folder{};
};

TEST(AssemblyPage, TellsHowManyActivationsItLacks) {
    const report::json page = result_of_assemblies({150'000, 60'000, 7}).page();

    const report::json& assemblies = page.at("assemblies");
    EXPECT_EQ(assemblies.at("activations"), (report::json{150'000, 60'000, 7}));
    const std::vector<std::vector<std::int64_t>> begins = assemblies.at("begins_us");
    ASSERT_EQ(begins.size(), 3U);
    EXPECT_EQ(begins[0].size(), 150'000U);
    EXPECT_EQ(begins[0].back(), 149'999'000);
    EXPECT_EQ(begins[1].size(), 50'000U);
    EXPECT_TRUE(begins[2].empty());
}

TEST(AssemblyPage, RefusesActivationsOfNoAssembly) {
    const result_of_assemblies result({2});
    result.folder.file("activations.tsv", "assembly\tbegin_s\tcount\n0\t1\t1\n");
    EXPECT_THROW(result.page(), io_error);
}

}  // namespace
}  // namespace spikeweave
