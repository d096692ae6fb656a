#include "io/helper_process.hpp"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/spike_files.hpp"

namespace spikeweave::io {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

// Computes forever.
[[noreturn]] void loop() {
    for (volatile int i = 0;;) i = i + 1;
}

std::string obey(std::string_view request, std::span<char> shared) {
    if (request == "crash") static_cast<void>(std::raise(SIGSEGV));
    if (request == "abort") std::abort();
    if (request == "leave") ::_exit(7);
    if (request == "loop") loop();
    if (request == "refuse") throw io_error("it is refused");
    if (request == "no memory") throw std::bad_alloc();
    if (request == "who") return std::to_string(::getpid());
    std::fill(shared.begin(), shared.end(), request.front());
    return std::string(request) + "!";
}

helper_process::answering make_obeying() {
    return obey;
}

std::string ask(helper_process& helper, std::string_view request, std::stop_token stop = {}) {
    return helper.call(request, 0, stop);
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    DIR* const folder = ::opendir("/proc/self/fd");
    while (::readdir(folder) != nullptr) ++count;
    ::closedir(folder);
    return count;
}

// Returns whether the process exists, even as a zombie.
bool exists(pid_t process) {
    return ::kill(process, 0) == 0;
}

TEST(HelperProcess, AnswersAndSharesMemoryThatGrows) {
    helper_process helper(make_obeying);
    EXPECT_EQ(ask(helper, "a"), "a!");
    for (const std::size_t bytes : {10U, 5'000'000U, 100U, 9'000'000U}) {
        EXPECT_EQ(helper.call("xyz", bytes, {}), "xyz!");
        ASSERT_GE(helper.shared().size(), bytes);
        EXPECT_EQ(helper.shared()[0], 'x');
        EXPECT_EQ(helper.shared()[bytes - 1], 'x');
    }
    const std::string large(3'000'000, 'q');
    EXPECT_EQ(ask(helper, large), large + "!");
}

TEST(HelperProcess, PassesErrorsOnAndGoesOn) {
    helper_process helper(make_obeying);
    EXPECT_EQ(text_of([&] { ask(helper, "refuse"); }), "it is refused");
    EXPECT_THROW(ask(helper, "refuse"), io_error);
    EXPECT_THROW(ask(helper, "no memory"), std::bad_alloc);
    EXPECT_EQ(ask(helper, "b"), "b!");

    helper_process broken([]() -> helper_process::answering { throw io_error("not made"); });
    EXPECT_EQ(text_of([&] { ask(broken, "a"); }), "not made");
}

TEST(HelperProcess, MakesCrashesErrorsOfItsCallers) {
    const std::vector<std::pair<std::string, std::string>> ways{
        {"crash", "crashed (Segmentation fault)"},
        {"abort", "crashed (Aborted)"},
        {"leave", "ended early (status 7)"}};
    for (const auto& way : ways) {
        helper_process helper(make_obeying);
        EXPECT_SAYS(text_of([&] { ask(helper, way.first); }), way.second);
        // The error is permanent.
        EXPECT_SAYS(text_of([&] { ask(helper, "a"); }), way.second);
        EXPECT_THROW(ask(helper, "a"), io_error);
    }
}

TEST(HelperProcess, IsEndedWhenItComputesTooLong) {
    helper_process helper(make_obeying, seconds(1));
    EXPECT_EQ(ask(helper, "a"), "a!");
    EXPECT_SAYS(text_of([&] { ask(helper, "loop"); }), "did not end");
    // The limit holds for each request; neither their sum nor idle time counts.
    helper_process idle(make_obeying, seconds(1));
    EXPECT_EQ(ask(idle, "a"), "a!");
    const auto until = steady_clock::now() + seconds(2);
    while (steady_clock::now() < until) EXPECT_EQ(ask(idle, "a"), "a!");
}

TEST(HelperProcess, IsEndedWhenTheCallerIsAskedToStop) {
    helper_process helper(make_obeying);
    std::stop_source source;
    const std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        source.request_stop();
    });
    const auto began = steady_clock::now();
    EXPECT_THROW(ask(helper, "loop", source.get_token()), cancelled);
    EXPECT_LT(steady_clock::now() - began, seconds(2));
    EXPECT_THROW(ask(helper, "a", source.get_token()), cancelled);
    EXPECT_THROW(ask(helper, "a"), io_error);
}

TEST(HelperProcess, LeavesNoProcessAndNoDescriptorBehind) {
    const std::size_t before = open_descriptors();
    for (const char* last : {"a", "crash", "leave"}) {
        pid_t process = 0;
        {
            helper_process helper(make_obeying);
            process = std::stoi(ask(helper, "who"));
            EXPECT_TRUE(exists(process));
            try {
                ask(helper, last);
            } catch (const io_error&) {
            }
        }
        EXPECT_FALSE(exists(process)) << last;
        EXPECT_EQ(open_descriptors(), before) << last;
    }
}

// A computing helper does not notice that its parent is gone; a waiting one does.
TEST(HelperProcess, EndsWithTheProcessThatMadeIt) {
    for (const char* last : {"a", "loop"}) {
        int numbers[2] = {};
        ASSERT_EQ(::pipe(numbers), 0);
        const pid_t middle = ::fork();
        if (middle == 0) {
            helper_process helper(make_obeying);
            const pid_t process = std::stoi(ask(helper, "who"));
            if (::write(numbers[1], &process, sizeof process) < 0) ::_exit(1);
            std::stop_source source;
            const std::jthread kill_all([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                ::kill(::getpid(), SIGKILL);
            });
            ask(helper, last);
            for (;;) ::pause();
        }
        pid_t process = 0;
        ASSERT_EQ(::read(numbers[0], &process, sizeof process),
                  static_cast<ssize_t>(sizeof process));
        ::waitpid(middle, nullptr, 0);
        ::close(numbers[0]);
        ::close(numbers[1]);
        const auto is_running = [&] {
            // The process may remain as a zombie for a while; it only must not run.
            std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
            const std::string text{std::istreambuf_iterator<char>(stat), {}};
            const std::size_t state = text.rfind(')');
            return state != std::string::npos && text.substr(state, 3) != ") Z";
        };
        const auto until = steady_clock::now() + seconds(5);
        while (is_running() && steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_FALSE(is_running()) << last;
    }
}

// Descriptors of other helpers are closed as well, because they would keep each other alive.
TEST(HelperProcess, HoldsNoDescriptorOfItsParent) {
    helper_process first(make_obeying);
    const pid_t one = std::stoi(ask(first, "who"));
    helper_process second([]() -> helper_process::answering {
        return [](std::string_view, std::span<char>) { return std::to_string(open_descriptors()); };
    });
    // ".", "..", the folder itself, three standard streams, the socket, the pipe, the memory.
    EXPECT_EQ(ask(second, "a"), "9");
    EXPECT_TRUE(exists(one));
}

TEST(HelperProcess, DoesNotHearWhatIsForItsParent) {
    helper_process helper(make_obeying);
    const pid_t process = std::stoi(ask(helper, "who"));
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::kill(process, number);
    EXPECT_EQ(ask(helper, "a"), "a!");
}

TEST(HelperProcess, ServesManyThreadsThatHaveOneEach) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([] {
            for (int round = 0; round < 20; ++round) {
                helper_process helper(make_obeying);
                EXPECT_EQ(helper.call("z", 1 << 16, {}), "z!");
            }
        });
}

}  // namespace
}  // namespace spikeweave::io
