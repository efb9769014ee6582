# For a Python package around libraries that are compiled already, of these very sources: the targets that src/ would make.
find_package(Tilewright ${PROJECT_VERSION} EXACT REQUIRED PATHS ${TILEWRIGHT_INSTALLED} NO_DEFAULT_PATH)
foreach(name tilewright_runtime tilewright)
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE Tilewright::${name})
endforeach()
