#include "common/model/request_extras.hpp"

#include "common/text/text.hpp"

#include <algorithm>

namespace sluice {

RequestParams merged(const RequestParams& weaker, const RequestParams& stronger) {
  RequestParams all = stronger;
  for (const RequestParam& one : weaker) {
    if (std::ranges::find(stronger, one.name, &RequestParam::name) == stronger.end()) all.push_back(one);
  }
  std::ranges::sort(all, {}, &RequestParam::name);
  return all;
}

std::string json_of(const RequestParams& params) {
  std::string json = "{";
  for (const RequestParam& one : params) {
    if (json.size() > 1) json += ',';
    append_json_string(json, one.name);
    json += ':';
    json += one.json;
  }
  return json + '}';
}

}  // namespace sluice
