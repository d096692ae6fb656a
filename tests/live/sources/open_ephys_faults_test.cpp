// A script says what happens to each message on its way: it is lost, comes twice, comes late or is
// cut. What spikeweave counts has to be what the script did.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "live/session/session.hpp"
#include "live/sources/open_ephys_messages.hpp"
#include "live/sources/open_ephys_stand_in.hpp"
#include "live/sources/streams.hpp"
#include "live/stand_in/publisher.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

using namespace stand_in;

enum class fault : std::uint8_t { none, lost, twice, late, cut };
constexpr std::size_t kinds_of_fault = 5;
constexpr std::uint64_t latest = message_numbers::memory - 2;

struct sent_message {
    message frames;
    bool is_spike = false;
};

struct counted_faults {
    std::uint64_t missing = 0;  // without belated ones
    std::uint64_t belated = 0;
    std::uint64_t repeated = 0;
    std::uint64_t unreadable = 0;
    std::uint64_t epochs = 0;
    std::uint64_t spikes = 0;

    friend bool operator==(const counted_faults&, const counted_faults&) = default;
    friend std::ostream& operator<<(std::ostream& out, const counted_faults& one) {
        return out << one.missing << " missing, " << one.belated << " belated, " << one.repeated
                   << " repeated, " << one.unreadable << " unreadable, " << one.epochs
                   << " epochs, " << one.spikes << " spikes";
    }
};

// Blocks of data of two channels with TTL events and spikes of five electrodes, as the plugins send
// them. No two spikes of an electrode are at the same time.
std::vector<sent_message> plugin_messages(std::size_t blocks, std::mt19937_64& random) {
    constexpr std::int64_t samples = 1024;
    std::vector<sent_message> all;
    std::int64_t spike = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::int64_t begin = samples * static_cast<std::int64_t>(block);
        if (random() % 3 == 0) all.push_back({ttl_message(all.size())});
        for (int electrode = 0; electrode < 5; ++electrode)
            for (std::uint64_t k = random() % 3; k-- > 0; ++spike)
                all.push_back({spike_message(all.size(), begin + spike % (samples - 100),
                                             fmt::format("E{}", electrode)),
                               true});
        for (int channel = 0; channel < 2; ++channel)
            all.push_back(
                {data_message(all.size(), begin, samples, 30000, "probe", channel), false});
    }
    return all;
}

struct faulted {
    std::vector<message> arriving;
    counted_faults expected{};
};

struct arrival {
    std::size_t place;  // in twice the number of messages
    std::size_t number;
    bool is_readable;
    message frames;
};

message cut_somewhere(message whole, std::mt19937_64& random) {
    if (random() % 4 == 0)
        whole.resize(1);
    else
        whole[1].resize(random() % whole[1].size());
    return whole;
}

faulted with_faults(const std::vector<sent_message>& sent, const std::vector<fault>& faults,
                    std::mt19937_64& random) {
    faulted result;
    std::vector<arrival> arriving;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const auto& [frames, is_spike] = sent[i];
        counted_faults& expected = result.expected;
        const std::size_t later = 2 * (i + 1 + random() % latest) + 1;
        const fault what = faults[i];
        if (what == fault::lost) ++expected.missing;
        if (what == fault::cut) ++expected.unreadable;
        if (what == fault::twice) ++expected.repeated;
        if (is_spike && what != fault::lost && what != fault::cut) ++expected.spikes;
        if (what == fault::none || what == fault::twice)
            arriving.push_back({2 * i, i, true, frames});
        if (what == fault::twice || what == fault::late)
            arriving.push_back({later, i, true, frames});
        if (what == fault::cut)
            arriving.push_back({2 * i, i, false, cut_somewhere(frames, random)});
    }
    std::stable_sort(arriving.begin(), arriving.end(),
                     [](const auto& one, const auto& other) { return one.place < other.place; });
    // A message is belated only if a later one that can be read has come.
    std::size_t newest = 0;
    for (arrival& one : arriving) {
        if (one.number < newest && faults[one.number] == fault::late) ++result.expected.belated;
        if (one.is_readable) newest = std::max(newest, one.number);
        result.arriving.push_back(std::move(one.frames));
    }
    return result;
}

void add_counts(const source_block& block, counted_faults& to, std::uint64_t& told_missing) {
    told_missing += block.missing;
    ASSERT_GE(told_missing, block.belated) << "more is belated than was missing";
    told_missing -= block.belated;
    to.missing = told_missing;
    to.belated += block.belated;
    to.repeated += block.repeated;
    to.unreadable += block.unreadable;
    to.epochs += block.begins_epoch ? 1 : 0;
    to.spikes += block.spikes.size();
}

counted_faults counts_of(const std::vector<message>& arriving) {
    open_ephys_messages messages(open_ephys_sender::zmq_interface, "probe", {});
    counted_faults counts;
    std::uint64_t told_missing = 0;
    for (const message& one : arriving) {
        messages.take(std::vector<std::string_view>(one.begin(), one.end()));
        while (const auto block = messages.complete()) add_counts(*block, counts, told_missing);
    }
    if (const auto block = messages.rest()) add_counts(*block, counts, told_missing);
    return counts;
}

TEST(OpenEphysFaults, AreCountedAtEveryPlace) {
    std::mt19937_64 random(3);
    const std::vector<sent_message> sent = plugin_messages(6, random);
    for (const fault what : {fault::none, fault::lost, fault::twice, fault::late, fault::cut}) {
        for (std::size_t i = 0; i < sent.size(); ++i) {
            std::vector<fault> faults(sent.size(), fault::none);
            faults[i] = what;
            auto [arriving, expected] = with_faults(sent, faults, random);
            // Nothing tells that there was a message before the first or after the last one.
            const bool is_at_an_end = i == 0 || i + 1 == sent.size();
            if (what == fault::lost && is_at_an_end) expected.missing = 0;
            EXPECT_EQ(counts_of(arriving), expected)
                << "fault " << static_cast<int>(what) << " of message " << i;
        }
    }
}

TEST(OpenEphysFaults, AreCountedWhereMessagesWithoutANumberCome) {
    const message garbage{event_topic, "?", ""};
    const auto whole = [](std::uint64_t number) { return spike_message(number, 9, "E1"); };
    // It is taken for message 2, which comes after all.
    EXPECT_EQ(counts_of({data_message(1, 0, 1024), garbage, whole(3), whole(2), whole(4)}),
              (counted_faults{.belated = 1, .unreadable = 1, .spikes = 3}));
    // It came before the first message with a number.
    EXPECT_EQ(counts_of({garbage, data_message(1, 0, 1024), whole(3)}),
              (counted_faults{.missing = 1, .unreadable = 1, .spikes = 1}));
    // Messages 3 and 5 are missing, though 2 was sent before the first one that came.
    EXPECT_EQ(counts_of({data_message(4, 0, 1024), whole(2), whole(6)}),
              (counted_faults{.missing = 2, .belated = 1, .spikes = 2}));
}

// The first message is whole, and so are the last two and those behind which a late one may come.
std::vector<fault> random_faults(std::size_t count, std::mt19937_64& random) {
    std::vector<fault> faults(count, fault::none);
    const std::uint64_t one_in = 1 + random() % 20;
    for (std::size_t i = 1; i + latest + 2 < count; ++i)
        if (random() % one_in == 0) faults[i] = static_cast<fault>(random() % kinds_of_fault);
    return faults;
}

TEST(OpenEphysFaultsProperty, AreCountedInAnyMixture) {
    std::mt19937_64 random(4);
    for (std::size_t i = 0; i < property_cases(2'000); ++i) {
        const std::vector<sent_message> sent = plugin_messages(3 + random() % 20, random);
        const auto [arriving, expected] =
            with_faults(sent, random_faults(sent.size(), random), random);
        ASSERT_EQ(counts_of(arriving), expected) << "case " << i;
    }
}

TEST(OpenEphysFaults, AreCountedBehindASocket) {
    std::mt19937_64 random(5);
    const std::vector<sent_message> sent = plugin_messages(200, random);
    const auto [arriving, expected] = with_faults(sent, random_faults(sent.size(), random), random);
    publisher gui;
    const auto from = open_ephys(open_ephys_sender::zmq_interface, gui.address(), "probe", {});
    gui.wait_for_subscriber();
    for (const message& one : arriving)
        while (!gui.send(one)) std::this_thread::yield();

    sink nothing;
    session through({}, {.order = {.policy = order_policy::block}}, nothing);
    // The last message is the second one with the data of its block.
    const std::int64_t last_us = 200 * 1024 * std::int64_t{1'000'000} / 30'000 - 10'000;
    std::int64_t told_us = 0;
    while (told_us < last_us) {
        const auto block = from->next();
        through.take(*block);
        told_us = block->watermark_us.value_or(told_us);
    }
    through.finish();

    const session_counts& counts = through.counts();
    EXPECT_EQ((counted_faults{counts.missing - counts.belated, counts.belated, counts.repeated,
                              counts.unreadable, counts.epochs,
                              counts.order.accepted + counts.order.late + counts.order.duplicates}),
              expected);
}

}  // namespace
}  // namespace spikeweave::live
