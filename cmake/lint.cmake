# cmake/lint.cmake - checks of the sources, and builds by other compilers and flags.

set(tools ${PROJECT_SOURCE_DIR}/tools)

function(tide_check name label)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES
        LABELS ${label} TIMEOUT 900 SKIP_RETURN_CODE 77)
endfunction()

tide_check(lint.layers lint ${tools}/check-layers.py)
tide_check(lint.headers lint ${tools}/check-headers)
tide_check(lint.format lint ${tools}/check-format)
tide_check(lint.man lint ${tools}/check-man)
tide_check(lint.cppcheck lint ${tools}/check-cppcheck ${PROJECT_BINARY_DIR}/cppcheck)
tide_check(lint.tidy lint ${tools}/check-tidy.py ${PROJECT_BINARY_DIR}/tidy)
tide_check(lint.tidy_deep long ${tools}/check-tidy.py ${PROJECT_BINARY_DIR}/tidy --deep)
tide_check(lint.symbols lint ${tools}/check-symbols ${PROJECT_BINARY_DIR})

# What users build, and what the other compiler says.
tide_check(build.release build ${tools}/build-as ${PROJECT_BINARY_DIR}/release
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTIDE_WERROR=ON -DBUILD_TESTING=OFF)
# One build serves both: clang compiles the tools and unit tests with its sanitizers, and
# the recorder, which has none, by itself.  The programs of tests/ are left to `check-long`.
set(clang -DCMAKE_BUILD_TYPE=Debug -DTIDE_WERROR=ON
    -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++)
tide_check(build.clang build ${tools}/build-as ${PROJECT_BINARY_DIR}/clang
    --only tidemark_preload ${clang})
tide_check(build.clang_all long ${tools}/build-as ${PROJECT_BINARY_DIR}/clang ${clang})
tide_check(build.asan build ${tools}/build-as ${PROJECT_BINARY_DIR}/asan
    ${clang} "-DCMAKE_C_FLAGS_DEBUG=-O1 -g1" -DTIDE_SANITIZE=address,undefined)
tide_check(install.consumer build ${tools}/check-install ${PROJECT_BINARY_DIR}/release)

set_tests_properties(build.asan PROPERTIES FIXTURES_SETUP asan)
set_tests_properties(build.release PROPERTIES FIXTURES_SETUP release)
set_tests_properties(install.consumer PROPERTIES FIXTURES_REQUIRED release)
# The long ones begin first, so that the last core is not left alone with them.
set_tests_properties(build.release PROPERTIES COST 200)
set_tests_properties(build.asan PROPERTIES COST 190)
set_tests_properties(lint.tidy PROPERTIES COST 100)
set_tests_properties(lint.tidy lint.tidy_deep PROPERTIES PROCESSORS 2)
