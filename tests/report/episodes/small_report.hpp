#pragma once

#include <string>

#include "spikeweave/report/episodes.hpp"

namespace spikeweave {

using namespace std::chrono_literals;

inline constexpr unit_id a{0};
inline constexpr unit_id b{1};
inline constexpr unit_id c{2};
inline constexpr delay_interval near{4ms, 6ms};
inline constexpr delay_interval far{8ms, 11500us};

inline circuit_edge edge(unit_id from, unit_id to, const delay_interval& delay, edge_kind kind,
                         double gain = 250) {
    return {.from = from,
            .to = to,
            .delay = delay,
            .best = delay,
            .count = 2,
            .expected = 0.008,
            .p = 3.2e-5,
            .q = 3.9e-4,
            .strength = 1,
            .gain = {gain, gain / 2, 2 * gain},
            .transmission = {0.996, 0.25, 1.5},
            .kind = kind};
}

// What all pairs were tested for: "a" inhibits "<c&"d">", and three of four pairs were tested.
inline void add_inhibition(episode_report& report) {
    circuit_edge& added =
        report.circuit.edges.emplace_back(edge(c, a, {1ms, 3ms}, edge_kind::direct, 0.125));
    added.sign = connection_sign::inhibitory;
    added.transmission = {-0.5, -0.75, -0.25};
    report.pairs = pair_tests{
        .pairs = {{c, a, connection_sign::inhibitory, false, {1ms, 3ms}, 2, 16, 1e-9, 1e-8},
                  {a, b, connection_sign::excitatory, false, near, 2, 0.008, 3.2e-5, 3.9e-4},
                  {b, a, connection_sign::excitatory, false, near, 2, 1, 0.01, 0.02}},
        .tested = 5,
        .possible = 6,
        .untested_units = {b}};
}

// a→b→c twice, 100 ms apart, in one second; c has a name that must be escaped in XML.
inline episode_report small_episode_report() {
    episode_report out{.spikes = {{10'000, 15'000, 20'000, 110'000, 115'000, 120'000},
                                  {a, b, c, a, b, c},
                                  {"a", "b", "<c&\"d\">"},
                                  {0s, 1s}}};
    out.table.episodes = {{{{a}, {}}, 2},
                          {{{b}, {}}, 2},
                          {{{c}, {}}, 2},
                          {{{a, b}, {near}}, 2},
                          {{{a, c}, {far}}, 2},
                          {{{b, c}, {near}}, 2},
                          {{{a, b, c}, {near, near}}, 2}};
    out.table.levels = {{1, 3, 3, 0, 0.25}, {2, 12, 3, 0, 0.5}, {3, 1, 1, 0, 0.125}};
    out.table.threshold = 2;
    out.table.ran_on = episode_strategy::reference;
    out.assessed = {{2, 1, 1, 0},           {2, 1, 1, 0},
                    {2, 1, 1, 0},           {0.008, 3.2e-5, 3.9e-4, 1},
                    {0.014, 9e-5, 1e-3, 1}, {0.008, 3.2e-5, 3.9e-4, 0.8125},
                    {1e-5, 0, 0, 1}};
    out.circuit.edges = {edge(a, b, near, edge_kind::direct), edge(a, c, far, edge_kind::indirect),
                         edge(b, c, near, edge_kind::direct)};
    out.circuit.edges[1].via = {b, a};
    out.circuit.edges[2].delay = {1ms, 6ms};
    out.circuit.edges[2].strength = 0.8125;
    out.circuit.edges[2].transmission = {0.75, 0.5, 1.25};
    out.circuit.edges[1].timing = {.delay = delay_estimate{9'750, 9'500, 10'000},
                                   .asymmetry = 0.5,
                                   .cut = cut_peak::high,
                                   .synchronous = 3,
                                   .synchronous_expected = 0.25};
    out.circuit.chains = {6};
    out.run = {.command = "spikeweave episodes x.tsv",
               .parameters = {{"delays", "4-6ms"}, {"alpha", 0.01}, {"max_size", nullptr}},
               .input = {"x.tsv", 123, "xxh3-128", "00ff"},
               .version = "0.1.0",
               .seed = 7,
               .threads = 2,
               .seconds = 1.5,
               .peak_memory_bytes = 1024};
    return out;
}

}  // namespace spikeweave
