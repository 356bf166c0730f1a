# The commands a user types; the build itself is CMakeLists.txt.
#
#   make demo            install what the build needs, build, record and report an example
#   make check           every check that a change must pass
#   make check-long      the slow ones
#   make soak            five minutes of random programs, plain against recorded
#   make check-transparency   many real programs, plain and recorded, with times
#   make bench           what recording costs, beside heaptrack; what queries, names and reports cost
#   make install PREFIX=/usr/local
SHELL := /bin/bash
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all build demo check check-long check-transparency soak bench install clean format
all: build

build:
	@tools/install-deps --demo
	@tools/forget-moved build/release
	@cmake --preset release -DBUILD_TESTING=OFF --log-level=WARNING >/dev/null
	@tools/build-quietly build/release -j $(JOBS)

demo: build
	@tools/demo build/release

check:
	@tools/install-deps --check
	@tools/forget-moved build/dev
	@cmake --preset dev --log-level=WARNING >/dev/null
	@cmake --build build/dev -j $(JOBS)
	@cd build/dev && ctest --output-on-failure --no-label-summary -j $(JOBS) -LE long

check-long:
	@tools/install-deps --check
	@tools/forget-moved build/release
	@cmake --preset release -DBUILD_TESTING=ON --log-level=WARNING >/dev/null
	@cmake --build build/release -j $(JOBS)
	@cd build/release && ctest --output-on-failure --no-label-summary -L long

soak:
	@tools/install-deps --check
	@tools/forget-moved build/release
	@cmake --preset release -DBUILD_TESTING=ON --log-level=WARNING >/dev/null
	@cmake --build build/release -j $(JOBS)
	@tests/soak/soak.py --seconds 300 --jobs 2 build/release

check-transparency:
	@tools/install-deps --transparency
	@tools/forget-moved build/release
	@cmake --preset release -DBUILD_TESTING=OFF --log-level=WARNING >/dev/null
	@cmake --build build/release -j $(JOBS)
	@/usr/bin/python3 -B tests/transparency/run.py build/release --more --repeat 3 \
		--json build/transparency.json --table

bench:
	@tools/install-deps --check
	@tools/forget-moved build/release
	@cmake --preset release -DBUILD_TESTING=ON --log-level=WARNING
	@cmake --build build/release -j $(JOBS)
	@/usr/bin/python3 -B tests/bench/bench.py build/release --repeat 5
	@/usr/bin/python3 -B tests/bench/querying.py build/release && echo
	@/usr/bin/python3 -B tests/bench/symbols.py build/release && echo
	@/usr/bin/python3 -B tests/bench/naming.py build/release

install: build
	@cmake --install build/release --prefix $(PREFIX)

format:
	@tools/check-format --fix

clean:
	rm -rf build
