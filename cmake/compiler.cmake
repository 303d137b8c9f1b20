# Language level, warnings, sanitizers, linker and cache: the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# -O3 takes a suite in mock mode 3 % fewer instructions, no row of scripts/bench less time, and a tenth longer to build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

set(SLUICE_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")
option(SLUICE_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
# Off, each source is compiled alone, so that a header or source that forgets an include is found.
option(SLUICE_FAST_BUILD "Precompile the standard library, and compile sources of a room together" ON)
# So many sources of a room are compiled together. More makes a whole build quicker, and one after a change slower.
set(sluice_together 12)

add_library(sluice_options INTERFACE)
target_include_directories(sluice_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(sluice_options INTERFACE -Wall -Wextra -Wnon-virtual-dtor -Wold-style-cast
                                                -Woverloaded-virtual -Wimplicit-fallthrough)
# It asks for braces around each level of a nested aggregate.
target_compile_options(sluice_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-braces>)
# Of sources that are compiled together it takes each other's names for hidden ones.
if(NOT SLUICE_FAST_BUILD OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sluice_options INTERFACE -Wshadow)
endif()
# g++ 12 sees overlaps in std::string concatenation, and uninitialised members of empty optionals, that are not
# there (GCC bugs 105651 and 105562).
target_compile_options(sluice_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-maybe-uninitialized>)
target_compile_definitions(sluice_options INTERFACE SLUICE_VERSION="${PROJECT_VERSION}")

if(SLUICE_SANITIZE)
  # CAF 0.17.6 forms null references in its own headers, which are not ours to mend.
  target_compile_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE} -fno-sanitize=null
                                                  -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE})
endif()
if(SLUICE_FUZZ)
  target_compile_options(sluice_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=null
                                                  -fno-sanitize-recover=all)
  target_link_options(sluice_options INTERFACE -fsanitize=address,undefined)
endif()

# What most sources include, parsed once. Only what never changes stands here.
set(sluice_precompiled <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstdint> <cstring> <functional> <limits>
    <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <system_error> <tuple> <unordered_map>
    <utility> <variant> <vector> <tl/expected.hpp>)

# sluice_precompiled_header(NAME HEADER...): an object library whose precompiled header others reuse.
function(sluice_precompiled_header name)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE sluice_options)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# For code that does not run for each trial (command lines, settings, tests): -O1 builds it in five sixths of the time,
# and with g++ in two thirds.
function(sluice_light_optimisation target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  # At -O1 g++ 12 also sees overruns in std::string concatenation that are not there.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>")
endfunction()

# sluice_fast_build(TARGET PRECOMPILED BATCH): TARGET reuses the header that PRECOMPILED has made, and compiles BATCH
# sources together (1: each alone).
function(sluice_fast_build target precompiled batch)
  if(NOT SLUICE_FAST_BUILD)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
  if(batch GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # g++ takes a source that is compiled with others for a header.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${SLUICE_CCACHE})
  # Lets ccache reuse a precompiled header that was written at another time.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  else()
    add_compile_options(-Xclang -fno-pch-timestamp)
  endif()
endif()

# The linker of what is shipped is GNU ld: linked by lld, sluice takes 3 MiB more. Not mold: 1.10 leaves entries of empty
# functions in .eh_frame_hdr, which may hide the entry of the function at the same address, and an exception that passes
# through that one ends the process.

# sluice_library(NAME [LIGHT] DIRS folder... LINK target...): a static library of the sources in one or more folders,
# some of which are compiled together. LIGHT: with light optimisation.
function(sluice_library name)
  cmake_parse_arguments(ARG "LIGHT" "" "DIRS;LINK" ${ARGN})
  set(sources)
  foreach(dir IN LISTS ARG_DIRS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE sluice_options ${ARG_LINK})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC sluice_options ${ARG_LINK})
  if(ARG_LIGHT)
    sluice_light_optimisation(${name})
    sluice_fast_build(${name} precompiled_light ${sluice_together})
  else()
    sluice_fast_build(${name} precompiled ${sluice_together})
  endif()
endfunction()
