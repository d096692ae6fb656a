#include "live/realtime.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Above ordinary threads is enough; threads of the system that serve devices have 50.
constexpr int priority = 10;

[[noreturn]] void refuse(const char* what, const char* remedy) {
    throw invalid_argument("realtime", fmt::format("the system does not permit {} ({}): {}", what,
                                                   std::generic_category().message(errno), remedy));
}

// Of the calling thread.
bool schedule(int policy, int at) {
    const sched_param parameters{at};
    return ::sched_setscheduler(0, policy, &parameters) == 0;
}

}  // namespace

realtime_thread::realtime_thread() {
    if (!schedule(SCHED_FIFO | SCHED_RESET_ON_FORK, priority))
        refuse("a thread that runs before all others",
               "set rtprio to 10 or more in /etc/security/limits.conf");
    if (::mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return;
    const int why = errno;
    schedule(SCHED_OTHER, 0);
    errno = why;
    refuse("memory that is never paged out",
           "set memlock to unlimited in /etc/security/limits.conf");
}

realtime_thread::~realtime_thread() {
    ::munlockall();
    schedule(SCHED_OTHER, 0);
}

}  // namespace spikeweave::live
