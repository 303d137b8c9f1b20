#pragma once

#include "common/checks/json_schema.hpp"
#include "common/error.hpp"
#include "common/model/completion.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What metrics find wrong with an answer, in one line; empty if nothing is. Pure and thread-safe.
namespace sluice {

/// Looks for JSON objects and arrays in the answer, from the left and the outermost first and then in it: no
/// problem if one fits the schema. It gives up after 256 brackets, or 32 MiB between them. Errors as of
/// JsonSchema.
Result<SchemaFinding> compare_json_in(std::string_view answer, const JsonSchema& schema);

/// A text as answers are compared whole: without the white space at its ends, and with one form of line ends.
std::string comparable(std::string_view answer);

/// Whether a text is within the distance (distance_within), white space at their ends apart.
std::string problem_with_distance(std::string_view answer, const std::vector<std::string>& texts,
                                  double most);

/// The greatest F1 of the runs of n words that the answer shares with a text. Words are those of
/// words_of(). Nothing if no text has n words.
std::optional<double> rouge_n(std::string_view answer, const std::vector<std::string>& texts, std::size_t n);

/// Whether the answer calls the tool `wanted[0]` with at least the arguments `wanted[1]`, a JSON object:
/// members of objects may be more, lists and all else must be equal. `turned_round`: the opposite is asked
/// for. Then a call whose arguments are no JSON object counts as well, since they may have been the wanted
/// ones; else it does not, since nobody can make it.
std::string problem_with_calls(std::span<const ToolCall> calls, const std::vector<std::string>& wanted,
                               bool turned_round);

/// Whether the answer makes the calls of `wanted`, the name and the arguments of each, and no other: each of
/// its calls fits one of them as problem_with_calls has it, in their order or in any.
std::string problem_with_call_list(std::span<const ToolCall> calls, const std::vector<std::string>& wanted,
                                   bool in_order, bool turned_round);

/// Whether the arguments of a call are JSON that fits the schema of its tool. Errors as of JsonSchema.
Result<SchemaFinding> compare_arguments(const ToolCall& call, const JsonSchema& schema);

std::string problem_with_latency(std::uint32_t took_ms, double most_ms);
/// `numbers`: the most dollars, then those for a million tokens of input and of output.
/// True if the last two are 0: what an answer cost is known then, whatever tokens it took.
bool costs_nothing(const std::vector<double>& numbers);
std::string problem_with_cost(const Usage& usage, const std::vector<double>& numbers);

}  // namespace sluice
