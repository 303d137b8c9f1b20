#include "coordinator/suite/expectations/foreign_type.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace sluice {
namespace {

using Form = ForeignForm;

constexpr std::array foreign_types{
    ForeignType{"agent-rubric"},
    ForeignType{"answer-relevance", Form::relevancy},
    ForeignType{"bleu"},
    ForeignType{"classifier"},
    ForeignType{"contains", Form::all_texts},
    ForeignType{"contains-all", Form::all_texts},
    ForeignType{"contains-any", Form::any_text},
    ForeignType{"contains-html"},
    ForeignType{"contains-json", Form::any_json},
    ForeignType{"contains-sql"},
    ForeignType{"contains-xml"},
    ForeignType{"context-faithfulness", Form::faithfulness},
    ForeignType{"context-recall", Form::context_recall},
    ForeignType{"context-relevance", Form::context_relevance},
    ForeignType{"conversation-relevance"},
    ForeignType{"cost", Form::price},
    ForeignType{"equals", Form::equals},
    ForeignType{"factuality", Form::reference},
    ForeignType{"finish-reason"},
    ForeignType{"g-eval", Form::criteria},
    ForeignType{"gleu"},
    ForeignType{"guardrails"},
    ForeignType{"human"},
    ForeignType{"icontains", Form::any_case},
    ForeignType{"icontains-all", Form::any_case},
    ForeignType{"icontains-any", Form::any_text_case},
    ForeignType{"is-html"},
    ForeignType{"is-json", Form::json},
    ForeignType{"is-refusal", Form::refused},
    ForeignType{"is-sql"},
    ForeignType{"is-valid-function-call", Form::tools},
    ForeignType{"is-valid-openai-function-call", Form::tools},
    ForeignType{"is-valid-openai-tools-call", Form::valid_calls},
    ForeignType{"is-xml"},
    ForeignType{"javascript", Form::program},
    ForeignType{"latency", Form::time},
    ForeignType{"levenshtein", Form::distance},
    ForeignType{"llm-rubric", Form::criteria},
    ForeignType{"max-score"},
    ForeignType{"meteor"},
    ForeignType{"model-graded-closedqa", Form::criteria},
    ForeignType{"model-graded-factuality", Form::reference},
    ForeignType{"moderation"},
    ForeignType{"perplexity"},
    ForeignType{"perplexity-score"},
    ForeignType{"pi"},
    ForeignType{"python", Form::program},
    ForeignType{"regex", Form::pattern},
    ForeignType{"rouge-n", Form::words},
    ForeignType{"ruby", Form::program},
    ForeignType{"search-rubric"},
    ForeignType{"select-best"},
    ForeignType{"similar", Form::similarity},
    ForeignType{"similar:cosine", Form::similarity},
    ForeignType{"similar:dot"},
    ForeignType{"similar:euclidean"},
    ForeignType{"skill-used"},
    ForeignType{"starts-with", Form::beginning},
    ForeignType{"tool-call-f1", Form::tools},
    ForeignType{"trace-error-spans"},
    ForeignType{"trace-span-count"},
    ForeignType{"trace-span-duration"},
    ForeignType{"trajectory:goal-success"},
    ForeignType{"trajectory:step-count"},
    ForeignType{"trajectory:tool-args-match"},
    ForeignType{"trajectory:tool-sequence"},
    ForeignType{"trajectory:tool-used"},
    ForeignType{"webhook"},
    ForeignType{"word-count", Form::count},
};

}  // namespace

std::span<const ForeignType> all_foreign_types() {
  return foreign_types;
}

const ForeignType* find_foreign_type(std::string_view name) {
  const auto found = std::ranges::find(foreign_types, name, &ForeignType::name);
  return found != foreign_types.end() ? &*found : nullptr;
}

const ForeignType* foreign_type_called(std::string_view name) {
  std::string hyphened(name);
  std::ranges::replace(hyphened, '_', '-');
  return find_foreign_type(hyphened);
}

bool needs_no_value(ForeignForm form) {
  constexpr std::array forms{Form::json,         Form::any_json,          Form::relevancy,
                             Form::faithfulness, Form::context_relevance, Form::time,
                             Form::price,        Form::valid_calls,       Form::refused};
  return std::ranges::find(forms, form) != forms.end();
}

}  // namespace sluice
