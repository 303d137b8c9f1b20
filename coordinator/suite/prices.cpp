#include "coordinator/suite/prices.hpp"

#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr double tokens_per_price = 1e6;

/// The same models of the same provider.
ProviderKind priced_as(ProviderKind kind) {
  return kind == ProviderKind::openai_responses ? ProviderKind::openai : kind;
}

}  // namespace

std::optional<PriceTable::Price> PriceTable::read_price(TableReader& reader) {
  Price price;
  const auto provider = reader.word("provider", Need::required);
  auto model = reader.word("model", Need::required);
  const auto input = reader.number_in("input", 0.0, defaults::max_price, Need::required);
  const auto output = reader.number_in("output", 0.0, defaults::max_price, Need::required);
  reader.finish();
  if (!provider || !model || !input || !output) return std::nullopt;
  const auto kind = provider_kind_from(*provider);
  if (!kind) {
    reader.add_wrong("provider",
                     "must be " + quoted_list(provider_kind_names(), "or") + ", not \"" + *provider + "\"");
    return std::nullopt;
  }
  price.kind = priced_as(*kind);
  price.is_prefix = model->ends_with('*');
  if (price.is_prefix) model->pop_back();
  if (model->find('*') != std::string::npos) {
    reader.add_wrong("model", "may have a `*` at its end only");
    return std::nullopt;
  }
  price.model = std::move(*model);
  price.input = *input;
  price.output = *output;
  return price;
}

tl::expected<PriceTable, std::vector<Finding>> PriceTable::parse(std::string_view toml,
                                                                 const std::string& origin) {
  const auto document = parse_toml(toml);
  if (!document) {
    return tl::unexpected(std::vector{Finding{origin, document.error().line, document.error().message}});
  }
  std::vector<Finding> findings;
  PriceTable table;
  TableReader top(*document, "", origin, findings);
  table.version_ = top.word("version", Need::required).value_or("");
  top.date("as_of", Need::required);  // For whoever reads the file.
  if (const TomlNode::Array* models = top.array("model")) {
    for (const TomlNode& node : *models) {
      if (!std::holds_alternative<TomlNode::Table>(node.value)) {
        top.add_finding(node.line,
                        "each \"model\" must be a [[model]] table, not " + std::string(type_name(node)));
        continue;
      }
      TableReader reader(node, "[[model]]", origin, findings);
      auto price = read_price(reader);
      if (!price) continue;
      const bool twice = std::any_of(table.prices_.begin(), table.prices_.end(), [&](const Price& other) {
        return other.kind == price->kind && other.model == price->model &&
               other.is_prefix == price->is_prefix;
      });
      if (twice) reader.add_wrong("model", "is listed twice for this provider: \"" + price->model + "\"");
      table.prices_.push_back(std::move(*price));
    }
  }
  top.finish();
  if (!findings.empty()) {
    sort_findings(findings);
    return tl::unexpected(std::move(findings));
  }
  return table;
}

std::vector<std::string> PriceTable::models(ProviderKind kind, std::size_t most) const {
  std::vector<std::string> names;
  for (const Price& price : prices_) {
    if (names.size() == most) break;
    if (price.kind == priced_as(kind) && !price.is_prefix && price.output > 0.0) names.push_back(price.model);
  }
  return names;
}

std::optional<double> PriceTable::cost(ProviderKind kind, std::string_view model, const Usage& usage) const {
  const Price* best = nullptr;
  for (const Price& price : prices_) {
    if (price.kind != priced_as(kind)) continue;
    if (!price.is_prefix && price.model == model) {
      best = &price;
      break;
    }
    if (price.is_prefix && model.starts_with(price.model) &&
        (best == nullptr || price.model.size() > best->model.size())) {
      best = &price;
    }
  }
  if (best == nullptr) return std::nullopt;
  return (static_cast<double>(usage.input_tokens) * best->input +
          static_cast<double>(usage.output_tokens) * best->output) /
         tokens_per_price;
}

}  // namespace sluice
