# What a user of the library does: install it, compile against it with pkg-config and with CMake, run.
case $BUILD_KIND in
sanitized | cross) echo "skipped: a $BUILD_KIND build is not for installing" && exit 77 ;;
esac
cmake --install "$BUILD" --prefix "$PWD/first" >install.log
mv first prefix # the installation can be moved
test -x prefix/bin/sfumato
test -s prefix/share/doc/sfumato/LICENSE
if [ -d "$BUILD/man" ]; then
    for page in "$BUILD"/man/*.1; do
        cmp "$page" "prefix/share/man/man1/${page##*/}"
    done
fi
if [ -d "$BUILD/completions" ]; then
    bash -n prefix/share/bash-completion/completions/sfumato
    test -s prefix/share/zsh/site-functions/_sfumato
    test -s prefix/share/fish/vendor_completions.d/sfumato.fish
fi

# A small program that uses every kind of declaration of the header: a handle, options, a status and its message.
cat >program.c <<'C'
#include <sfumato.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    sfu_dataset *dataset = NULL;
    const sfu_status status = sfu_dataset_open(&dataset, "no/such/dataset.safetensors");
    if (status == SFU_OK || dataset != NULL || strstr(sfu_message(), "no/such/dataset") == NULL) {
        return 1;
    }
    sfu_dataset_free(dataset);
    sfu_import_options options;
    sfu_import_options_init(&options);
    printf("%s\n", sfu_version());
    return strcmp(sfu_version(), SFU_VERSION) != 0;
}
C
cp program.c program.cpp
version=$(sed -n 's/^#define SFU_VERSION "\(.*\)"/\1/p' "$SOURCE/include/sfumato.h")
strict="-Wall -Wextra -Wpedantic -Werror"

says_version() { # PROGRAM
    test "$(LD_LIBRARY_PATH=$PWD/prefix/lib "$1")" = "$version" || { echo "$1 does not say $version"; exit 1; }
}
needs_library() { readelf -d "$1" | grep -q 'NEEDED.*\[libsfumato\.so\.0\.2\]'; }

needs_no_library() { if needs_library "$1"; then echo "$1 needs the shared library" && exit 1; fi; }

# Each header by itself.
for header in sfumato.h sfumato_paper.h; do
    echo "#include <$header>" >header.c
    cp header.c header.cpp
    $CC -std=c17 $strict -Iprefix/include -c header.c -o header.o
    $CXX -std=c++17 $strict -Iprefix/include -c header.cpp -o header.o
done

# pkg-config, with the shared library or, if there is only the archive, with that.
libdir=$(dirname "$(find prefix -name libsfumato.a)")
export PKG_CONFIG_PATH=$PWD/$libdir/pkgconfig
test "$(pkg-config --modversion sfumato)" = "$version"
$CC -std=c17 $strict program.c $(pkg-config --cflags --libs sfumato) -o c_shared
$CXX -std=c++17 $strict program.cpp $(pkg-config --cflags --libs sfumato) -o cpp_shared
for program in c_shared cpp_shared; do
    needs_library $program
    says_version ./$program
done
mkdir away
mv "$libdir"/libsfumato.so* away
$CC -std=c17 $strict program.c $(pkg-config --static --cflags --libs sfumato) -o c_static
mv away/* "$libdir"
needs_no_library c_static
says_version ./c_static

# CMake.
mkdir project
cp program.c project
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(sfumato 0.2 REQUIRED)
foreach(kind shared static)
    add_executable(cmake_${kind} program.c)
    target_link_libraries(cmake_${kind} PRIVATE sfumato::${kind})
endforeach()
CMAKE
CC=$CC cmake -S project -B project/build -DCMAKE_PREFIX_PATH="$PWD/prefix" >cmake.log
cmake --build project/build >>cmake.log
needs_library project/build/cmake_shared
needs_no_library project/build/cmake_static
says_version project/build/cmake_shared
says_version project/build/cmake_static
echo "installed, found and used: pkg-config (C, C++, archive) and CMake (shared, static)"
