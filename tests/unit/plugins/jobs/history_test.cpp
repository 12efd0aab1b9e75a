#include "plugins/jobs/history.hpp"

#include <catch2/catch.hpp>

using jobs::ending;
using jobs::read_history;
using jobs::status;

namespace {

constexpr char id[] = "0b8e5d9c-6b0e-4a51-9f6a-3f0d6a1b2c3d";

ending read(const std::string& entry) {
  const auto how = read_history("{\"" + std::string(id) + "\":" + entry + "}", id);
  REQUIRE(how);
  return *how;
}

std::string entry(const std::string& outputs, const std::string& said) {
  return "{\"prompt\":[],\"outputs\":" + outputs + ",\"status\":" + said + "}";
}

}  // namespace

TEST_CASE("a job that is not in the history is not found, and what is no history is refused") {
  CHECK_FALSE(read_history("{}", id));
  CHECK_FALSE(read_history(R"({"other":{}})", id));
  CHECK_FALSE(read_history("{\"" + std::string(id) + "\":null}", id));
  for (const char* text : {"", "<html>", "[]", "null", "{\"a\":", "5"})
    CHECK_THROWS_AS(read_history(text, id), jobs::not_comfyui);
}

TEST_CASE("success, with its times from the messages") {
  const ending how = read(entry("{}", R"({"status_str":"success","completed":true,"messages":[)"
                                      R"(["execution_start",{"prompt_id":"x","timestamp":1700000000123}],)"
                                      R"(["execution_cached",{"nodes":[],"timestamp":1700000000200}],)"
                                      R"(["execution_success",{"timestamp":1700000001456}]]})"));
  CHECK(how.state == status::succeeded);
  CHECK(how.started_us == 1700000000123000);
  CHECK(how.completed_us == 1700000001456000);
  CHECK_FALSE(how.outputs_reused);
  CHECK_FALSE(how.error);
}

TEST_CASE("outputs were reused when ComfyUI names a node it did not run again") {
  CHECK(read(entry("{}", R"({"messages":[["execution_cached",{"nodes":["9"]}]]})")).outputs_reused);
  CHECK_FALSE(read(entry("{}", R"({"messages":[["execution_cached",{"nodes":[]}]]})")).outputs_reused);
  CHECK_FALSE(read(entry("{}", R"({"messages":[["execution_cached",{"nodes":null}]]})")).outputs_reused);
}

TEST_CASE("an error names the node, its class and ComfyUI's own words, all of them strings") {
  const ending how =
      read(entry("{}", R"({"status_str":"error","messages":[["execution_error",{"exception_message":"out of memory\n",)"
                       R"("node_id":4,"node_type":"KSampler","traceback":["/home/x"],"timestamp":1700000001456}],)"
                       R"(["execution_error",{"exception_message":"second"}]]})"));
  CHECK(how.state == status::failed);
  REQUIRE(how.error);
  CHECK(how.error->code == "node_execution_error");
  CHECK(how.error->message == "out of memory\n");
  CHECK(how.error->node_id == "4");
  CHECK(how.error->class_type == "KSampler");
  CHECK(how.completed_us == 1700000001456000);
}

TEST_CASE("an error without words still has a message") {
  for (const char* said :
       {R"({"status_str":"error","messages":[["execution_error",{"exception_message":null,"node_id":null}]]})",
        R"({"status_str":"error","messages":[]})", R"({"status_str":"error"})",
        R"({"status_str":"whatever","messages":null})"}) {
    const ending how = read(entry("{}", said));
    CHECK(how.state == status::failed);
    REQUIRE(how.error);
    CHECK_FALSE(how.error->message.empty());
    CHECK_FALSE(how.error->node_id);
  }
}

TEST_CASE("an interrupted job is canceled, whatever else is said, and has no error") {
  const ending how = read(entry(
      "{}",
      R"({"status_str":"error","messages":[["execution_interrupted",{"node_id":"1","timestamp":1700000000000}]]})"));
  CHECK(how.state == status::canceled);
  CHECK_FALSE(how.error);
  CHECK(how.completed_us == 1700000000000000);
}

TEST_CASE("odd shapes are read as far as they go") {
  for (const char* text :
       {"{}", R"({"status":null})", R"({"status":null,"outputs":null})", R"({"status":{},"outputs":[]})",
        R"({"status":{"messages":null}})", R"({"status":{"messages":[null,1,[],["execution_start"],[5,{}],"x"]}})",
        R"({"outputs":{"1":null,"2":[],"3":{"images":null},"4":{"images":[null,"x",5,{}]},"5":{"images":[{)"
        R"("filename":null}]}}})",
        R"({"status":{"messages":[["execution_start",{"timestamp":"x"}],["execution_success",{"timestamp":-5}]]}})"}) {
    const ending how = read(text);
    CHECK(how.state == status::succeeded);
    CHECK(how.outputs.empty());
    CHECK(how.started_us == 0);
    CHECK(how.completed_us == 0);
  }
}

TEST_CASE("Python's own numbers and broken text do not make a history unreadable") {
  const ending how =
      read("{\"prompt\":[NaN,-Infinity],\"outputs\":{\"n\\udcff\":{\"images\":[{\"filename\":\"a\xFF.png\"}]}}}");
  REQUIRE(how.outputs.size() == 1);
  CHECK(how.outputs[0].node_id == "n\xEF\xBF\xBD");
  CHECK(how.outputs[0].filename == "a\xEF\xBF\xBD.png");
}

TEST_CASE("outputs keep the order of the history, and have their type from what they are") {
  const ending how = read(
      entry(R"({"9":{"images":[{"filename":"a.png","subfolder":"","type":"output"},{"filename":"clip.mp4",)"
            R"("subfolder":"v","type":"output"}],"animated":[true]},)"
            R"("3":{"gifs":[{"filename":"b.webm","type":"temp"}],"audio":[{"filename":"c.flac"}],"text":["words",{)"
            R"("filename":"t.txt"}],)"
            R"("latents":[{"filename":"l.latent"}],"files":[{"filename":"x.pdf"}],"3d":[{"filename":"m.glb"}],)"
            R"("result":["m.glb"],"more":[{"filename":"p.png"}]}})",
            "null"));
  std::string seen;
  for (const jobs::output& o : how.outputs) seen += o.node_id + ":" + o.type + ":" + o.filename + ":" + o.folder + " ";
  CHECK(seen ==
        "9:image:a.png:output 9:video:clip.mp4:output 3:video:b.webm:temp 3:audio:c.flac:output 3:text:t.txt:output "
        "3:latent:l.latent:output 3:file:x.pdf:output 3:file:m.glb:output 3:image:p.png:output ");
  CHECK(how.outputs[0].content_type == "image/png");
  CHECK(how.outputs[1].content_type == "video/mp4");
  CHECK(how.outputs[1].subfolder == "v");
}

TEST_CASE("an output's name is its base name, and nothing climbs out of a folder") {
  const ending how = read(
      entry(R"({"1":{"images":[{"filename":"/tmp/a b/é.png"},{"filename":"C:\\out\\x.png"},{"filename":"sub/x.png"},{)"
            R"("filename":"a&#%2f+\"\n.png"},)"
            R"({"filename":"/"},{"filename":".."},{"filename":"a/.."},{"filename":"b.png","subfolder":"../.."},{)"
            R"("filename":"c.png","subfolder":"a\\..\\b"},)"
            R"({"filename":"d.png","subfolder":"..a/b.."}]}})",
            "null"));
  std::string seen;
  for (const jobs::output& o : how.outputs) seen += o.filename + "|";
  CHECK(seen == "é.png|x.png|x.png|a&#%2f+\"\n.png|d.png|");
}

TEST_CASE("places in the queue follow ComfyUI's numbers, not the order of the answer") {
  const std::string a = "00000000-0000-4000-8000-00000000000a", b = "00000000-0000-4000-8000-00000000000b";
  const auto q = jobs::read_queue(R"({"queue_running":[[1,")" + std::string(id) +
                                  R"(",{},{},[]],null,[],[1]],"queue_pending":[[9,")" + a +
                                  R"(",{}],[3.5,"not a uuid",{}],[-1,")" + b + R"("]]})");
  CHECK(q.running.size() == 1);
  CHECK(q.running.contains(*jobs::parse_job_id(id)));
  CHECK(q.pending.at(*jobs::parse_job_id(b)) == 1);
  CHECK(q.pending.at(*jobs::parse_job_id(a)) == 3);
}

TEST_CASE("what is no queue is refused") {
  for (const char* text :
       {"", "<html>", "{}", "[]", R"({"queue_running":[]})", R"({"queue_running":[],"queue_pending":null})"})
    CHECK_THROWS_AS(jobs::read_queue(text), jobs::not_comfyui);
  CHECK(jobs::read_queue(R"({"queue_running":[],"queue_pending":[]})").running.empty());
}

TEST_CASE("a cancel counts only when ComfyUI says that it cancelled") {
  CHECK(jobs::read_cancelled(R"({"cancelled":true})"));
  CHECK_FALSE(jobs::read_cancelled(R"({"cancelled":false})"));
  CHECK_FALSE(jobs::read_cancelled(R"({"cancelled":"yes"})"));
  CHECK_FALSE(jobs::read_cancelled("{}"));
  CHECK_THROWS_AS(jobs::read_cancelled("OK"), jobs::not_comfyui);
}
