#include "plugins/uploads/asset_index.hpp"

#include <catch2/catch.hpp>
#include <thread>

using namespace portico::uploads;

namespace {

asset make(std::string id, std::string hash, instant expires = 0, asset_kind kind = asset_kind::input,
           std::string target = {}) {
  asset a;
  a.id = std::move(id);
  a.bytes = std::make_shared<blob>();
  a.bytes->hash = std::move(hash);
  a.kind = kind;
  a.target = std::move(target);
  a.expires = expires;
  return a;
}

}  // namespace

TEST_CASE("an asset is found by id and by content") {
  asset_index index;
  CHECK(index.find("a", 0) == nullptr);
  CHECK(index.by_hash("h", 0) == nullptr);
  CHECK(index.add(make("a", "h"), 0).is_new);
  CHECK(index.find("a", 0)->id == "a");
  CHECK(index.by_hash("h", 0)->id == "a");
  CHECK(index.by_hash("H", 0) == nullptr);
}

TEST_CASE("an input of a content that is there gives the asset that is there") {
  asset_index index;
  index.add(make("a", "h"), 0);
  const auto again = index.add(make("b", "h"), 0);
  CHECK_FALSE(again.is_new);
  CHECK(again.stored->id == "a");
  CHECK(index.find("b", 0) == nullptr);
}

TEST_CASE("models are the same only when content and target are") {
  asset_index index;
  index.add(make("a", "h", 0, asset_kind::model, "loras/x.safetensors"), 0);
  CHECK_FALSE(index.add(make("b", "h", 0, asset_kind::model, "loras/x.safetensors"), 0).is_new);
  CHECK(index.add(make("c", "h", 0, asset_kind::model, "vae/x.safetensors"), 0).is_new);
  CHECK(index.by_hash("h", 0)->id == "a");
}

TEST_CASE("an input and a model of one content are never the same") {
  asset_index index;
  index.add(make("m", "h", 0, asset_kind::model, "loras/x.safetensors"), 0);
  CHECK(index.same("h", asset_kind::input, "", 0) == nullptr);
  CHECK(index.add(make("i", "h"), 0).is_new);
  CHECK(index.same("h", asset_kind::input, "", 0)->id == "i");
}

TEST_CASE("deleting one of two assets over one content leaves the other") {
  asset_index index;
  index.add(make("a", "h", 0, asset_kind::model, "x"), 0);
  index.add(make("b", "h", 0, asset_kind::model, "y"), 0);
  CHECK(index.remove("a", 0));
  CHECK_FALSE(index.remove("a", 0));
  CHECK(index.find("a", 0) == nullptr);
  CHECK(index.by_hash("h", 0)->id == "b");
  CHECK(index.remove("b", 0));
  CHECK(index.by_hash("h", 0) == nullptr);
  CHECK(index.size() == 0);
}

TEST_CASE("an expired asset is gone, and its content is free again") {
  asset_index index;
  index.add(make("a", "h", 100), 0);
  CHECK(index.find("a", 99));
  CHECK(index.find("a", 100) == nullptr);
  CHECK(index.size() == 0);
  index.add(make("b", "h", 100), 0);
  CHECK(index.by_hash("h", 100) == nullptr);
  CHECK(index.add(make("c", "h"), 100).is_new);
  CHECK_FALSE(index.remove("b", 100));
}

TEST_CASE("sweeping drops what has expired and nothing else") {
  asset_index index;
  index.add(make("a", "1", 100), 0);
  index.add(make("b", "2", 200), 0);
  index.add(make("c", "3"), 0);
  index.add(make("d", "4", 100), 0);
  index.prolong("d", 300, 0);
  index.sweep(150);
  CHECK(index.size() == 3);
  CHECK(index.find("d", 150));
  index.sweep(1000);
  CHECK(index.size() == 1);
  CHECK(index.find("c", 1000));
}

TEST_CASE("a life can be made longer, never shorter") {
  asset_index index;
  index.add(make("a", "h", 100), 0);
  CHECK(index.prolong("a", 50, 0)->expires == 100);
  CHECK(index.prolong("a", 150, 0)->expires == 150);
  CHECK(index.prolong("a", 0, 0)->expires == 0);
  CHECK(index.prolong("a", 500, 0)->expires == 0);
  CHECK(index.by_hash("h", 1000)->expires == 0);
  CHECK(index.prolong("b", 500, 0) == nullptr);
}

TEST_CASE("lost bytes are not offered for their content again") {
  asset_index index;
  const auto first = index.add(make("a", "h"), 0).stored;
  first->bytes->lost = true;
  CHECK(index.by_hash("h", 0) == nullptr);
  CHECK(index.find("a", 0));
  CHECK(index.add(make("b", "h"), 0).is_new);
  CHECK(index.by_hash("h", 0)->id == "b");
}

TEST_CASE("many threads that store one content at one time get one asset") {
  asset_index index;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string n = std::to_string(i);
        made += index.add(make(n + "-" + std::to_string(t), n), 0).is_new;
        index.by_hash(n, 0);
        index.prolong(n + "-0", 5, 0);
        index.remove(n + "-9", 0);
      }
    });
  for (auto& t : threads) t.join();
  CHECK(made == 200);
  CHECK(index.size() == 200);
}
