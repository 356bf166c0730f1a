#!/bin/sh
# examples/kinds/build.sh FOLDER - every kind of program, annotated, into FOLDER.
#
# There is nothing to link, and no kind needs anything of its own: the annotations find the
# recorder when the program runs, if there is one.  CC is the compiler; CPPFLAGS say where
# the headers are, unless it finds them anyway.
set -eu
cd "$(dirname "$0")"
out=$1
cc="${CC:-cc} -O2 -Wall -Wextra ${CPPFLAGS:-}"

$cc -fPIE -pie work.c caller.c -o "$out/pie"
$cc -fno-pie -no-pie work.c caller.c -o "$out/no_pie"

# Without a loader there is no recorder either: the calls do nothing.
$cc -static work.c caller.c -o "$out/static"
$cc -static-pie -fPIE work.c caller.c -o "$out/static_pie"

# In a library, and in one that is loaded with dlopen: `host FOLDER/libwork.so`.
$cc -fPIC -shared work.c -o "$out/libwork.so"
$cc caller.c -L"$out" -lwork -Wl,-rpath,"$out" -o "$out/with_library"
$cc host.c -o "$out/host" -ldl
