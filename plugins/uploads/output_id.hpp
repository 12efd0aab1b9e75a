// plugins/uploads/output_id.hpp - the ids of outputs.  Nothing about an output is stored: its id says all, and is
// signed.
//
// id = base64url(JSON{j: job, f: file name, s: subfolder, t: type}) "." base64url(HMAC-SHA256(secret, the first part)).
// One output has one id, and an id has one text form.  Without the secret nobody can make one, so a caller cannot name
// a file of their own choice.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "plugins/uploads/names.hpp"

namespace portico::uploads {

struct output {
  std::string job_id;  // empty in ids made before jobs were named in them
  file_ref file;
};

// Any thread.
class output_ids {
 public:
  explicit output_ids(std::string secret) : secret_(std::move(secret)) {}

  // The file name is cut to its base name.
  std::string mint(const output&) const;

  // Nothing when the id was not made with this secret, or is not in its one text form.
  std::optional<output> open(std::string_view id) const;

 private:
  std::string secret_;
};

}  // namespace portico::uploads
