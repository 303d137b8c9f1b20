#pragma once

namespace sluice {

/// Fetches memory in places that are one huge page each, which the kernel puts where a huge page can begin: a
/// page is then fetched at once where it were 512 small ones. To be called first of all: what was fetched
/// before stays as it is. Does nothing where the allocator knows no such wish.
void use_huge_pages();

/// Keeps memory small from here on: fetches it in small pages, in this process and the programs that it
/// starts: for what must stay small, where huge pages are for what must be fast. They leave room unused in
/// each place that memory is taken from: a tenth of the peak of a million cases. What is free goes back to
/// the kernel within a second. Does nothing where kernel and allocator know no such wish.
void use_little_memory();

}  // namespace sluice
