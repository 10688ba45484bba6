# The mistakes that docs/compose.md shows are answered as it says.
mkdir bin
ln -s "$SFUMATO" bin/sfumato
PATH=$PWD/bin:$PATH
awk '/^```/ { inside = !inside && $0 == "```console"; next } inside' "$SOURCE/docs/compose.md" >said.txt
[ "$(grep -c '^\$ ' said.txt)" -ge 6 ]
grep '^\$ ' said.txt | cut -c3- | while read -r command; do
    printf '$ %s\n' "$command"
    status=0
    bash -c "$command" </dev/null 2>&1 || status=$?
    [ "$status" = 1 ] || [ "$status" = 2 ]
done >answered.txt
diff said.txt answered.txt
