# The installed program stays small and starts fast, and uses only SHA-256 of libcrypto: other functions would link all
# of it, 3.5 MB in a static program (whose size scripts/check_portable.sh checks).
limit=5000000
if [ "$BUILD_KIND" != plain ]; then
    echo "skipped: sanitizers make programs large, emulators slow"
    exit 77
fi
strip -o stripped "$SFUMATO"
size=$(stat -c %s stripped)
test "$size" -lt "$limit" || { echo "$size bytes stripped, the limit is $limit"; exit 1; }

asked=$(nm -D --undefined-only "$BUILD/libsfumato.so" | sed 's/.* U //; s/@.*//' |
    grep -E '^(EVP|CRYPTO|OPENSSL|ERR|BIO|RAND|HMAC|AES|MD[0-9]|SHA[0-9]+)_' | sort)
test "$(echo $asked)" = "SHA256_Final SHA256_Init SHA256_Update" || { echo "of libcrypto it needs:" $asked; exit 1; }

# Large libraries are loaded on first use: loading them at the start takes several times as long.
loaded=$(ldd ./stripped | grep -oE 'lib(curl|pq|matio|hdf5)[^ ]*' || true)
test -z "$loaded" || { echo "a start loads $loaded"; exit 1; }

fastest=1000000000
for _ in {1..30}; do
    begin=$(date +%s%N)
    ./stripped --help >/dev/null
    took=$(($(date +%s%N) - begin))
    fastest=$((took < fastest ? took : fastest))
done
echo "$size bytes stripped, --help in $((fastest / 1000)) us with starting a process"
