# Compiles through ccache where it is installed. The sloppiness settings are what ccache needs to cache files that use
# a precompiled header. No base directory: it would make the paths of source files relative, and messages name files.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
endif()
