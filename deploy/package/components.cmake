# Read by CPack for each kind of package: what goes into it.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL programs zsh_debian)
else()
  set(CPACK_COMPONENTS_ALL programs zsh bundle)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
