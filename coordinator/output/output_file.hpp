#pragma once

#include "common/error.hpp"
#include "coordinator/output/sink.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace sluice {

/// Writes what it is to write into the sink.
using ContentWriter = std::function<Result<void>(Sink&)>;

// `content` is what is written, as messages name it: "report", "baseline", ...

/// Where symbolic links lead, also to a file that is not there yet; any other path is its own end.
std::string end_of_links(const std::string& path);

/// Writes a file whole or not at all: into a temporary file beside it, which then takes its place with the
/// old file's permissions. What is no regular file (a pipe, /dev/full) is written directly; a symbolic link
/// is followed. Fails with `output_failed`, or as the writer does; the old file then stands as it was.
Result<void> write_whole_file(std::string_view content, const std::string& path, const ContentWriter& writer);
/// The same of a text that is at hand.
Result<void> write_whole_file(std::string_view content, const std::string& path, std::string_view text);

/// Removes what write_whole_file has written so far, if some thread is in it: for one that takes a signal and
/// ends the process. Signals that end it by themselves do so too.
void remove_unfinished_output();

/// What is certain to fail is reported before the work is done: the folder or the file is not writable, the
/// folder is not there, the name is too long, or the path is a folder itself. Fails with `output_failed`.
Result<void> check_output_path(std::string_view content, const std::string& path);

/// Writes to standard output; every failure counts, also one that shows only when the descriptor is flushed.
Result<void> write_stdout(std::string_view content, const ContentWriter& writer);

}  // namespace sluice
