// plugins/uploads/asset_index.hpp - all stored assets, by id and by content.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/uploads/asset.hpp"

namespace portico::uploads {

// Any thread: every member holds a lock for a few look-ups and never waits for anything else.  An asset that was given
// out never changes; what replaces it in the index is another object.  `at` is the present: an asset whose time is over
// is never given out, and is dropped when met.
class asset_index {
 public:
  // nullptr: unknown, deleted or expired.
  asset_ptr find(std::string_view id, instant at);

  // The oldest asset of that content whose bytes are not lost; nullptr: none.
  asset_ptr by_hash(std::string_view hash, instant at);

  // The asset an upload of this content would only repeat.  Inputs are the same whatever their name; models only when
  // their target is the same too; an input and a model never.  nullptr: none.
  asset_ptr same(std::string_view hash, asset_kind, std::string_view target, instant at);

  struct added {
    asset_ptr stored;
    bool is_new;
  };
  // Stores the asset, unless same() has one by now: two uploads of one content at one time give one asset.
  added add(asset, instant at);

  // Lets the asset live at least until `expires` (0: for ever).  Gives what is stored then; nullptr: it is gone.
  asset_ptr prolong(std::string_view id, instant expires, instant at);

  // False: unknown, deleted or expired.
  bool remove(std::string_view id, instant at);

  // Drops what has expired.  Touches only that.
  void sweep(instant at);

  std::size_t size() const;

 private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  template <class T>
  using by_text = std::unordered_map<std::string, T, text_hash, std::equal_to<>>;

  asset_ptr find_locked(std::string_view id, instant at);
  template <class Accept>
  asset_ptr oldest_locked(std::string_view hash, instant at, Accept accept);
  void drop_locked(asset_ptr);
  void expect_locked(const asset&);

  mutable std::mutex guard_;
  by_text<asset_ptr> by_id_;
  by_text<std::vector<asset_ptr>> by_hash_;       // in the order in which they were added
  std::multimap<instant, std::string> expiring_;  // ids
};

}  // namespace portico::uploads
