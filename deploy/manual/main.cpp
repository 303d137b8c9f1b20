// Writes manual pages and completions of both programs into a folder: `sluice-manual FOLDER`. The build runs
// it; what it writes is installed.
#include "common/manual/completions.hpp"
#include "common/manual/man_page.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/cli.hpp"
#include "worker/cli/worker_cli.hpp"

#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

class Manual {
 public:
  explicit Manual(fs::path folder) : folder_(std::move(folder)) {}

  void add(const sluice::CommandText& program) {
    add_pages(program, "");
    write(fs::path("bash") / program.name, bash_completion(program));
    write(fs::path("zsh") / ("_" + program.name), zsh_completion(program));
    write(fs::path("fish") / (program.name + ".fish"), fish_completion(program));
  }

  bool written() const { return written_; }

 private:
  void add_pages(const sluice::CommandText& command, const std::string& parent) {
    const std::string name = page_name(command);
    write(fs::path("man") / (name + ".1"), man_page(command, "sluice " SLUICE_VERSION, parent));
    for (const auto& below : command.commands) add_pages(below, name);
  }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream out(folder_ / file, std::ios::binary);
    out << text;
    out.close();
    if (out) return;
    written_ = false;
    sluice::write_stderr_line("sluice-manual: " + (folder_ / file).string() + " cannot be written");
  }

  fs::path folder_;
  bool written_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    sluice::write_stderr_line("sluice-manual: give the folder that pages and completions are written to");
    return 2;
  }
  Manual manual(argv[1]);
  manual.add(sluice::describe_cli());
  manual.add(sluice::describe_worker_cli());
  return manual.written() ? 0 : 2;
}
