#include "stage.hpp"

#include <catch2/catch.hpp>
#include <thread>

namespace e2e {

std::string quick_graph(int colour) {
  return R"({"1":{"class_type":"EmptyImage","inputs":{"width":16,"height":16,"batch_size":1,"color":)" +
         std::to_string(colour) +
         R"(}},"9":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"e2e"}}})";
}

std::string sampling_graph(int steps, int seed) {
  return R"({"3":{"class_type":"KSampler","inputs":{"seed":)" + std::to_string(seed) + R"(,"steps":)" +
         std::to_string(steps) +
         R"(,"cfg":8,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":["4",0],"positive":["6",0],)"
         R"("negative":["7",0],"latent_image":["5",0]}},)"
         R"("4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"m.safetensors"}},)"
         R"("5":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},)"
         R"("6":{"class_type":"CLIPTextEncode","inputs":{"text":"a lake","clip":["4",1]}},)"
         R"("7":{"class_type":"CLIPTextEncode","inputs":{"text":"","clip":["4",1]}},)"
         R"("8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},)"
         R"("9":{"class_type":"SaveImage","inputs":{"images":["8",0],"filename_prefix":"e2e"}}})";
}

stage::stage(const std::string& more, const std::string& upstream)
    : standin("standin",
              "[server]\nthreads = 1\n[plugins]\nenabled = comfyui_standin\n"
              "[plugin.comfyui_standin]\nstep_delay = 10ms\n"),
      portico("portico", ini_for(upstream.empty() ? standin.url() : upstream, more)) {}

std::string stage::ini_for(const std::string& upstream, const std::string& more) {
  const std::string common = "[upstream.comfyui]\nurl = " + upstream + "\n";
  // A section may stand only once: what is asked for comes first, and brings its own [server] and [plugins] if it
  // likes.
  std::string ini = more + common;
  if (more.find("[server]") == std::string::npos) ini += "[server]\nthreads = 2\n";
  if (more.find("[plugins]") == std::string::npos) ini += "[plugins]\nenabled = health, jobs, uploads\n";
  return ini;
}

answer stage::submit(const std::string& graph, const std::string& rest, const fields& more) const {
  fields all = {{"Content-Type", "application/json"}};
  all.insert(all.end(), more.begin(), more.end());
  return post("/api/v2/jobs", "{\"workflow\":" + graph + rest + "}", all);
}

std::string stage::submitted(const std::string& graph, const std::string& rest) const {
  const answer a = submit(graph, rest);
  INFO(a.body);
  REQUIRE(a.status == 201);
  return at(a.body, "id");
}

answer stage::wait_for(const std::string& id, const std::string& statuses, std::chrono::milliseconds within) const {
  const auto until = std::chrono::steady_clock::now() + within * slowness;
  for (;;) {
    answer a = job(id);
    const std::string wanted = ' ' + statuses + ' ';
    if (a.status == 200 && wanted.find(' ' + at(a.body, "status") + ' ') != std::string::npos) return a;
    if (std::chrono::steady_clock::now() >= until) {
      INFO("waiting for " << statuses << "; now " << a.status << ' ' << a.body);
      REQUIRE(false);
    }
    std::this_thread::sleep_for(10ms);
  }
}

answer stage::done(const std::string& graph) const {
  const answer a = wait_for(submitted(graph), "succeeded failed canceled expired");
  INFO(a.body);
  CHECK(at(a.body, "status") == "succeeded");
  return a;
}

void stage::knobs(const std::string& json) const {
  const answer a = e2e::post(standin.port(), "/standin/knobs", json);
  INFO(a.body);
  REQUIRE(a.status == 200);
}

std::string stage::counters() const { return e2e::get(standin.port(), "/standin/counters").body; }

int stage::calls(const std::string& route) const {
  const std::string n = at(counters(), "calls." + route);
  return n == "<absent>" ? 0 : std::stoi(n);
}

int stage::prompts(const std::string& id) const {
  const std::string n = at(counters(), "prompts." + id);
  return n == "<absent>" ? 0 : std::stoi(n);
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within * slowness;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

}  // namespace e2e
