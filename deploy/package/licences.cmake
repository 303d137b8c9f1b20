# The licences of what is part of the programs, linked from archives and headers or put beside them, as Debian's
# packages have them. On other systems they are the packager's to add.
set(packages cppzmq-dev libbsd-dev libbz2-dev libcaf-core0.17 libcivetweb1 libcli11-dev libexpected-dev libfmt9
    libgcc-s1 libjemalloc-dev liblz4-dev libmd-dev libmsgpack-cxx-dev libprometheus-cpp-core1.0
    libre2-dev librocksdb-dev libsimdjson14 libsnappy-dev libsodium-dev libspdlog1.10-fmt9
    libsqlite3-dev libsqlitecpp-dev libssl-dev libstdc++6 libtomlplusplus-dev libvalijson-dev libyaml-cpp-dev
    libzmq3-dev libzstd-dev nlohmann-json3-dev zlib1g-dev)
foreach(package IN LISTS packages)
  set(licence /usr/share/doc/${package}/copyright)
  if(EXISTS ${licence})
    file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/share/doc/sluice/licences" TYPE FILE RENAME ${package}
         FILES ${licence})
  endif()
endforeach()
