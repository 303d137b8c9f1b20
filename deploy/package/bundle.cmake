# Puts the shared libraries of `programs` into lib/sluice, but for those that every Linux system has.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${programs} RESOLVED_DEPENDENCIES_VAR libraries
     POST_EXCLUDE_REGEXES "/lib(c|m|dl|rt|pthread|z)\\.so\\.[0-9]+$" "/ld-linux[^/]*$")
foreach(library IN LISTS libraries)
  file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/sluice TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN FILES ${library})
endforeach()
