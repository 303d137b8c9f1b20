#pragma once

namespace sluice {

/// Keeps memory small from here on: fetches it in small pages, in this process and the programs that it
/// starts: for what must stay small, where huge pages (common/process/actor_system.cpp) are for what must be
/// fast. They leave room unused in each place that memory is taken from: a tenth of the peak of a million
/// cases. What is free goes back to the kernel within a second. Does nothing where kernel and allocator know
/// no such wish.
void use_little_memory();

}  // namespace sluice
