# A thin front for CMake: `make` builds, `make test` tests. Everything real is in CMakeLists.txt and scripts/.
.PHONY: all release debug fuzz test demo bench clean
all: release
release debug fuzz:
	cmake --preset $@ >/dev/null
	cmake --build --preset $@
clean:
	rm -rf build
