#include "coordinator/suite/case_list.hpp"

#include "coordinator/suite/answers/recorded_answers.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

CaseList::CaseList(std::initializer_list<Case> cases) {
  for (const Case& one : cases) push_back(one);
}

Result<CaseRef> CaseList::read_test(const Entry& entry) const {
  const auto& file = files_[entry.file];
  if (!file) return held_[entry.position];
  auto one = file->read(entry.position, entry.length, entry.check);
  if (!one) return fail(std::move(one.error()));
  (*one)->line = entry.line;
  return CaseRef(std::move(*one));
}

Result<CaseRef> CaseList::read(std::size_t index) const {
  const Entry& entry = entries_.at(index);
  auto test = read_test(entry);
  const AnsweredTest* answered = recorded_ == nullptr ? nullptr : recorded_->find(id(index));
  if (!test || (arms_.empty() && answered == nullptr)) return test;
  auto one = std::make_shared<Case>(**test);
  if (answered != nullptr) {
    one->recorded = {recorded_, answered};
    if (answered->context) one->context = *answered->context;
    if (arms_.empty()) return CaseRef(std::move(one));
  }
  one->id = id(index);
  one->arm = arm_of(entry);
  one->test = static_cast<std::uint32_t>(entry.in_arms / arms_.size());
  if (const auto prompt = arms_[one->arm]; prompt && !one->prompts.empty()) {
    one->content = one->prompts.at(*prompt).prompt;
    one->system = one->prompts.at(*prompt).system;
  }
  return CaseRef(std::move(one));
}

CaseList CaseList::under(std::span<const Arm> arms) const {
  CaseList list;
  list.held_ = held_;
  list.files_ = files_;
  for (const Arm& arm : arms) list.arms_.push_back(arm.prompt);
  list.entries_.reserve(size() * arms.size());
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::uint32_t arm = 0; arm < arms.size(); ++arm) {
      std::string name(id(i));
      name.append(1, arm_separator).append(arms[arm].name);
      const Entry added = list.add(name, category(i));
      Entry& entry = list.entries_.back();
      entry = entries_[i];
      entry.id_begin = added.id_begin;
      entry.id_length = added.id_length;
      entry.category = added.category;
      entry.in_arms = static_cast<std::uint32_t>(i * arms.size() + arm);
    }
  }
  list.sort_by_id();
  return list;
}

std::string_view CaseList::id(std::size_t index) const {
  const Entry& entry = entries_.at(index);
  return std::string_view(ids_).substr(entry.id_begin, entry.id_length);
}

bool CaseList::has_answer(std::size_t index) const {
  return recorded_ != nullptr && recorded_->find(id(index)) != nullptr;
}

bool CaseList::lacks_answers(std::uint32_t arm) const {
  if (recorded_ == nullptr) return true;
  for (std::size_t i = 0; i < size(); ++i) {
    if (this->arm(i) == arm && !has_answer(i)) return true;
  }
  return false;
}

bool CaseList::has_recorded_calls() const {
  return recorded_ != nullptr && recorded_->have_calls();
}

std::string_view CaseList::category(std::size_t index) const {
  return categories_[entries_.at(index).category];
}

void CaseList::push_back(Case held) {
  Entry& entry = add(held.id, held.category);
  entry.position = held_.size();
  held_.push_back(std::make_shared<Case>(std::move(held)));
}

void CaseList::push_back(std::shared_ptr<const CaseFile> file, Place place, std::string_view id,
                         std::string_view category) {
  if (files_.back() != file) files_.push_back(std::move(file));
  Entry& entry = add(id, category);
  entry.file = static_cast<std::uint32_t>(files_.size() - 1);
  entry.position = place.offset;
  entry.length = place.length;
  entry.check = place.check;
  entry.line = place.line;
}

CaseList::Entry& CaseList::add(std::string_view id, std::string_view category) {
  auto known = category_numbers_.find(category);
  if (known == category_numbers_.end()) {
    known = category_numbers_.emplace(category, static_cast<std::uint32_t>(categories_.size())).first;
    categories_.emplace_back(category);
  }
  Entry& entry = entries_.emplace_back();
  entry.id_begin = ids_.size();
  entry.id_length = static_cast<std::uint32_t>(id.size());
  entry.category = known->second;
  ids_ += id;
  return entry;
}

void CaseList::sort_by_id() {
  const std::string_view ids = ids_;
  const auto id_of = [ids](const Entry& entry) { return ids.substr(entry.id_begin, entry.id_length); };
  std::ranges::stable_sort(entries_, {}, id_of);
}

void CaseList::keep_if(const std::function<bool(std::size_t index)>& wanted) {
  std::vector<bool> is_wanted;
  is_wanted.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) is_wanted.push_back(wanted(i));
  std::size_t next = 0;
  std::erase_if(entries_, [&](const Entry&) { return !is_wanted[next++]; });
}

void CaseList::truncate(std::size_t size) {
  if (size < entries_.size()) entries_.resize(size);
}

Case& CaseList::held(std::size_t index) {
  return *held_[entries_.at(index).position];
}

}  // namespace sluice
