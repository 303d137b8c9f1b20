#include "common/text/any_case.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"

#include <cwctype>

#include <locale.h>

namespace sluice {
namespace {

char32_t small_letter(char32_t letter, locale_t locale) {
  constexpr char32_t final_sigma = 0x3C2;
  constexpr char32_t sigma = 0x3C3;
  constexpr char32_t long_s = 0x17F;
  if (letter == final_sigma) return sigma;
  if (letter == long_s) return U's';
  return static_cast<char32_t>(::towlower_l(static_cast<wint_t>(letter), locale));
}

void append_utf8(std::string& out, char32_t code) {
  const auto rest = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    rest(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    rest(6);
    rest(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    rest(12);
    rest(6);
    rest(0);
  }
}

}  // namespace

Result<std::string> in_small_letters(std::string_view text) {
  if (is_plain_ascii(text)) return to_lower(text);
  static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (locale == nullptr) {
    return fail(Reason::check_undecided,
                "letters beyond ASCII cannot be compared in any case: this machine has no locale C.UTF-8 "
                "(on Debian it comes with libc-bin)");
  }
  const std::string valid = to_valid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const auto character = first_character(rest);
    append_utf8(out, small_letter(character.code, locale));
    rest.remove_prefix(character.bytes.size());
  }
  return out;
}

}  // namespace sluice
