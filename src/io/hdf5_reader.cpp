#include "io/hdf5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <utility>

#include "io/file_error.hpp"
#include "io/hdf5.hpp"
#include "io/message.hpp"

namespace spikeweave::io::hdf5 {
namespace {

// If another thread were in the library during the fork, it would stay locked in the helper.
std::unique_ptr<helper_process> start_helper(const std::filesystem::path& path) {
    const std::unique_lock alone = lock_library();
    try {
        return std::make_unique<helper_process>([&path] { return serve_file(path); });
    } catch (const io_error& error) {
        throw file_error(path, error.what());
    }
}

std::string request(request_kind kind, const std::string& object, std::string_view name = {}) {
    message_writer out;
    out.add(static_cast<std::uint64_t>(kind));
    out.add(object);
    if (!name.empty()) out.add(name);
    return out.take();
}

std::vector<std::string> texts_in(const std::string& bytes) {
    message_reader answer(bytes);
    std::vector<std::string> out;
    for (std::uint64_t left = answer.number(); left > 0; --left) out.push_back(answer.text());
    return out;
}

}  // namespace

struct reader::connection {
    std::filesystem::path path;
    std::stop_token stop;
    std::unique_ptr<helper_process> helper;

    /// @param place  part of messages besides the file
    std::string ask(const std::string& request, const std::string& place,
                    std::size_t shared_bytes = 0) const {
        try {
            return helper->call(request, shared_bytes, stop);
        } catch (const io_error& error) {
            if (place.empty()) throw file_error(path, error.what());
            throw file_error(path, place, error.what());
        }
    }
};

reader::reader(const std::filesystem::path& path, const std::stop_token& stop)
    : connection_(std::make_shared<connection>(connection{path, stop, start_helper(path)})) {
    try {
        static_cast<void>(connection_->helper->call(request(request_kind::open, ""), 0, stop));
    } catch (const io_error& error) {
        throw file_error(path, fmt::format("is damaged or not HDF5: {}", error.what()));
    }
}

const std::filesystem::path& reader::path() const {
    return connection_->path;
}

bool reader::exists(const std::string& object) const {
    const std::string answer = connection_->ask(request(request_kind::exists, object), "");
    return message_reader(answer).number() != 0;
}

bool reader::leads_somewhere(const std::string& object) const {
    const std::string answer =
        connection_->ask(request(request_kind::leads_somewhere, object), "/" + object);
    return message_reader(answer).number() != 0;
}

std::vector<std::string> reader::members(const std::string& group) const {
    return texts_in(connection_->ask(request(request_kind::members, group), "/" + group));
}

std::filesystem::path reader::file_of(const std::string& object) const {
    const std::string answer =
        connection_->ask(request(request_kind::file_of, object), "/" + object);
    return message_reader(answer).text();
}

std::vector<std::string> reader::text_attributes(const std::string& object,
                                                 const char* name) const {
    return texts_in(connection_->ask(request(request_kind::text_attribute, object, name),
                                     fmt::format("/{}@{}", object, name)));
}

std::string reader::text_attribute(const std::string& object, const char* name) const {
    const std::vector<std::string> texts = text_attributes(object, name);
    return texts.size() == 1 ? texts.front() : std::string();
}

std::vector<double> reader::numbers_of(const std::string& object, const char* name,
                                       finding& found) const {
    const std::string bytes =
        connection_->ask(request(request_kind::number_attributes, object, name),
                         fmt::format("/{}@{}", object, name));
    message_reader answer(bytes);
    std::vector<double> out;
    found = static_cast<finding>(answer.number());
    if (found != finding::numbers) return out;
    for (std::uint64_t left = answer.number(); left > 0; --left)
        out.push_back(std::bit_cast<double>(answer.number()));
    return out;
}

std::vector<double> reader::number_attributes(const std::string& object, const char* name) const {
    finding found{};
    return numbers_of(object, name, found);
}

column::column(reader file, std::string path) : file_(std::move(file)), path_(std::move(path)) {
    const std::string bytes =
        file_.connection_->ask(request(request_kind::describe, path_), "/" + path_);
    message_reader answer(bytes);
    for (std::uint64_t rank = answer.number(); rank > 0; --rank) shape_.push_back(answer.number());
    kind_ = static_cast<item_kind>(answer.number());
    item_bytes_ = answer.number();
}

void column::fail(const std::string& why) const {
    throw file_error(file_.path(), "/" + path_, why);
}

bool column::is_integer() const {
    return kind_ == item_kind::signed_integer || kind_ == item_kind::unsigned_integer;
}

void column::expect_list() const {
    if (shape_.size() != 1) fail(fmt::format("has {} dimensions, expected 1", shape_.size()));
}

template <class Item>
void column::read_block(std::uint64_t begin, std::uint64_t row_items, number_kind kind,
                        std::span<Item> into) const {
    if (!is_number()) fail("does not hold numbers");
    // The helper's memory is as large as the largest request.
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;
    const std::uint64_t rows_at_once =
        std::max<std::uint64_t>(1, most_bytes / (row_items * sizeof(Item)));
    while (!into.empty()) {
        const std::uint64_t rows = std::min<std::uint64_t>(rows_at_once, into.size() / row_items);
        const std::span<Item> part = into.first(rows * row_items);
        message_writer asked;
        asked.add(static_cast<std::uint64_t>(request_kind::rows));
        asked.add(path_);
        asked.add(begin);
        asked.add(rows);
        asked.add(static_cast<std::uint64_t>(kind));
        static_cast<void>(file_.connection_->ask(asked.take(), "/" + path_, part.size_bytes()));
        std::memcpy(part.data(), file_.connection_->helper->shared().data(), part.size_bytes());
        into = into.subspan(part.size());
        begin += rows;
    }
}

void column::read(std::uint64_t begin, std::span<double> into) const {
    expect_list();
    read_block(begin, 1, number_kind::float64, into);
}

void column::read(std::uint64_t begin, std::span<std::int64_t> into) const {
    expect_list();
    if (!is_integer()) fail("does not hold whole numbers");
    read_block(begin, 1, is_unsigned() ? number_kind::uint64 : number_kind::int64, into);
    if (!is_unsigned() || item_bytes_ < sizeof(std::int64_t)) return;
    for (std::size_t i = 0; i < into.size(); ++i)
        if (into[i] < 0)
            fail(fmt::format("item {}: found {}, expected at most {}", begin + i,
                             static_cast<std::uint64_t>(into[i]), INT64_MAX));
}

void column::read(std::uint64_t begin, std::span<std::uint64_t> into) const {
    expect_list();
    if (!is_integer()) fail("does not hold whole numbers");
    read_block(begin, 1, is_unsigned() ? number_kind::uint64 : number_kind::int64, into);
    if (is_unsigned()) return;
    for (std::size_t i = 0; i < into.size(); ++i)
        if (into[i] > INT64_MAX)
            fail(fmt::format("item {}: found {}, expected a number from 0 on", begin + i,
                             static_cast<std::int64_t>(into[i])));
}

std::vector<double> column::read_all(std::uint64_t most) const {
    std::uint64_t count = 1;
    for (const std::uint64_t length : shape_)
        if (__builtin_mul_overflow(count, length, &count) || count > most)
            fail(fmt::format("has more than {} items", most));
    std::vector<double> out(count);
    if (count > 0) read_block(0, count / size(), number_kind::float64, std::span(out));
    return out;
}

std::vector<std::string> column::read_text(std::uint64_t most) const {
    message_writer asked;
    asked.add(static_cast<std::uint64_t>(request_kind::texts));
    asked.add(path_);
    asked.add(most);
    return texts_in(file_.connection_->ask(asked.take(), "/" + path_));
}

void column::read_rows(std::uint64_t begin, std::span<std::int16_t> into) const {
    if (shape_.size() != 2) fail(fmt::format("has {} dimensions, expected 2", shape_.size()));
    read_block(begin, shape_[1], number_kind::int16, into);
}

void column::read_rows(std::uint64_t begin, std::span<float> into) const {
    std::uint64_t row = 1;
    for (std::size_t d = 1; d < shape_.size(); ++d) row *= shape_[d];
    if (row == 0 || shape_.empty()) return;
    read_block(begin, row, number_kind::float32, into);
}

std::string column::attribute(const char* name) const {
    return file_.text_attribute(path_, name);
}

std::optional<double> column::number_attribute(const char* name) const {
    finding found{};
    const std::vector<double> numbers = file_.numbers_of(path_, name, found);
    if (found == finding::absent) return std::nullopt;
    if (numbers.size() != 1) fail(fmt::format("attribute '{}' is not a number", name));
    return numbers.front();
}

}  // namespace spikeweave::io::hdf5
