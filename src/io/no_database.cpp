// Replaces database.cpp in a build without SQLite.

#include <utility>

#include "io/database.hpp"
#include "io/file_error.hpp"

namespace spikeweave::io {

void database::close::operator()(sqlite3*) const noexcept {}

database::database(std::filesystem::path path, access) : path_(std::move(path)) {
    fail();
}

void database::fail() const {
    throw file_error(path_,
                     "this build of spikeweave has no sessions (it was configured with "
                     "SPIKEWEAVE_LIVE=OFF)");
}

// There is no database, so nothing below can be called.
void database::run(const std::string&) {
    fail();
}
statement database::prepare(std::string_view) {
    fail();
}
void statement::finalize::operator()(sqlite3_stmt*) const noexcept {}
void statement::check(int) const {
    in_->fail();
}
statement& statement::bind(int, std::int64_t) {
    in_->fail();
}
statement& statement::bind(int, std::optional<std::int64_t>) {
    in_->fail();
}
statement& statement::bind_text(int, std::string_view) {
    in_->fail();
}
statement& statement::bind_bytes(int, std::span<const char>) {
    in_->fail();
}
bool statement::next_row() {
    in_->fail();
}
void statement::run() {
    in_->fail();
}
void statement::reset() {
    in_->fail();
}
std::int64_t statement::number(int) const {
    in_->fail();
}
std::uint64_t statement::count(int) const {
    in_->fail();
}
bool statement::is_null(int) const {
    in_->fail();
}
std::string_view statement::text(int) const {
    in_->fail();
}
std::string_view statement::bytes(int) const {
    in_->fail();
}
void statement::fail_at(int, std::string_view) const {
    in_->fail();
}

}  // namespace spikeweave::io
