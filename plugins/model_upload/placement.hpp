// plugins/model_upload/placement.hpp - puts a received model at its place below <base_dir>/models.
#pragma once
#include <cstdint>
#include <string>

namespace portico::model_upload {

// A file that is open for reading.
struct candidate {
  std::intptr_t file = -1;  // a descriptor, on Windows a HANDLE; stays its owner's
  std::string file_name;    // empty: it has none
  std::uint64_t size = 0;   // bytes
  std::string root, path;   // "checkpoints", "sub/m.safetensors"
};

// status 0: done.  Else the HTTP status, with the code and message of the error; no text holds a path of this machine.
struct outcome {
  int status = 0;
  std::string code, message, details = "null";
  std::string disk_path;     // absolute, free of symbolic links
  std::int64_t changed = 0;  // microseconds since 1970
  bool moved = false;        // file_name no longer names the file
};

outcome refused(int status, const char* code, std::string message);

class model_folder {
 public:
  // base_dir: ComfyUI's own folder.  follow_category_links: a folder directly below models may be a link to elsewhere.
  // All members may block.
  model_folder(std::string base_dir, bool follow_category_links);
  const std::string& base_dir() const noexcept { return base_dir_; }

  // Nothing is written over, ever; the file is whole and on disk before it can be seen under its name; folders that are
  // missing are made.  A file that is there already with the same bytes counts as placed.  The folder is looked at and
  // written to through its open handle, so that no link can come in between.  Refused with 422: a file of that name
  // with other bytes; a link that leads out of models, or a linked category without follow_category_links; a name that
  // is not
  // *.safetensors.  409: another file came first.  507: the disk is full.  500: anything else.
  outcome place(const candidate&) const;

 private:
  std::string base_dir_;
  bool follow_category_links_;
  unsigned file_mode_ = 0;  // POSIX permissions
};

// Whether the last name of the path ends in .safetensors, in any case, and has something before that.
bool has_model_name(const std::string& path);

}  // namespace portico::model_upload
