#include <spikeweave/spikeweave.hpp>

#include <string>

#if SPIKEWEAVE_VERSION < 100 || SPIKEWEAVE_VERSION_MAJOR > 0
#error "a version that this client was not written for"
#endif

namespace {

bool finds_the_pair() {
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
    return table.episodes.size() == 3 && table.episodes.back().count == 10;
}

/// An exception is caught by its type only if the library and the program share that type.
bool catches_what_the_library_throws() {
    try {
        spikeweave::read_spikes("no such file");
    } catch (const spikeweave::io_error&) {
        return true;
    }
    return false;
}

bool headers_are_the_librarys() {
    return spikeweave::version().starts_with(SPIKEWEAVE_VERSION_STRING);
}

}  // namespace

int main() {
    return finds_the_pair() && catches_what_the_library_throws() && headers_are_the_librarys() ? 0
                                                                                               : 1;
}
