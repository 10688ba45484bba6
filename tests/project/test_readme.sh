# Every command of the README that is marked as one (a fenced block "sh") runs, in an empty folder, in order.
if [ "$BUILD_KIND" = sanitized ]; then
    echo "skipped: takes minutes under the sanitizers; other tests run the same commands"
    exit 77
fi
mkdir bin
ln -s "$SFUMATO" bin/sfumato
PATH=$PWD/bin:$PATH
awk '/^```/ { inside = !inside && $0 == "```sh"; next } inside' "$SOURCE/README.md" >tour.sh
[ "$(grep -c sfumato tour.sh)" -ge 8 ]
bash -eu tour.sh >out 2>err || {
    cat out err
    exit 1
}
# And each file that it links to exists.
grep -oE '\]\([^)#:]+\)' "$SOURCE/README.md" | tr -d '])(' | while read -r path; do
    [ -e "$SOURCE/$path" ] || {
        echo "README.md links to $path, which is not there"
        exit 1
    }
done
