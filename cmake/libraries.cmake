# Third-party libraries, each as one imported target. All of them are Debian packages (scripts/install-deps).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CURL REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)
# The HTTP server that comes with it.
find_library(SLUICE_CIVETWEB_CPP civetweb-cpp REQUIRED)
find_library(SLUICE_CIVETWEB civetweb REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
# Its -pthread defines _REENTRANT, which the tests' precompiled header has not.
set_target_properties(PkgConfig::RE2 PROPERTIES INTERFACE_COMPILE_OPTIONS "")

find_package(RocksDB REQUIRED)

# sluice_archive(TARGET FILE [LINK library...]): TARGET, an imported library, is linked from its archive, since each
# shared library takes some 0.1 ms of the start of a process (docs/benchmarks.md); with what the archive needs in turn.
# Shared where Debian has no archive, or checked code would be mixed with the library's unchecked inline functions.
function(sluice_archive target file)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  find_library(SLUICE_ARCHIVE_${file} ${file})
  if(NOT SLUICE_ARCHIVE_${file} OR SLUICE_SANITIZE OR SLUICE_FUZZ)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${SLUICE_ARCHIVE_${file}};${ARG_LINK}")
  else()
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${SLUICE_ARCHIVE_${file}}
                                               INTERFACE_LINK_LIBRARIES "${ARG_LINK}")
  endif()
endfunction()

sluice_archive(PkgConfig::RE2 libre2.a LINK Threads::Threads)
sluice_archive(PkgConfig::ZSTD libzstd.a)
sluice_archive(SQLite::SQLite3 libsqlite3.a LINK ${CMAKE_DL_LIBS} m)

# The archive wants more than sluice uses.
find_library(SLUICE_SODIUM_ARCHIVE libsodium.a)
find_library(SLUICE_BSD_ARCHIVE libbsd.a)
find_library(SLUICE_MD_ARCHIVE libmd.a)
if(SLUICE_SODIUM_ARCHIVE AND SLUICE_BSD_ARCHIVE AND SLUICE_MD_ARCHIVE)
  add_library(zmq_absent STATIC EXCLUDE_FROM_ALL cmake/zmq_absent.cpp)
  sluice_archive(PkgConfig::ZMQ libzmq.a LINK zmq_absent ${SLUICE_SODIUM_ARCHIVE} ${SLUICE_BSD_ARCHIVE}
                                              ${SLUICE_MD_ARCHIVE} Threads::Threads)
endif()

# Of OpenSSL no more than SHA-256, which is a small part of its archive.
add_library(sha256 INTERFACE IMPORTED)
target_link_libraries(sha256 INTERFACE OpenSSL::Crypto)
sluice_archive(sha256 libcrypto.a)

# With the archive goes what it compresses with.
add_library(rocksdb INTERFACE)
if(SLUICE_SANITIZE OR SLUICE_FUZZ)
  target_link_libraries(rocksdb INTERFACE RocksDB::rocksdb-shared)
else()
  set(compressors)
  foreach(name snappy z bz2 lz4)
    add_library(compressor_${name} INTERFACE IMPORTED)
    target_link_libraries(compressor_${name} INTERFACE ${name})
    sluice_archive(compressor_${name} lib${name}.a)
    list(APPEND compressors compressor_${name})
  endforeach()
  set_target_properties(RocksDB::rocksdb PROPERTIES INTERFACE_LINK_LIBRARIES "${compressors};PkgConfig::ZSTD")
  target_link_libraries(rocksdb INTERFACE RocksDB::rocksdb)
endif()

# Its headers alone: the library is loaded with the first call (worker/http/curl_library.hpp).
add_library(curl_headers INTERFACE)
target_include_directories(curl_headers SYSTEM INTERFACE ${CURL_INCLUDE_DIRS})
target_link_libraries(curl_headers INTERFACE ${CMAKE_DL_LIBS})

# Debian's SQLiteCpp config does not name sqlite3 itself.
find_package(SQLiteCpp REQUIRED)

# CAF 0.17.6 ships no CMake package.
find_path(CAF_INCLUDE_DIR caf/config.hpp REQUIRED)
find_library(CAF_CORE_LIBRARY caf_core REQUIRED)
file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp CAF_VERSION_LINE REGEX "#define CAF_VERSION ")
if(NOT CAF_VERSION_LINE MATCHES "1706")
  message(FATAL_ERROR "sluice is written for CAF 0.17.6 (Debian 12's libcaf-dev); found: ${CAF_VERSION_LINE}")
endif()
add_library(caf_core INTERFACE IMPORTED)
set_target_properties(caf_core PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR})
target_link_libraries(caf_core INTERFACE ${CAF_CORE_LIBRARY} Threads::Threads)

# Header-only; without Boost.
add_library(msgpack_cxx INTERFACE IMPORTED)
target_compile_definitions(msgpack_cxx INTERFACE MSGPACK_NO_BOOST)

# Header-only; the spec's fixtures have multi-line inline tables.
add_library(toml_pp INTERFACE IMPORTED)
target_compile_definitions(toml_pp INTERFACE TOML_ENABLE_UNRELEASED_FEATURES=1 TOML_HEADER_ONLY=1 TOML_EXCEPTIONS=0)

# Messages are made on one thread and freed on another, which glibc's allocator is slow at. tcmalloc is as fast as
# jemalloc, and takes 2 ms more of the start of a process (docs/benchmarks.md). From its archive, which spares each call
# the way through a table. Left out under sanitizers, which bring their own.
add_library(sluice_allocator INTERFACE)
find_library(SLUICE_JEMALLOC_ARCHIVE libjemalloc_pic.a)
if(SLUICE_JEMALLOC_ARCHIVE AND NOT SLUICE_SANITIZE AND NOT SLUICE_FUZZ)
  target_link_libraries(sluice_allocator INTERFACE ${SLUICE_JEMALLOC_ARCHIVE} Threads::Threads m ${CMAKE_DL_LIBS})
endif()

# Suites in YAML. Debian's CMake config names the target differently from version to version.
find_package(yaml-cpp REQUIRED)
add_library(yaml_cpp INTERFACE IMPORTED)
if(TARGET yaml-cpp::yaml-cpp)
  target_link_libraries(yaml_cpp INTERFACE yaml-cpp::yaml-cpp)
else()
  target_link_libraries(yaml_cpp INTERFACE yaml-cpp)
endif()
sluice_archive(yaml_cpp libyaml-cpp.a)

# JSON Schema; header-only. Without exceptions it would end the process over a wrong schema.
find_path(VALIJSON_INCLUDE_DIR valijson/validator.hpp REQUIRED)
add_library(valijson INTERFACE IMPORTED)
target_compile_definitions(valijson INTERFACE VALIJSON_USE_EXCEPTIONS=1)
set_target_properties(valijson PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${VALIJSON_INCLUDE_DIR})
