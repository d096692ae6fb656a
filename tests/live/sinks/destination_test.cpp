#include "live/sinks/destination.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

TEST(Destination, IsReadFromItsText) {
    EXPECT_EQ(parse_destination("-").kind, destination_kind::caller);

    const destination file = parse_destination("a,b#c=d.jsonl");
    EXPECT_EQ(file.kind, destination_kind::file);
    EXPECT_EQ(file.address, "a,b#c=d.jsonl");

    const destination publisher = parse_destination("zmq://*:5601");
    EXPECT_EQ(publisher.kind, destination_kind::zeromq);
    EXPECT_EQ(publisher.address, "tcp://*:5601");

    const destination ttl = parse_destination("open-ephys-ttl://rig:5556#line=256");
    EXPECT_EQ(ttl.kind, destination_kind::open_ephys_ttl);
    EXPECT_EQ(ttl.address, "tcp://rig:5556");
    EXPECT_EQ(ttl.line, 256U);
    EXPECT_EQ(ttl.pulse, std::chrono::milliseconds{10});
    EXPECT_FALSE(ttl.episode);
    const destination other =
        parse_destination("open-ephys-ttl://rig:5556#episode=2&pulse=0.5ms&line=1");
    EXPECT_EQ(other.line, 1U);
    EXPECT_EQ(other.pulse, std::chrono::microseconds{500});
    EXPECT_EQ(other.episode, 2U);

    const destination message = parse_destination("open-ephys-message://rig:5556#episode=0");
    EXPECT_EQ(message.kind, destination_kind::open_ephys_message);
    EXPECT_EQ(message.episode, 0U);

    const destination serial = parse_destination("serial:///dev/ttyUSB0#baud=9600&byte=255");
    EXPECT_EQ(serial.kind, destination_kind::serial);
    EXPECT_EQ(serial.address, "/dev/ttyUSB0");
    EXPECT_EQ(serial.baud, 9600U);
    EXPECT_EQ(serial.byte, 255U);
    EXPECT_EQ(parse_destination("serial:///dev/ttyUSB0").baud, 115'200U);

    const destination markers = parse_destination("lsl:found chains#episode=1");
    EXPECT_EQ(markers.kind, destination_kind::lsl);
    EXPECT_EQ(markers.address, "found chains");
    EXPECT_EQ(markers.episode, 1U);
}

TEST(Destination, SaysWhatIsWrongWithIt) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"", "an empty text"},
        {"udp://host:1", "zmq://*:5601, open-ephys-ttl://HOST:5556#line=3,"},
        {"lsl:", "'lsl:' is no stream of LSL"},
        {"lsl:it's", "without ' and"},
        {"lsl:a#line=3", "expected episode="},
        {"zmq://5601", "'5601' is not HOST:PORT"},
        {"zmq://*:0", "'*:0' is not HOST:PORT"},
        {"zmq://*:65536", "'*:65536' is not HOST:PORT"},
        {"zmq://*:56x", "'*:56x' is not HOST:PORT"},
        {"zmq://:5601", "':5601' is not HOST:PORT"},
        {"zmq://*:5601#episode=1", "#episode=1"},
        {"open-ephys-ttl://rig:5556", "#line=3"},
        {"open-ephys-ttl://rig:5556#", "line="},
        {"open-ephys-ttl://rig:5556#line", "'line'"},
        {"open-ephys-ttl://rig:5556#line=0", "line: '0' is not a whole number of at least 1"},
        {"open-ephys-ttl://rig:5556#line=257", "at most 256"},
        {"open-ephys-ttl://rig:5556#line=3&pulse=10", "pulse: "},
        {"open-ephys-ttl://rig:5556#line=3&pulse=2s", "pulse: '2s' is not a time above 0"},
        {"open-ephys-ttl://rig:5556#line=3&byte=1", "'byte=1' after #"},
        {"open-ephys-message://rig:5556#line=3", "expected episode="},
        {"open-ephys-message://rig:5556#episode=-1", "episode: '-1'"},
        {"serial:///dev/ttyUSB0#max-age=19ms", "max-age: '19ms' is not a time of at least 20 ms"},
        {"open-ephys-ttl://rig:5556#line=3&max-age=2s", "at most 1 s"},
        {"open-ephys-message://rig:5556#max-age=1s", "expected episode="},
        {"serial://ttyUSB0", "'ttyUSB0' is not the path of a device"},
        {"serial:///dev/ttyUSB0#byte=256", "byte: '256'"},
        {"serial:///dev/ttyUSB0#baud=1234", "baud: found 1234, expected one of 9600"},
    };
    for (const auto& [text, says] : wrong) {
        const std::string message = text_of([&, given = text] { parse_destination(given); });
        EXPECT_NE(message.find(says), std::string::npos) << text << ": " << message;
        EXPECT_NE(message.find(text), std::string::npos) << message;
        EXPECT_EQ(message.find('`'), std::string::npos) << message;
    }
}

TEST(Destination, MayNotBeGivenTwice) {
    EXPECT_EQ(parse_destinations({}).at(0).kind, destination_kind::caller);
    EXPECT_EQ(parse_destinations({"a", "zmq://*:1", "-"}).size(), 3U);
    EXPECT_EQ(text_of([] { parse_destinations({"a", "b", "a"}); }), "'a' is given twice");
}

}  // namespace
}  // namespace spikeweave::live
