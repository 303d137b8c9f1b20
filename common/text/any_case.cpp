#include "common/text/any_case.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <cwctype>

#include <locale.h>

namespace sluice {
namespace {

struct Folding {
  char32_t letter;
  char32_t folded;
};

/// Small letters that are other forms of a small letter: the simple foldings of Unicode's CaseFolding.txt
/// that no table of capital and small letters has. In the order of their codes.
constexpr std::array<Folding, 25> small_foldings{{
    {0x00B5, 0x03BC},  // micro sign: mu
    {0x017F, U's'},    // long s
    {0x0345, 0x03B9},  // iota below: iota
    {0x03C2, 0x03C3},  // final sigma
    {0x03D0, 0x03B2},  // beta symbol
    {0x03D1, 0x03B8},  // theta symbol
    {0x03D5, 0x03C6},  // phi symbol
    {0x03D6, 0x03C0},  // pi symbol
    {0x03F0, 0x03BA},  // kappa symbol
    {0x03F1, 0x03C1},  // rho symbol
    {0x03F5, 0x03B5},  // lunate epsilon
    {0x1C80, 0x0432},  // Cyrillic, as in old books: ve
    {0x1C81, 0x0434},  // de
    {0x1C82, 0x043E},  // o
    {0x1C83, 0x0441},  // es
    {0x1C84, 0x0442},  // te
    {0x1C85, 0x0442},  // te
    {0x1C86, 0x044A},  // hard sign
    {0x1C87, 0x0463},  // yat
    {0x1C88, 0xA64B},  // uk
    {0x1E9B, 0x1E61},  // long s with a dot
    {0x1FBE, 0x03B9},  // iota beside a letter: iota
    {0x1FD3, 0x0390},  // iota with dialytika and acute
    {0x1FE3, 0x03B0},  // upsilon with them
    {0xFB05, 0xFB06},  // ligature of long s and t: that of s and t
}};

char32_t small_letter(char32_t letter, locale_t locale) {
  const auto small = static_cast<char32_t>(::towlower_l(static_cast<wint_t>(letter), locale));
  const auto found = std::ranges::lower_bound(small_foldings, small, {}, &Folding::letter);
  return found != small_foldings.end() && found->letter == small ? found->folded : small;
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
