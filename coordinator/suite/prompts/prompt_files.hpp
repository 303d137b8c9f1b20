#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/suite_folder.hpp"

namespace sluice {

/// `prompts` of a suite with an entry for each file: one whose `file` is a glob stands for an entry for each
/// file that it fits, and one with a `file` and no `id` is called by the file's name without its extension.
/// An `id` beside a glob stands before these names. A glob that fits nothing stays as it is: no such file can
/// be read.
DocumentEntry with_prompt_files(const DocumentEntry& prompts, const SuiteFolder& folder);

}  // namespace sluice
