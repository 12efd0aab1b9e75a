#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "plugins/comfy/errors.hpp"
#include "plugins/model_upload/descriptor_posix.hpp"
#include "plugins/model_upload/placement.hpp"

namespace portico::model_upload {
namespace {

class refusal {
 public:
  explicit refusal(outcome o) : outcome_(std::move(o)) {}
  const outcome& what() const noexcept { return outcome_; }

 private:
  outcome outcome_;
};

[[noreturn]] void refuse(std::string why) { throw refusal(refused(422, comfy::code::invalid_request, std::move(why))); }

[[noreturn]] void fail(const std::string& what) {
  const int why = errno;
  if (why == ENOSPC || why == EDQUOT || why == EFBIG)
    throw refusal(refused(507, "insufficient_storage", "there is not enough space left on the disk for this model"));
  throw refusal(refused(500, "internal", "the model could not be placed: " + what + ": " + std::strerror(why)));
}

std::string proc_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// Where an open file or folder really is.
std::string place_of(int fd) {
  std::vector<char> text(PATH_MAX);
  const ssize_t n = ::readlink(proc_path(fd).c_str(), text.data(), text.size());
  return n > 0 && static_cast<std::size_t>(n) < text.size() ? std::string(text.data(), static_cast<std::size_t>(n))
                                                            : std::string();
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> names;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..")
      refuse("the model's path holds an empty name or one that leads elsewhere");
    names.emplace_back(name);
    if (slash == std::string_view::npos) return names;
    path.remove_prefix(slash + 1);
  }
}

constexpr int folder_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;

// A folder in a folder, made if it is not there.  Nothing: it is a link.
std::optional<descriptor> open_folder(const descriptor& in, const std::string& name) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int fd = ::openat(in.get(), name.c_str(), folder_flags | O_NOFOLLOW);
    if (fd >= 0) return descriptor(fd);
    struct stat info {};
    if (errno == ENOTDIR && ::fstatat(in.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      if (S_ISLNK(info.st_mode)) return std::nullopt;
      refuse("\"" + name + "\" in the model's path is a file, not a folder");
    }
    if (errno != ENOENT) fail("a folder in its path cannot be opened");
    if (::mkdirat(in.get(), name.c_str(), 0777) != 0 && errno != EEXIST) fail("a folder in its path cannot be made");
  }
  fail("a folder in its path disappears");
}

// A link to a folder that lies below models is as good as that folder: it is opened by its real place, step by step.
descriptor open_linked(const descriptor& models, const descriptor& in, const std::string& name) {
  const descriptor target(::openat(in.get(), name.c_str(), folder_flags));
  const std::string top = place_of(models.get()), there = target ? place_of(target.get()) : std::string();
  if (!target || !there.starts_with(top + "/"))
    refuse("\"" + name + "\" in the model's path is a symbolic link that leads out of ComfyUI's models folder");
  descriptor at(::openat(models.get(), ".", folder_flags));
  for (const std::string& step : split(std::string_view(there).substr(top.size() + 1))) {
    const int fd = ::openat(at.get(), step.c_str(), folder_flags | O_NOFOLLOW);
    if (fd < 0) refuse("a symbolic link in the model's path was changed while it was followed");
    at = descriptor(fd);
  }
  return at;
}

bool is_link(const descriptor& in, const std::string& name) {
  struct stat info {};
  return ::fstatat(in.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

descriptor open_target_folder(const std::string& base_dir, const std::string& root,
                              const std::vector<std::string>& names, bool follow_category_links) {
  const descriptor models(::open((base_dir + "/models").c_str(), folder_flags));
  if (!models) refuse("base_dir holds no folder named models; set it to ComfyUI's own folder");
  descriptor at;
  if (is_link(models, root)) {
    if (!follow_category_links)
      refuse("models/" + root + " is a symbolic link; set follow_category_links = yes to place models behind it");
    at = descriptor(::openat(models.get(), root.c_str(), folder_flags));
    if (!at) fail("models/" + root + " cannot be opened");
  } else {
    std::optional<descriptor> category = open_folder(models, root);
    if (!category) refuse("models/" + root + " has become a symbolic link");
    at = std::move(*category);
  }
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    std::optional<descriptor> next = open_folder(at, names[i]);
    at = next ? std::move(*next) : open_linked(models, at, names[i]);
  }
  return at;
}

// Whether two open files hold the same bytes.
bool same_bytes(int a, int b, std::uint64_t size) {
  constexpr std::size_t piece = 256 * 1024;
  std::vector<char> x(piece), y(piece);
  for (std::uint64_t at = 0; at < size;) {
    const ssize_t n = ::pread(a, x.data(), piece, static_cast<off_t>(at));
    if (n <= 0 || ::pread(b, y.data(), static_cast<std::size_t>(n), static_cast<off_t>(at)) != n) return false;
    if (!std::equal(x.begin(), x.begin() + n, y.begin())) return false;
    at += static_cast<std::uint64_t>(n);
  }
  return true;
}

outcome placed(int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0) fail("it cannot be looked at");
  outcome o;
  o.disk_path = place_of(file);
  o.changed = static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000 + info.st_mtim.tv_nsec / 1000;
  return o;
}

// What stands at the target already; nothing: the name is free.
std::optional<outcome> present(const descriptor& folder, const std::string& name, const candidate& c) {
  struct stat info {};
  if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return std::nullopt;
    if (errno == ENAMETOOLONG) refuse("the model's name is too long for this disk");
    fail("its place cannot be looked at");
  }
  if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) == c.size) {
    const descriptor there(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (there && same_bytes(there.get(), static_cast<int>(c.file), c.size)) return placed(there.get());
  }
  refuse("another file exists at " + c.root + "/" + c.path + "; choose another name, or remove that file first");
}

// Copies the candidate into a file in the target's folder that has no name yet, or, where that cannot be, a hidden one.
descriptor copy_beside(const descriptor& folder, const candidate& c, std::string& hidden) {
  descriptor copy;
#ifdef O_TMPFILE
  copy = descriptor(::openat(folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
  for (int i = 0; !copy && i < 100; ++i) {
    hidden = ".portico-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    copy = descriptor(::openat(folder.get(), hidden.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!copy && errno != EEXIST) fail("a temporary file beside its place cannot be made");
  }
  if (!copy) fail("a temporary file beside its place cannot be made");
  std::vector<char> buffer(1024 * 1024);
  for (std::uint64_t at = 0; at < c.size;) {
    const ssize_t n = ::pread(static_cast<int>(c.file), buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (n <= 0) fail("its temporary file cannot be read");
    for (ssize_t done = 0; done < n;) {
      const ssize_t m = ::write(copy.get(), buffer.data() + done, static_cast<std::size_t>(n - done));
      if (m < 0 && errno == EINTR) continue;
      if (m < 0) fail("it cannot be copied to its place");
      done += m;
    }
    at += static_cast<std::uint64_t>(n);
  }
  return copy;
}

void make_durable(int file, const descriptor& folder, unsigned mode) {
  struct stat info {};
  if (::fstat(folder.get(), &info) == 0) static_cast<void>(::fchown(file, static_cast<uid_t>(-1), info.st_gid) == 0);
  if (::fchmod(file, mode) != 0) fail("its permissions cannot be set");
  if (::fsync(file) != 0) fail("it cannot be written to the disk");
}

// Gives the file its name.  False: it is on another file system.
bool link_into(int file, const std::string& file_name, const descriptor& folder, const std::string& name,
               const candidate& c) {
  const std::string from = file_name.empty() ? proc_path(file) : file_name;
  if (::linkat(AT_FDCWD, from.c_str(), folder.get(), name.c_str(), file_name.empty() ? AT_SYMLINK_FOLLOW : 0) == 0)
    return true;
  if (errno == EXDEV || errno == EPERM || errno == EMLINK || errno == ENOENT) return false;
  if (errno == EEXIST)
    throw refusal(refused(409, comfy::code::hash_mismatch,
                          "another file was placed at " + c.root + "/" + c.path + " at the same time"));
  fail("it cannot be given its name");
}

outcome put(const descriptor& folder, const std::string& name, const candidate& c, unsigned mode) {
  if (std::optional<outcome> there = present(folder, name, c)) return *there;
  make_durable(static_cast<int>(c.file), folder, mode);
  if (!link_into(static_cast<int>(c.file), c.file_name, folder, name, c)) {
    std::string hidden;
    struct remover {
      const descriptor& folder;
      const std::string& name;
      ~remover() {
        if (!name.empty()) ::unlinkat(folder.get(), name.c_str(), 0);
      }
    } const removes{folder, hidden};
    const descriptor copy = copy_beside(folder, c, hidden);
    make_durable(copy.get(), folder, mode);
    const std::string path = hidden.empty() ? std::string() : place_of(folder.get()) + "/" + hidden;
    if (!link_into(copy.get(), path, folder, name, c)) fail("it cannot be given its name");
  }
  const descriptor directory(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) ::fsync(directory.get());
  const descriptor there(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!there) fail("it cannot be opened at its place");
  return placed(there.get());
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

}  // namespace

model_folder::model_folder(std::string base_dir, bool follow_category_links)
    : base_dir_(base_dir.empty() ? std::move(base_dir) : real_path(base_dir)),
      follow_category_links_(follow_category_links) {
  // Only here, while nothing else runs yet, may the mask be read: reading it means changing it.
  const mode_t mask = ::umask(077);
  ::umask(mask);
  file_mode_ = 0644u & ~static_cast<unsigned>(mask);
}

outcome model_folder::place(const candidate& c) const {
  try {
    const std::vector<std::string> names = split(c.path);
    if (split(c.root).size() != 1) refuse("the model's path does not begin with the name of one folder");
    if (!has_model_name(c.path)) refuse("a model's name must end in .safetensors");
    const descriptor folder = open_target_folder(base_dir_, c.root, names, follow_category_links_);
    return put(folder, names.back(), c, file_mode_);
  } catch (const refusal& r) {
    return r.what();
  }
}

}  // namespace portico::model_upload
