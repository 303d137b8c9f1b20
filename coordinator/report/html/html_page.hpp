#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Around what a page is about, where it is served (`sluice view`) and not kept as a file.
struct PageFrame {
  std::string navigation{};                      ///< HTML that leads to other pages; may be empty.
  std::string above{};                           ///< HTML before everything that the page is about.
  std::vector<std::string_view> more_scripts{};  ///< After the page's own.
  bool fetches = false;                          ///< Its scripts ask the server that it came from.
  bool has_form = false;                         ///< Which leads to the same server.
};

/// The first part of a page, up to its content: nothing foreign runs in it, nor is anything loaded.
/// `scripts`: all that may run, by their hashes.
std::string page_head(std::string_view title, const PageFrame& frame, std::vector<std::string_view> scripts);
/// The last one, with these scripts.
std::string page_end(const std::vector<std::string_view>& scripts);

/// The same policy for the header of an answer, over all pages that are served.
std::string served_page_policy();

/// In a script element nothing may look like markup; outside of its texts JSON has no angle bracket.
std::string json_in_html(std::string_view json);

}  // namespace sluice
