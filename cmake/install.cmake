# cmake/install.cmake - where things go; and how other builds find us.
#
# The library is no library to link with: it stands apart, where the program looks for
# it (bin/../lib/tidemark, bin/../lib/<multiarch>/tidemark).

include(CMakePackageConfigHelpers)

set(TIDE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tidemark)

install(TARGETS tidemark RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tidemark_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tidemark)
install(DIRECTORY include/tidemark DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES bindings/fortran/tidemark.f90 bindings/fortran/timemory_mallocp.f90
    bindings/fortran/caliper_mod.f90
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tidemark)
file(GLOB man_pages CONFIGURE_DEPENDS docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# The program itself knows what its options are.
install(CODE "foreach(shell bash zsh fish)
    execute_process(COMMAND $<TARGET_FILE:tidemark> completion \${shell}
        OUTPUT_FILE ${PROJECT_BINARY_DIR}/completion.\${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()")
install(FILES ${PROJECT_BINARY_DIR}/completion.bash RENAME tidemark
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completion.zsh RENAME _tidemark
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/completion.fish RENAME tidemark.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The pages link to each other, and to the examples.
install(FILES LICENSE README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
    FILES_MATCHING PATTERN *.md PATTERN man EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
    PATTERN CMakeLists.txt EXCLUDE)

# Where Python looks, if the prefix is one of its own (/usr, /usr/local); elsewhere
# PYTHONPATH has to name it.
set(TIDE_PYTHON_DIR "" CACHE STRING "Folder of the Python package, below the prefix")
set(python_dir ${TIDE_PYTHON_DIR})
if(NOT python_dir)
    set(python_dir lib/python3/dist-packages)
    find_program(TIDE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH) # the system's
    execute_process(COMMAND ${TIDE_PYTHON} -c [[
import os, sys, sysconfig
print("lib/python%d.%d/%s" % (*sys.version_info[:2],
                              os.path.basename(sysconfig.get_path("purelib"))))
]] OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(found)
        set(python_dir ${found})
    endif()
endif()
install(DIRECTORY bindings/python/tidemark DESTINATION ${python_dir}
    FILES_MATCHING PATTERN *.py)

# find_package(tidemark) gives tidemark::tidemark: the headers, nothing to link.
add_library(tidemark_api INTERFACE)
set_target_properties(tidemark_api PROPERTIES EXPORT_NAME tidemark)
target_include_directories(tidemark_api INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS tidemark_api EXPORT tidemark_targets)
install(EXPORT tidemark_targets NAMESPACE tidemark:: FILE tidemark-targets.cmake
    DESTINATION ${TIDE_PACKAGE_DIR})
configure_package_config_file(cmake/tidemark-config.cmake.in tidemark-config.cmake
    INSTALL_DESTINATION ${TIDE_PACKAGE_DIR}
    PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(tidemark-config-version.cmake
    COMPATIBILITY SameMajorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/tidemark-config.cmake
    ${PROJECT_BINARY_DIR}/tidemark-config-version.cmake
    DESTINATION ${TIDE_PACKAGE_DIR})

# ${pcfiledir} keeps the file true when the tree is moved or staged.
file(RELATIVE_PATH TIDE_PC_TO_PREFIX
    /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/tidemark.pc.in tidemark.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tidemark.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
