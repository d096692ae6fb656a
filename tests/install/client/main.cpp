#include <spikeweave/spikeweave.hpp>

int main() {
    using std::chrono_literals::operator""ms;
    spikeweave::spike_sequence_builder builder;
    const spikeweave::unit_id a = builder.unit("a");
    const spikeweave::unit_id b = builder.unit("b");
    for (int i = 0; i < 10; ++i) {
        builder.append(100'000 * i, a);
        builder.append(100'000 * i + 5'000, b);
    }
    const auto table =
        spikeweave::mine_episodes(builder.finish(), {.delays = {{4ms, 6ms}}, .min_count = 10});
    // a, b and a→b.
    return table.episodes.size() == 3 && table.episodes.back().count == 10 ? 0 : 1;
}
