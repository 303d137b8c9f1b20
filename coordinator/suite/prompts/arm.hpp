#pragma once

#include "common/model/request_extras.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// One of the prompts that a suite's `prompts:` name: templates, which each test's variables are put into.
struct PromptVariant {
  std::string id;
  std::string system;  ///< Empty: none.
  std::string prompt;
  friend bool operator==(const PromptVariant&, const PromptVariant&) = default;
};

/// Between a test's id and an arm's name in the id of a case.
inline constexpr char arm_separator = '@';

/// One way of answering each test of a suite (docs/arms.md). What it leaves open is the run's.
struct Arm {
  std::string name;      ///< Letters, digits, `.`, `_`, `-` and `/`; no two of a run have the same.
  std::string provider;  ///< Empty: the run's.
  std::string model;     ///< Empty: the run's if that is meant for the provider, else the provider's own.
  std::optional<std::uint32_t> prompt{};  ///< Position in Suite::prompts; nothing: the test's own prompt.
  std::optional<double> temperature{};
  std::optional<std::uint32_t> max_tokens{};
  std::optional<std::int64_t> seed{};
  std::string where{};     ///< `suite.yaml:12` or `--arm`: for messages.
  RequestParams params{};  ///< Over the run's.
  friend bool operator==(const Arm&, const Arm&) = default;
};

}  // namespace sluice
