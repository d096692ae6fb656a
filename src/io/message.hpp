#pragma once

// Numbers and texts as bytes, sent between processes of one machine.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::io {

class message_writer {
public:
    void add(std::uint64_t number) {
        bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    void add(std::string_view text) {
        add(std::uint64_t{text.size()});
        bytes_.append(text);
    }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

/// Extracts items in the order in which they were added. @throws io_error beyond the end
class message_reader {
public:
    explicit message_reader(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string text() { return std::string(take(number())); }

private:
    std::string_view take(std::uint64_t bytes) {
        if (bytes > rest_.size()) throw io_error("a message between two processes is cut");
        const std::string_view taken = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return taken;
    }

    std::string_view rest_;
};

}  // namespace spikeweave::io
