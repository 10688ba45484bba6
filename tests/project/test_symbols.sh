# The functions that the headers declare, those that the symbol list names and those that the shared library exports are
# the same; inside the archive every global name begins with sfu_, so that it can be linked into anything.
export LC_ALL=C
library=$BUILD/libsfumato.so

# Without comments, one declaration a line.
$CC -E -P -I"$SOURCE/include" "$SOURCE/include/sfumato_paper.h" | tr '\n' ' ' | tr ';' '\n' | grep 'visibility("default")' |
    sed 's/__attribute__((visibility("default")))//; s/__attribute__((warn_unused_result))//' |
    grep -oE '\bsfu_[a-z0-9_]+ *\(' | tr -d ' (' | sort >header.txt
sed -n 's/^ *\(sfu_[a-z0-9_]*\);$/\1/p' "$SOURCE/cmake/sfumato.map" | sort >map.txt
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >library.txt

# As many declarations as the headers have, or the extraction above has gone blind.
test "$(wc -l <header.txt)" = "$(cat "$SOURCE"/include/*.h | grep -c '^SFU_API')"
diff header.txt map.txt || { echo "the headers (<) and cmake/sfumato.map (>) differ"; exit 1; }
diff map.txt library.txt || { echo "cmake/sfumato.map (<) and what the library exports (>) differ"; exit 1; }

readelf -d "$library" | grep -q 'SONAME.*\[libsfumato\.so\.0\.2\]' || { echo "wrong soname"; exit 1; }

if [ "$BUILD_KIND" = plain ]; then
    foreign=$(nm -g --defined-only "$BUILD/libsfumato.a" | awk 'NF == 3 && $3 !~ /^sfu_/ { print $3 }')
    test -z "$foreign" || { echo "names that are not ours in the archive: $foreign"; exit 1; }
fi
echo "$(wc -l <library.txt) functions"
