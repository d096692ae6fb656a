#include "live/sources/senders.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "live/sources/model_sender.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

constexpr unit_id a{0}, b{1};

// One connection of a session under test.
struct connection {
    senders& session;
    std::string name = "1";

    std::vector<sender_answer> send(const std::string& message) {
        const std::string_view frame = message;
        session.take(name, {&frame, 1});
        return answers();
    }
    std::vector<sender_answer> answers() {
        std::vector<sender_answer> told;
        for (const senders::answer& one : session.take_answers())
            if (one.connection == name) told.push_back(one.what);
        return told;
    }
    std::vector<sender_answer> hello(const std::string& source, std::vector<std::string> units,
                                     std::optional<std::uint64_t> next = {},
                                     const std::string& clock = "rig") {
        return send(hello_message(
            {.source = source, .clock = clock, .units = std::move(units), .next = next}));
    }
    std::vector<sender_answer> frame(std::uint64_t number, const std::vector<std::int64_t>& times,
                                     const std::vector<unit_id>& units, std::int64_t watermark_us,
                                     bool is_last = false) {
        return send(spike_frame_message(number, watermark_us, is_last, times, units));
    }
};

using told = std::vector<sender_answer>;

TEST(Senders, AcknowledgesWhatIsSafe) {
    senders session({"b"});
    connection one{session};

    EXPECT_EQ(one.hello("probe", {"a", "b"}), told({{.credit = senders::credit, .next = 1}}));
    EXPECT_EQ(one.frame(1, {10, 20}, {a, b}, 15), told());
    EXPECT_EQ(one.frame(2, {}, {}, 30), told());
    const auto block = session.next_block();
    EXPECT_EQ(block, (source_block{.new_units = {"a"},
                                   .spikes = {{10, unit_id{1}}, {20, unit_id{0}}},
                                   .watermark_us = 30,
                                   .senders = {{"probe", "rig", 2, false}}}));
    EXPECT_FALSE(session.next_block());
    EXPECT_FALSE(session.all_is_acknowledged());
    session.acknowledge(0);
    EXPECT_EQ(one.answers(), told());
    session.acknowledge(1);
    EXPECT_EQ(one.answers(), told({{.acknowledged = 2, .credit = senders::credit}}));
    EXPECT_EQ(one.answers(), told()) << "once";

    EXPECT_EQ(one.frame(3, {}, {}, 40, true), told());
    EXPECT_TRUE(session.have_finished());
    EXPECT_EQ(session.next_block()->senders,
              (std::vector<sender_progress>{{"probe", "rig", 3, true}}));
}

TEST(Senders, TakesEachFrameOnceAndInOrder) {
    senders session({});
    connection one{session};
    one.hello("probe", {"a"});
    one.frame(1, {1}, {a}, 1);

    EXPECT_EQ(one.frame(3, {3}, {a}, 3), told({{.asks_for_hello = true}}));
    EXPECT_EQ(one.frame(4, {4}, {a}, 4), told()) << "it was asked";
    EXPECT_EQ(one.hello("probe", {"a"}, 1), told({{.credit = senders::credit, .next = 2}}));
    one.frame(2, {2}, {a}, 2);
    EXPECT_EQ(one.frame(2, {2}, {a}, 2), told({{.credit = senders::credit}})) << "a doubled one";
    EXPECT_EQ(one.frame(4, {4}, {a}, 4), told({{.asks_for_hello = true}})) << "a new gap";

    const auto block = session.next_block();
    EXPECT_EQ(block->spikes, (std::vector<spike_event>{{1, a}, {2, a}}));
    EXPECT_EQ(block->repeated, 1U);
    EXPECT_EQ(block->missing, 0U) << "it will come again";
}

// What a sender does not have any more is missing.
TEST(Senders, CountsWhatCannotBeSentAgain) {
    senders session({}, {{"probe", "rig", 7, false}});
    connection one{session};

    EXPECT_EQ(one.hello("probe", {"a"}, 11),
              told({{.acknowledged = 7, .credit = senders::credit, .next = 11}}));
    one.frame(11, {1}, {a}, 1);

    const auto block = session.next_block();
    EXPECT_EQ(block->missing, 3U);
    EXPECT_EQ(block->spikes.size(), 1U);
    EXPECT_EQ(one.hello("probe", {"a"}, (std::uint64_t{1} << 32) + 13).front().error,
              "the next frame is 4294967309, but 12 is expected");
}

TEST(Senders, BeginAnywhereAndGoOnWithTheNumbersOfTheirName) {
    senders session({});
    connection one{session};
    EXPECT_EQ(one.hello("probe", {"a"}, 70),
              told({{.acknowledged = 69, .credit = senders::credit, .next = 70}}));
    one.frame(70, {}, {}, 1, true);
    EXPECT_TRUE(session.have_finished());
    EXPECT_EQ(one.hello("probe", {"a"}, 70).front().next, 71U);
    EXPECT_TRUE(session.have_finished()) << "it only wants to know what was acknowledged";

    connection anew{session, "2"};
    EXPECT_EQ(anew.hello("probe", {"b", "a"}).front().next, 71U);
    EXPECT_FALSE(session.have_finished());
    anew.frame(71, {5, 5}, {unit_id{0}, unit_id{1}}, 6);
    const auto block = session.next_block();
    EXPECT_EQ(block->new_units, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(block->spikes, (std::vector<spike_event>{{5, b}, {5, a}}));
    EXPECT_EQ(block->missing, 0U);
}

TEST(Senders, UnitsAreAddedByAnotherHello) {
    senders session({});
    connection one{session};
    one.hello("probe", {"a"});
    one.frame(1, {1}, {a}, 1);
    EXPECT_EQ(one.frame(2, {2}, {b}, 2).front().error,
              "a spike of the unit 1, but the source 'probe' has 1");
    one.hello("probe", {"a", "b"}, 2);
    one.frame(2, {2}, {b}, 2);

    EXPECT_EQ(session.next_block()->spikes.back(), (spike_event{1, a}));
    const auto block = session.next_block();
    EXPECT_EQ(block->unreadable, 1U) << "in a block after the spikes before it";
    EXPECT_EQ(block->spikes, (std::vector<spike_event>{{2, b}}));
}

TEST(Senders, TheLeastWatermarkIsThatOfAll) {
    senders session({});
    connection one{session, "1"}, other{session, "2"};
    one.hello("left", {"a"});
    one.frame(1, {}, {}, 100);
    EXPECT_EQ(session.next_block()->watermark_us, 100);
    other.hello("right", {"b"});
    one.frame(2, {}, {}, 200);
    EXPECT_EQ(session.next_block()->watermark_us, std::nullopt) << "the other has told none";
    other.frame(1, {}, {}, 150);
    EXPECT_EQ(session.next_block()->watermark_us, 150);
    other.frame(2, {}, {}, 140);
    EXPECT_EQ(session.next_block()->watermark_us, std::nullopt) << "it does not go back";
    other.frame(3, {}, {}, 170, true);
    EXPECT_EQ(session.next_block()->watermark_us, 200) << "who has finished does not hold back";
    EXPECT_FALSE(session.have_finished());
    one.frame(3, {}, {}, 300, true);
    EXPECT_EQ(session.next_block()->watermark_us, 300);
    EXPECT_TRUE(session.have_finished());
}

TEST(Senders, AllThatWillComeAreWaitedFor) {
    senders session({}, {}, 2);
    connection one{session, "1"}, other{session, "2"};
    one.hello("left", {"a"});
    one.frame(1, {}, {}, 100, true);
    EXPECT_EQ(session.next_block()->watermark_us, std::nullopt);
    EXPECT_FALSE(session.have_finished());
    other.hello("right", {"b"});
    other.frame(1, {}, {}, 50);
    EXPECT_EQ(session.next_block()->watermark_us, 50);
    other.frame(2, {}, {}, 60, true);
    EXPECT_TRUE(session.have_finished());
}

// Known senders of a session that goes on are waited for.
TEST(Senders, ThoseBeforeAnInterruptionAreWaitedFor) {
    senders session(
        {"a", "b"},
        {{"gone", "rig", 4, true}, {"left", "rig", 7, false}, {"right", "rig", 2, false}});
    connection one{session, "1"}, other{session, "2"};
    EXPECT_FALSE(session.are_connected());
    one.hello("left", {"a"}, 6);
    one.frame(7, {}, {}, 90);
    one.frame(8, {95}, {a}, 100);
    const auto block = session.next_block();
    EXPECT_EQ(block->watermark_us, std::nullopt);
    EXPECT_EQ(block->repeated, 1U);
    other.hello("right", {"b"}, 3);
    other.frame(3, {92}, {a}, 93);
    EXPECT_EQ(session.next_block()->watermark_us, 93);
}

TEST(Senders, HaveOneClock) {
    senders session({});
    connection one{session, "1"}, other{session, "2"};
    one.hello("left", {"a"});
    EXPECT_EQ(other.hello("right", {"b"}, {}, "wall").front().error,
              "the clock is 'wall', but that of the source 'left' is 'rig'");
    EXPECT_EQ(other.frame(1, {}, {}, 1), told({{.asks_for_hello = true}}));
    EXPECT_EQ(session.unit_names(), (std::vector<std::string>{"a"})) << "it changed nothing";
    one.frame(1, {50}, {a}, 100);
    EXPECT_FALSE(session.next_block()->begins_epoch);

    one.hello("left", {"a"}, 2, "second run");
    one.frame(2, {5}, {a}, 10);
    const auto block = session.next_block();
    EXPECT_TRUE(block->begins_epoch);
    EXPECT_EQ(block->watermark_us, 10);
    EXPECT_EQ(block->senders.front().clock, "second run");
}

TEST(Senders, DoNotShareUnitsOrNames) {
    senders session({"a"});
    connection one{session, "1"}, other{session, "2"};
    one.hello("left", {"a"});
    EXPECT_EQ(other.hello("right", {"x", "a"}).front().error,
              "the unit 'a' is one of the source 'left'");
    EXPECT_EQ(other.hello("right", {"x", "x"}).front().error, "two units have the name 'x'");
    EXPECT_EQ(session.unit_names().size(), 1U);

    const std::string_view hello =
        R"({"hello":1,"source":"left","clock":"rig","units":["a"],"next":1})";
    session.take("2", {&hello, 1});
    const auto answers = session.take_answers();
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].connection, "1") << "if it is still there, it has to know";
    EXPECT_EQ(answers[0].what.error, "another program sends as the source 'left'");
    EXPECT_EQ(answers[1].what.next, 1U);
    EXPECT_EQ(one.frame(1, {}, {}, 1), told({{.asks_for_hello = true}}));
}

TEST(Senders, RefuseLeaps) {
    senders session({});
    connection one{session};
    one.hello("probe", {"a"});
    constexpr std::int64_t day = senders::longest_leap_us;
    EXPECT_EQ(one.frame(1, {5 + day + 1}, {a}, 5).front().error,
              "the time 86400000006 us is more than a day from 5 us, and the clock has the same "
              "name");
    EXPECT_EQ(one.frame(1, {5 + day}, {a}, 5), told());
    EXPECT_EQ(one.frame(2, {}, {}, 5 + day + 1).size(), 1U);
    EXPECT_EQ(one.frame(2, {}, {}, 5 + day), told());
    const auto block = session.next_block();
    EXPECT_EQ(block->spikes.size(), 1U);
    EXPECT_EQ(block->unreadable, 1U);
    EXPECT_EQ(session.next_block()->unreadable, 1U);
}

TEST(Senders, LateSpikesStandInABlockAfterTheWatermark) {
    senders session({});
    connection one{session};
    one.hello("probe", {"a"});
    one.frame(1, {5}, {a}, 10);
    one.frame(2, {12, 9, 13}, {a, a, a}, 20);
    EXPECT_EQ(session.next_block()->watermark_us, 10);
    const auto block = session.next_block();
    EXPECT_EQ(block->spikes.size(), 3U) << "a frame stands in one block";
    EXPECT_EQ(block->senders.front().last, 2U);
}

// Who is far ahead of others gets no credit until they follow, and what it sends is then left out.
TEST(Senders, WaitForEachOther) {
    senders session({});
    connection one{session, "1"}, other{session, "2"};
    one.hello("left", {"a"});
    other.hello("right", {"b"});
    other.frame(1, {}, {}, 0);
    const std::vector<std::int64_t> times(spike_frame::most_spikes, 7);
    const std::vector<unit_id> units(times.size(), a);
    std::uint64_t number = 0, credit = 1, limit = senders::credit;
    for (std::uint64_t acknowledged = 0; credit > 0; acknowledged = number) {
        ASSERT_LT(number, 1000U);
        limit = acknowledged + credit;
        one.frame(++number, times, units, 10);
        session.next_block();
        session.acknowledge(session.blocks());
        credit = one.answers().front().credit;
    }
    EXPECT_EQ(number, senders::most_spikes_ahead / spike_frame::most_spikes + 1);
    EXPECT_GT(limit, number);
    while (number < limit) EXPECT_EQ(one.frame(++number, {}, {}, 11), told());
    EXPECT_EQ(one.frame(number + 1, {}, {}, 11), told({{.asks_for_hello = true}}));

    other.frame(2, {}, {}, 20);
    session.next_block();
    session.acknowledge(session.blocks());
    EXPECT_EQ(one.answers(), told({{.acknowledged = number, .credit = senders::credit}}));
}

// Messages of a random sender.
std::vector<model_sender::sent_frame> random_script(std::mt19937_64& random, std::size_t frames,
                                                    std::uint32_t units) {
    std::vector<model_sender::sent_frame> script;
    std::int64_t now = 0;
    for (std::size_t i = 0; i < frames; ++i) {
        auto& frame = script.emplace_back();
        for (std::uint64_t k = random() % 4; k > 0; --k) {
            frame.times_us.push_back(now + static_cast<std::int64_t>(random() % 20));
            frame.units.push_back(unit_id{static_cast<std::uint32_t>(random() % units)});
        }
        now += static_cast<std::int64_t>(random() % 10);
        frame.watermark_us = now;
    }
    return script;
}

std::vector<spike_event> spikes_of(const std::vector<model_sender::sent_frame>& script,
                                   std::uint32_t first_unit = 0) {
    std::vector<spike_event> spikes;
    for (const auto& frame : script)
        for (std::size_t i = 0; i < frame.times_us.size(); ++i)
            spikes.push_back(
                {frame.times_us[i],
                 unit_id{first_unit + static_cast<std::uint32_t>(to_index(frame.units[i]))}});
    return spikes;
}

// A fault at each message in turn: all spikes come once, and the counters say what has happened.
TEST(Senders, EachFaultAtEachPlaceIsCountedAndMended) {
    enum class fault : std::uint8_t { dropped, doubled, swapped, truncated, foreign };
    std::mt19937_64 random(2);
    const auto script = random_script(random, 12, 3);
    for (const fault what :
         {fault::dropped, fault::doubled, fault::swapped, fault::truncated, fault::foreign}) {
        for (std::size_t place = 0; place <= script.size(); ++place) {
            senders session({});
            connection line{session};
            model_sender sender({.source = "probe", .clock = "rig", .units = {"a", "b", "c"}},
                                script);
            const auto deliver = [&](const std::string& message) {
                for (const sender_answer& answer : line.send(message)) sender.take(answer);
            };
            source_block sums;
            const auto process = [&] {
                while (const auto block = session.next_block()) {
                    sums.missing += block->missing;
                    sums.repeated += block->repeated;
                    sums.unreadable += block->unreadable;
                    sums.spikes.insert(sums.spikes.end(), block->spikes.begin(),
                                       block->spikes.end());
                }
                session.acknowledge(session.blocks());
                for (const sender_answer& answer : line.answers()) sender.take(answer);
            };
            std::size_t sent = 0;
            for (int patience = 0; !sender.is_done() && patience < 3; ++patience) {
                while (auto message = sender.next_message()) {
                    if (sent++ != place) {
                        deliver(*message);
                    } else if (what == fault::doubled) {
                        deliver(*message);
                        deliver(*message);
                    } else if (what == fault::swapped) {
                        const auto later = sender.next_message();
                        if (later) deliver(*later);
                        deliver(*message);
                    } else if (what == fault::truncated) {
                        deliver(message->substr(0, message->size() / 2));
                    } else if (what == fault::foreign) {
                        deliver("GET / HTTP/1.1");
                        deliver(*message);
                    }
                    process();
                }
                sender.say_hello_again();
            }
            SCOPED_TRACE(static_cast<int>(what));
            ASSERT_TRUE(sender.is_done()) << place;
            ASSERT_EQ(sums.spikes, spikes_of(script)) << place;
            EXPECT_EQ(sums.missing, 0U) << place;
            EXPECT_EQ(sums.repeated, what == fault::doubled && place > 0 ? 1U : 0U) << place;
            EXPECT_EQ(sums.unreadable, what == fault::truncated || what == fault::foreign ? 1U : 0U)
                << place;
            EXPECT_TRUE(session.have_finished());
        }
    }
}

// Two senders over lines that lose, double, reorder and cut messages, to a session that is killed
// again and again: what was acknowledged is in the record, and every spike is there once.
TEST(Senders, NothingIsLostAndNothingComesTwice) {
    std::mt19937_64 random(3);
    const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
    std::uint64_t kills = 0, repeated = 0, unreadable = 0;
    for (std::size_t round = 0; round < property_cases(200); ++round) {
        const std::vector scripts{random_script(random, 30 + random() % 40, 3),
                                  random_script(random, 30 + random() % 40, 2)};
        std::vector<model_sender> programs{
            {{.source = "left", .clock = "rig", .units = {"a", "b", "c"}}, scripts[0]},
            {{.source = "right", .clock = "rig", .units = {"d", "e"}}, scripts[1]}};
        std::vector<source_block> record, not_yet;  // what is on the disk, and what is not
        std::vector<std::string> units;
        auto session = std::make_unique<senders>(units);
        std::deque<std::pair<std::string, std::string>> line;  // connection, message
        std::size_t runs = 0;
        const auto commit = [&] {
            for (source_block& block : not_yet) {
                units.insert(units.end(), block.new_units.begin(), block.new_units.end());
                record.push_back(std::move(block));
            }
            not_yet.clear();
            session->acknowledge(session->blocks());
        };
        for (int step = 0; !(programs[0].is_done() && programs[1].is_done()); ++step) {
            ASSERT_LT(step, 100'000) << "round " << round;
            for (std::size_t p = 0; p < 2; ++p) {
                if (one_in(50)) programs[p].say_hello_again();
                auto message = programs[p].next_message();
                if (!message || one_in(20)) continue;
                if (one_in(30)) message->resize(random() % message->size());
                const std::string from = std::to_string(p) + " " + std::to_string(runs);
                const auto at =
                    line.end() - static_cast<std::ptrdiff_t>(
                                     one_in(20) ? std::min<std::size_t>(line.size(), 2) : 0);
                line.insert(at, {from, *message});
                if (one_in(20)) line.emplace_back(from, *message);
            }
            while (!line.empty() && !one_in(3)) {
                const std::string_view message = line.front().second;
                session->take(line.front().first, {&message, 1});
                line.pop_front();
            }
            while (auto block = session->next_block()) {
                repeated += block->repeated;
                unreadable += block->unreadable;
                not_yet.push_back(std::move(*block));
            }
            if (one_in(3)) commit();
            for (const senders::answer& one : session->take_answers())
                if (!one_in(20))
                    programs[static_cast<std::size_t>(one.connection.front() - '0')].take(one.what);
            if (!one_in(100)) continue;
            ++kills;
            ++runs;
            not_yet.clear();
            line.clear();
            std::vector<sender_progress> known;
            for (const source_block& block : record)
                for (const sender_progress& one : block.senders) {
                    std::erase_if(known, [&](const auto& old) { return old.name == one.name; });
                    known.push_back(one);
                }
            for (const sender_progress& one : known)
                ASSERT_GE(one.last, programs[one.name == "left" ? 0 : 1].acknowledged());
            session = std::make_unique<senders>(units, known);
        }
        commit();
        std::vector<spike_event> came[2];
        for (const source_block& block : record) {
            ASSERT_EQ(block.missing, 0U);
            for (const spike_event& spike : block.spikes) {
                const std::string& name = units[to_index(spike.unit)];
                came[name < "d" ? 0 : 1].push_back(
                    {spike.time_us, unit_id{static_cast<std::uint32_t>(name.front() - 'a')}});
            }
        }
        ASSERT_EQ(came[0], spikes_of(scripts[0])) << "round " << round;
        ASSERT_EQ(came[1], spikes_of(scripts[1], 3)) << "round " << round;
    }
    EXPECT_GT(kills, property_cases(200) / 4);
    EXPECT_GT(repeated, kills);
    EXPECT_GT(unreadable, kills);
}

}  // namespace
}  // namespace spikeweave::live
