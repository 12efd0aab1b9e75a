// Runs a fuzz target without libFuzzer: on files named on the command line, or for a while on inputs grown from seeds.
// The random numbers are always the same, so a failure repeats.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

class mutator {
 public:
  explicit mutator(std::vector<std::string> seeds) : seeds_(std::move(seeds)) {}
  std::string next() {
    std::string out = seeds_[below(seeds_.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(out);
    return out;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  void change(std::string& s) {
    if (s.empty()) return s.push_back(static_cast<char>(below(256)));
    const std::size_t at = below(s.size()), length = 1 + below(std::min<std::size_t>(s.size() - at, 40));
    switch (below(6)) {
      case 0:
        s[at] = static_cast<char>(below(256));
        break;
      case 1:
        s.erase(at, length);
        break;
      case 2:
        s.insert(at, s.substr(at, length));
        break;
      case 3:
        s.insert(at, 1 + below(8), "\r\n-b\0:;="[below(9)]);
        break;
      case 4:
        s.insert(below(s.size()), s.substr(at, length));
        break;
      default:
        s.resize(at);
        break;
    }
  }
  std::vector<std::string> seeds_;
  std::mt19937_64 random_{20260101};
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> seeds;
  for (int i = 2; i < argc; ++i) {
    if (std::filesystem::is_directory(argv[i]))
      for (const auto& entry : std::filesystem::directory_iterator(argv[i])) seeds.push_back(content(entry.path()));
    else
      seeds.push_back(content(argv[i]));
  }
  if (argc < 3 || seeds.empty()) {
    std::fprintf(stderr, "usage: %s SECONDS SEED-FILES-OR-FOLDERS...\n", argv[0]);
    return 2;
  }
  for (const std::string& seed : seeds) run(seed);
  mutator grow(seeds);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  std::uint64_t runs = seeds.size();
  for (; std::chrono::steady_clock::now() < end; ++runs) run(grow.next());
  std::printf("%llu inputs\n", static_cast<unsigned long long>(runs));
  return 0;
}
