// tests/e2e/stage.hpp - portico in front of a stand-in ComfyUI, and the steps that most tests share.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "http.hpp"
#include "process.hpp"

namespace e2e {

using namespace std::chrono_literals;

// How much longer things take when sanitizers watch: for limits that stand for "at once".
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int slowness = 5;
#else
constexpr int slowness = 1;
#endif

// A workflow that makes one small picture at once; the colour makes two of them differ.
std::string quick_graph(int colour = 255);
// One that samples so many steps, for tests that watch a job run.
std::string sampling_graph(int steps = 4, int seed = 1);

class stage {
 public:
  // more: lines of ini for portico, such as "[server]\ntoken = x\n".  upstream: instead of the stand-in's own address.
  explicit stage(const std::string& more = {}, const std::string& upstream = {});

  process standin, portico;

  std::uint16_t port() const { return portico.port(); }
  answer get(const std::string& target, const fields& more = {}) const { return e2e::get(port(), target, more); }
  answer post(const std::string& target, const std::string& body = {}, const fields& more = {}) const {
    return e2e::post(port(), target, body, more);
  }
  answer submit(const std::string& graph, const std::string& rest = {},
                const fields& more = {}) const;  // rest: ",\"a\":1"
  // Submits, and CHECKs that it was taken; the job's id.
  std::string submitted(const std::string& graph, const std::string& rest = {}) const;
  answer job(const std::string& id) const { return get("/api/v2/jobs/" + id); }
  // Polls until the job's status is one of these, separated by blanks; the last answer.
  answer wait_for(const std::string& id, const std::string& statuses, std::chrono::milliseconds within = 20s) const;
  // Submits and waits until it has ended; CHECKs success.
  answer done(const std::string& graph) const;

  void knobs(const std::string& json) const;
  std::string counters() const;
  // How often the stand-in was called on a route such as "POST /prompt".
  int calls(const std::string& route) const;
  int prompts(const std::string& id) const;

 private:
  static std::string ini_for(const std::string& upstream, const std::string& more);
};

// Whether the condition comes true within the time, which is longer where sanitizers watch.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds within = 10s);

}  // namespace e2e
