#include "tests/provider_sim/chat_request.hpp"

#include "tests/provider_sim/json_cursor.hpp"

#include <array>
#include <span>

namespace sluice::sim {

namespace {

/// A text that came in a message whose role may only be known later.
class MessageReader {
 public:
  MessageReader(JsonCursor& cursor, ChatRequest& out) : cursor_(cursor), out_(out) {}

  /// One message: `content` (OpenAI, Anthropic) or `parts` (Gemini) beside `role`.
  bool message() {
    const std::size_t first = out_.user.size();
    std::string_view role = "user";  // Gemini lets the role out
    const bool read = cursor_.members([&](std::string_view key) {
      if (key == "role") return text_into(role);
      if (key == "content" || key == "parts") return content();
      return cursor_.skip();
    });
    for (std::size_t i = first; i < out_.user.size(); ++i) out_.prompt_bytes += out_.user[i].size;
    if (role != "user") out_.user.resize(first);
    return read;
  }

  /// A text of no user: it only counts.
  bool system() {
    const std::size_t first = out_.user.size();
    const bool read = content();
    for (std::size_t i = first; i < out_.user.size(); ++i) out_.prompt_bytes += out_.user[i].size;
    out_.user.resize(first);
    return read;
  }

 private:
  bool text_into(std::string_view& out) {
    JsonString string;
    if (!cursor_.string(string)) return false;
    out = string.raw;
    return true;
  }

  /// A string, an object with `text` or `parts`, or a list of those; null is no text.
  bool content(int depth = 0) {
    constexpr int deepest = 8;  // an honest request needs 4; the stack is not the client's to fill
    if (depth > deepest) return false;
    switch (cursor_.peek()) {
      case '"':
        return cursor_.string(out_.user.emplace_back());
      case '[':
        return cursor_.elements([this, depth] { return content(depth + 1); });
      case '{':
        return cursor_.members([this, depth](std::string_view key) {
          return key == "text" || key == "parts" ? content(depth + 1) : cursor_.skip();
        });
      default:
        return cursor_.skip();
    }
  }

  JsonCursor& cursor_;
  ChatRequest& out_;
};

bool read_max_tokens(JsonCursor& cursor, ChatRequest& out) {
  if (cursor.peek() == 'n') return cursor.skip();
  std::uint64_t tokens = 0;
  if (!cursor.count(tokens)) return false;
  out.max_tokens = tokens;
  return true;
}

/// Where the properties of a response schema stand, behind the request's own member.
constexpr std::array<std::string_view, 3> openai_schema{"json_schema", "schema", "properties"};
constexpr std::array<std::string_view, 3> anthropic_schema{"format", "schema", "properties"};
constexpr std::array<std::string_view, 1> gemini_schema{"properties"};
constexpr std::array<std::string_view, 3> responses_schema{"format", "schema", "properties"};

/// Walks down the path to the names of a schema's properties; all else is skipped. The properties tell a vote
/// (config/schemas/vote.schema.json) and a comparison (comparison.schema.json): the schema's name stands in
/// one format of three.
bool read_schema(JsonCursor& cursor, std::span<const std::string_view> path, ChatRequest& out) {
  if (cursor.peek() != '{') return cursor.skip();
  bool score = false;
  bool rationale = false;
  bool quality_score = false;
  bool notes = false;
  const bool read = cursor.members([&](std::string_view key) {
    if (!path.empty()) {
      return key == path.front() ? read_schema(cursor, path.subspan(1), out) : cursor.skip();
    }
    score = score || key == "score";
    rationale = rationale || key == "rationale";
    quality_score = quality_score || key == "quality_score";
    notes = notes || key == "notes";
    return cursor.skip();
  });
  if (path.empty()) {
    out.comparison = quality_score && notes;
    out.vote = out.comparison || (score && rationale);
  }
  return read;
}

bool read_generation_config(JsonCursor& cursor, ChatRequest& out) {
  return cursor.members([&](std::string_view key) {
    if (key == "responseJsonSchema") return read_schema(cursor, gemini_schema, out);
    return key == "maxOutputTokens" ? read_max_tokens(cursor, out) : cursor.skip();
  });
}

bool read_members(Provider provider, JsonCursor& cursor, ChatRequest& out) {
  const bool gemini = provider == Provider::gemini;
  const bool is_response = provider == Provider::openai_responses;
  const std::string_view messages = gemini ? "contents" : is_response ? "input" : "messages";
  MessageReader reader(cursor, out);
  return cursor.members([&](std::string_view key) {
    if (key == messages) return cursor.elements([&] { return reader.message(); });
    if (gemini) {
      if (key == "systemInstruction") return reader.system();
      return key == "generationConfig" ? read_generation_config(cursor, out) : cursor.skip();
    }
    if (key == "model") return cursor.string(out.model);
    if (key == "system" || (is_response && key == "instructions")) return reader.system();
    const bool is_bound =
        is_response ? key == "max_output_tokens" : key == "max_tokens" || key == "max_completion_tokens";
    if (is_bound) return read_max_tokens(cursor, out);
    if (key == "stream") return cursor.boolean(out.streams);
    if (key == "response_format" && provider == Provider::openai) {
      return read_schema(cursor, openai_schema, out);
    }
    if (key == "text" && is_response) return read_schema(cursor, responses_schema, out);
    if (key == "output_config" && provider == Provider::anthropic) {
      return read_schema(cursor, anthropic_schema, out);
    }
    return cursor.skip();
  });
}

bool read_inputs(JsonCursor& cursor, EmbeddingsRequest& out) {
  if (cursor.peek() == '[') {
    return cursor.elements([&] { return cursor.string(out.inputs.emplace_back()); });
  }
  return cursor.string(out.inputs.emplace_back());
}

/// `{"parts":[{"text":...}]}` with one part.
bool read_embed_content(JsonCursor& cursor, EmbeddingsRequest& out) {
  return cursor.members([&](std::string_view key) {
    if (key != "parts") return cursor.skip();
    return cursor.elements([&] {
      return cursor.members([&](std::string_view part) {
        return part == "text" ? cursor.string(out.inputs.emplace_back()) : cursor.skip();
      });
    });
  });
}

std::optional<std::string> read_embed_contents(std::string_view body, EmbeddingsRequest& out) {
  JsonCursor cursor(body);
  std::size_t requests = 0;
  bool one_text_each = true;
  bool one_model = true;
  const auto read_request = [&] {
    const bool read = cursor.members([&](std::string_view key) {
      JsonString model;
      if (key == "content") return read_embed_content(cursor, out);
      if (key == "outputDimensionality") return cursor.count(out.dimensions);
      if (key != "model") return cursor.skip();
      if (!cursor.string(model)) return false;
      one_model = one_model && (out.model.raw.empty() || out.model.raw == model.raw);
      out.model = model;
      return true;
    });
    one_text_each = one_text_each && out.inputs.size() == ++requests;
    return read;
  };
  const bool read = out.is_alone ? read_request() : cursor.members([&](std::string_view key) {
    return key == "requests" ? cursor.elements(read_request) : cursor.skip();
  });
  if (!read || cursor.peek() != '\0') return "We could not parse the JSON body of your request.";
  if (out.inputs.empty()) return "requests: at least one request is required";
  if (requests > 100) return "requests: at most 100 requests can be in one batch";
  if (!one_text_each) return "requests: each takes one text in this server";
  if (out.model.raw.empty() || !one_model) return "requests: all must name one model";
  if (out.dimensions > 4096) return "outputDimensionality: must be at most 4096";
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Provider provider) {
  switch (provider) {
    case Provider::openai:
      return "openai";
    case Provider::anthropic:
      return "anthropic";
    case Provider::gemini:
      return "gemini";
    case Provider::openai_responses:
      return "openai-responses";
  }
  return "";
}

void ChatRequest::clear() {
  model = {};
  user.clear();
  prompt_bytes = 0;
  max_tokens.reset();
  streams = false;
  vote = false;
  comparison = false;
}

std::optional<std::string> read_chat_request(Provider provider, std::string_view body, ChatRequest& out) {
  out.clear();
  JsonCursor cursor(body);
  if (!read_members(provider, cursor, out) || cursor.peek() != '\0') {
    return "We could not parse the JSON body of your request.";
  }
  if (provider != Provider::gemini && out.model.raw.empty()) return "model: Field required";
  if (out.user.empty()) {
    return provider == Provider::gemini ? "contents are required"
                                        : "messages: at least one user message is required";
  }
  if (provider == Provider::anthropic && !out.max_tokens) return "max_tokens: Field required";
  if (out.max_tokens && *out.max_tokens == 0) return "max_tokens: must be at least 1";
  if (out.streams) return "stream: streamed answers are not supported by this server";
  return std::nullopt;
}

std::optional<std::string> read_embeddings_request(Provider provider, std::string_view body,
                                                   EmbeddingsRequest& out) {
  if (provider == Provider::gemini) return read_embed_contents(body, out);
  JsonCursor cursor(body);
  bool base64 = false;
  const bool read = cursor.members([&](std::string_view key) {
    JsonString format;
    if (key == "model") return cursor.string(out.model);
    if (key == "input") return read_inputs(cursor, out);
    if (key == "dimensions") return cursor.count(out.dimensions);
    if (key != "encoding_format") return cursor.skip();
    if (!cursor.string(format)) return false;
    base64 = format.raw != "float";
    return true;
  });
  if (!read || cursor.peek() != '\0') return "We could not parse the JSON body of your request.";
  if (out.model.raw.empty()) return "model: Field required";
  if (out.inputs.empty()) return "input: at least one text is required";
  if (base64) return "encoding_format: only float is supported by this server";
  if (out.dimensions > 4096) return "dimensions: must be at most 4096";
  return std::nullopt;
}

}  // namespace sluice::sim
