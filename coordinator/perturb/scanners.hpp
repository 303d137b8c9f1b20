#pragma once

#include "coordinator/perturb/cursor.hpp"

namespace sluice {

/// One lexical scanner a language: each moves the cursor to the end of the text, or leaves a doubt. Pure.
void scan_python(Cursor& cursor);
void scan_javascript(Cursor& cursor, bool typescript);
void scan_rust(Cursor& cursor);
void scan_go(Cursor& cursor);
void scan_java(Cursor& cursor);
void scan_c(Cursor& cursor, bool cpp);
void scan_makefile(Cursor& cursor);
void scan_toml(Cursor& cursor);
void scan_json(Cursor& cursor);
void scan_prose(Cursor& cursor);

}  // namespace sluice
