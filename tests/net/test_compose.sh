# The error messages shown in docs/reference/compose.md and docs/reference/space.md are those of the program.
mkdir bin
ln -s "$SFUMATO" bin/sfumato
PATH=$PWD/bin:$PATH
for page in compose space; do
    awk '/^```/ { inside = !inside && $0 == "```console"; next } inside' "$SOURCE/docs/reference/$page.md" >said.txt
    [ "$(grep -c '^\$ ' said.txt)" -ge 5 ]
    grep '^\$ ' said.txt | cut -c3- | while read -r command; do
        printf '$ %s\n' "$command"
        status=0
        bash -c "$command" </dev/null 2>&1 || status=$?
        [ "$status" = 1 ] || [ "$status" = 2 ]
    done >answered.txt
    diff said.txt answered.txt
done
