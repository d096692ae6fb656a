#include "io/result_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "io/atomic_file.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave::io {
namespace {

constexpr std::array<std::string_view, 2> result_names{"run.json", "table.tsv"};

void write_result(const std::filesystem::path& target, std::string_view text, bool overwrite) {
    result_folder out(target, overwrite, result_names);
    out.write("table.tsv", text);
    out.commit({});
}

TEST(ResultFolder, ReplacesAnEarlierResultOnly) {
    const temporary_folder place;
    const auto target = place.path() / "out";
    write_result(target, "old", false);
    EXPECT_THROW(write_result(target, "new", false), io_error);
    write_result(target, "new", true);
    EXPECT_EQ(read_bytes(target / "table.tsv"), "new");
    EXPECT_EQ(names_in(place.path()), std::set<std::string>{"out"});
}

TEST(ResultFolder, KeepsWhatOthersPutIntoTheOldOneMeanwhile) {
    const temporary_folder place;
    const auto target = place.path() / "out";
    write_result(target, "old", false);
    {
        result_folder out(target, true, result_names);
        out.write("table.tsv", "new");
        place.file("out/notes.txt", "mine");
        EXPECT_NE(text_of([&] { out.commit({}); }).find("contains 'notes.txt'"), std::string::npos);
    }
    EXPECT_EQ(read_bytes(target / "notes.txt"), "mine");
    EXPECT_EQ(read_bytes(target / "table.tsv"), "old");
    EXPECT_EQ(names_in(place.path()), std::set<std::string>{"out"});
}

// The other result may be an empty folder, which the system would replace silently.
TEST(ResultFolder, SaysThatAnotherRunWasFaster) {
    const temporary_folder place;
    const auto target = place.path() / "out";
    for (const bool with_files : {true, false}) {
        std::filesystem::remove_all(target);
        result_folder out(target, false, result_names);
        out.write("table.tsv", "second");
        std::filesystem::create_directory(target);
        if (with_files) place.file("out/table.tsv", "first");
        EXPECT_NE(text_of([&] { out.commit({}); }).find("was written by another run"),
                  std::string::npos);
        EXPECT_EQ(std::filesystem::exists(target / "table.tsv"), with_files);
    }
    EXPECT_EQ(names_in(place.path()), std::set<std::string>{"out"});
}

// Leftovers of a process that was killed, under names made from process ids.
TEST(ResultFolder, TakesNothingThatLiesAround) {
    const temporary_folder place;
    const auto aside = "." + std::string("out.") + std::to_string(::getpid());
    place.file(aside + ".part/foreign.tsv", "of another run");
    place.file("." + std::string("c.tsv.") + std::to_string(::getpid()) + ".1.part", "stale");
    write_result(place.path() / "out", "ours", false);
    EXPECT_EQ(names_in(place.path() / "out"), std::set<std::string>{"table.tsv"});

    atomic_file file(place.path() / "c.tsv");
    file.write("ours");
    file.commit();
    EXPECT_EQ(read_bytes(place.path() / "c.tsv"), "ours");
}

namespace fs = std::filesystem;
constexpr fs::perms owner_only = fs::perms::owner_read | fs::perms::owner_write;

TEST(ResultFolder, IsAsPrivateAsTheOneItReplaces) {
    const temporary_folder place;
    const auto target = place.path() / "out";
    write_result(target, "old", false);
    fs::permissions(target, fs::perms::owner_all);
    write_result(target, "new", true);
    EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_all);

    const auto file = place.file("a.tsv", "old");
    fs::permissions(file, owner_only);
    atomic_file out(file);
    out.write("new");
    out.commit();
    EXPECT_EQ(read_bytes(file), "new");
    EXPECT_EQ(fs::status(file).permissions(), owner_only);
}

TEST(ResultFolder, ReplacesOneThatNobodyMayWriteTo) {
    const temporary_folder place;
    const auto target = place.path() / "out";
    write_result(target, "old", false);
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_exec);
    write_result(target, "new", true);
    EXPECT_EQ(read_bytes(target / "table.tsv"), "new");
    EXPECT_EQ(names_in(place.path()), std::set<std::string>{"out"});
}

}  // namespace
}  // namespace spikeweave::io
