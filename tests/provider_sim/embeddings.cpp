#include "tests/provider_sim/embeddings.hpp"

#include "tests/provider_sim/content_hash.hpp"
#include "tests/provider_sim/provider_formats.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace sluice::sim {

namespace {

constexpr std::size_t gram = 3;

/// Lower case, each run of white space one blank, a blank at both ends.
std::string normalised(std::string_view text) {
  std::string out = " ";
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (blank && out.back() == ' ') continue;
    out += blank ? ' ' : (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  if (out.back() != ' ') out += ' ';
  return out;
}

void append_vector(const std::vector<float>& vector, std::string& out) {
  std::array<char, 32> digits;
  out += '[';
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) out += ',';
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), vector[i]).ptr;
    out.append(digits.data(), end);
  }
  out += ']';
}

/// Gemini does not count what it embeds.
void append_usage(std::string_view model, std::uint64_t tokens, std::string& out) {
  out += R"(,"model":")";
  out += model;
  out += R"(","usage":{"prompt_tokens":)";
  append_number(out, static_cast<std::int64_t>(tokens));
  out += R"(,"total_tokens":)";
  append_number(out, static_cast<std::int64_t>(tokens));
  out += '}';
}

}  // namespace

std::vector<float> embed(std::string_view text, std::size_t dimensions) {
  std::vector<float> vector(dimensions, 0.0F);
  const std::string clean = normalised(text);
  for (std::size_t i = 0; i + gram <= clean.size(); ++i) {
    const auto hash = content_hash(std::string_view(clean).substr(i, gram));
    vector[hash % dimensions] += (hash >> 63) != 0 ? 1.0F : -1.0F;
  }
  double square = 0;
  for (const float x : vector) square += static_cast<double>(x) * x;
  if (square == 0) {
    vector[0] = 1.0F;  // a text without a trigram still has a direction
    return vector;
  }
  const auto norm = static_cast<float>(std::sqrt(square));
  for (float& x : vector) x /= norm;
  return vector;
}

std::uint64_t append_embeddings(Provider provider, const EmbeddingsRequest& request, std::string& out) {
  const std::size_t dimensions = request.dimensions > 0 ? request.dimensions : usual_dimensions;
  const bool openai = provider == Provider::openai;
  std::uint64_t tokens = 0;
  out += openai             ? R"({"object":"list","data":[)"
         : request.is_alone ? R"({"embedding":)"
                            : R"({"embeddings":[)";
  std::string text;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    text.clear();
    append_unescaped(text, request.inputs[i]);
    tokens += tokens_of(text.size());
    if (i > 0) out += ',';
    if (openai) {
      out += R"({"object":"embedding","index":)";
      append_number(out, static_cast<std::int64_t>(i));
      out += R"(,"embedding":)";
    } else {
      out += R"({"values":)";
    }
    append_vector(embed(text, dimensions), out);
    out += '}';
  }
  if (!request.is_alone) out += ']';
  if (openai) append_usage(request.model.raw, tokens, out);
  out += '}';
  return tokens;
}

}  // namespace sluice::sim
