#include "worker/http/call_log.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace sluice {

Result<std::shared_ptr<CallLog>> CallLog::open(const std::filesystem::path& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file.is_open()) {
    const int error = errno;
    return fail(Reason::output_failed,
                "the call log " + path.string() + " cannot be opened: " + std::strerror(error));
  }
  return std::shared_ptr<CallLog>(new CallLog(std::move(file), path));
}

CallLog::CallLog(FileDescriptor file, std::filesystem::path path)
    : file_(std::move(file)), path_(std::move(path)) {}

void CallLog::write(BootTime started, std::string_view members) {
  std::string line = R"({"started_us":)" + std::to_string(started.count()) + ',';
  line += members;
  line += "}\n";
  const auto written = ::write(file_.number(), line.data(), line.size());
  const int error = errno;
  if (std::cmp_equal(written, line.size()) || failed_.exchange(true)) return;
  spdlog::warn("the call log {} is not whole: {}", path_.string(),
               written < 0 ? std::strerror(error) : "only the beginning of a line was written");
}

}  // namespace sluice
