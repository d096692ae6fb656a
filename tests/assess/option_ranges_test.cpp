#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/jitter.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

std::string refusal_of_range(const std::function<void()>& work) {
    try {
        work();
    } catch (const invalid_argument& error) {
        return error.what();
    }
    return "";
}

spike_sequence two_spikes() {
    return {{1'000, 5'000}, {unit_id{0}, unit_id{1}}, {"a", "b"}, {0us, 10ms}};
}

// Each names the option, what was expected and what was found, as the check of all options does.
TEST(Ranges, AreSaidInOneWording) {
    const std::array<double, 1> p{0.5};
    EXPECT_EQ(refusal_of_range([&] { correct_tests(p, 1, correction_method::holm, 2); }),
              "`alpha`: expected a number above 0 and at most 1, found 2");
    EXPECT_EQ(refusal_of_range([&] { correct_tests(p, 1, correction_method::holm, 1); }), "");
    const spike_sequence spikes = two_spikes();
    EXPECT_EQ(refusal_of_range(
                  [&] { find_circuit(spikes, episode_table{}, {}, circuit_options{.alpha = 0}); }),
              "`alpha`: expected a number above 0 and at most 1, found 0");
    EXPECT_EQ(refusal_of_range([] { occurrence_model{}.chebyshev_threshold(0); }),
              "`epsilon`: expected a number above 0 and at most 1, found 0");
    const std::vector<episode> pair{{{unit_id{0}, unit_id{1}}, {{1ms, 5ms}}}};
    EXPECT_EQ(refusal_of_range([&] { expected_by_jitter(spikes, pair, 0ms); }),
              "`jitter_window`: expected a time of at least 1 ms, found 0 ms");
    EXPECT_EQ(refusal_of_range([] {
                  regular_trials({0s, 9s}, 0s, 0s);
              }),
              "`trial_length`: expected a time above 0 ms, found 0 ms");
    EXPECT_EQ(refusal_of_range([] {
                  regular_trials({0s, 9s}, 1s, -1s);
              }),
              "`trial_separation`: expected a time of at least 0 ms, found -1 s");
}

TEST(Ranges, OfSurrogatesAreSaidInOneWording) {
    const spike_sequence spikes = two_spikes();
    const auto made_with = [&](const surrogate_options& options) {
        return refusal_of_range([&] { surrogate_maker(spikes, options).make_sequence(0); });
    };
    EXPECT_EQ(made_with({.dither = 0ms}),
              "`dither`: expected a time above 0 ms and at most 3600 s, found 0 ms");
    EXPECT_NE(made_with({.dither = 2h}).find("`dither`: expected"), std::string::npos);
    EXPECT_NE(made_with({.refractory_period = -1ms}).find("`refractory`: expected"),
              std::string::npos);
    const auto isi = [&](const joint_isi_options& how) {
        return made_with({.method = surrogate_method::joint_isi_dithering, .joint_isi = how});
    };
    EXPECT_EQ(isi({.bins = 1}),
              "`isi_bins`: expected a whole number of at least 2 and at most 1000, found 1");
    EXPECT_NE(isi({.truncation_limit = 0ms}).find("`isi_truncation`: expected"), std::string::npos);
    EXPECT_NE(isi({.truncation_limit = 20us, .bins = 50}).find("`isi_truncation`: expected"),
              std::string::npos);
    EXPECT_NE(isi({.truncation_limit = 20ms, .sigma = 30ms}).find("`isi_sigma`: expected"),
              std::string::npos);
    EXPECT_NE(isi({.refractory_period = -1ms}).find("`isi_refractory`: expected"),
              std::string::npos);
    EXPECT_EQ(isi({}), "");
}

}  // namespace
}  // namespace spikeweave
