#include "core/base/system.hpp"

#include <string>
#include <string_view>

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "core/base/log.hpp"
#include "core/base/text.hpp"

using namespace portico::base;

namespace {

// What is written to standard error while it lives.
class stderr_taken {
 public:
  stderr_taken() : kept_(::dup(STDERR_FILENO)) {
    REQUIRE(::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0);
    ::dup2(pipe_[1], STDERR_FILENO);
  }
  ~stderr_taken() {
    ::dup2(kept_, STDERR_FILENO);
    for (const int fd : {kept_, pipe_[0], pipe_[1]}) ::close(fd);
  }
  stderr_taken(const stderr_taken&) = delete;
  stderr_taken& operator=(const stderr_taken&) = delete;

  std::string text() {
    char bytes[4096];
    const ssize_t got = ::read(pipe_[0], bytes, sizeof bytes);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : std::string();
  }

 private:
  int kept_;
  int pipe_[2] = {};
};

}  // namespace

TEST_CASE("without a sink a line goes to standard error, with time, level and source") {
  stderr_taken taken;
  log(level::info, "http", "listening");
  std::string text = taken.text();
  for (char& c : text) c = is_digit(c) ? '9' : c;
  CHECK(text == "9999-99-99T99:99:99.999Z INFO  http: listening\n");
}

TEST_CASE("the soft descriptor limit is raised to the hard one") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 64;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  const auto holds = raise_descriptor_limit();
  rlimit after{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
  CHECK(holds == (after.rlim_cur == RLIM_INFINITY ? 0 : after.rlim_cur));
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("random bytes fill all that was given") {
  unsigned char bytes[64] = {};
  random_bytes(bytes);
  int zeros_at_the_ends = 0;
  for (int i = 0; i < 8; ++i) zeros_at_the_ends += (bytes[i] == 0) + (bytes[63 - i] == 0);
  CHECK(zeros_at_the_ends < 8);  // by chance once in 10^15
}

TEST_CASE("a thread bears the name it was given, cut to what the system holds") {
  char before[16], after[16];
  ::pthread_getname_np(::pthread_self(), before, sizeof before);
  name_this_thread("a name that is too long");
  ::pthread_getname_np(::pthread_self(), after, sizeof after);
  CHECK(std::string_view(after) == "a name that is ");
  name_this_thread(before);
}
