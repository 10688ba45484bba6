# An export can be imported with the command that it prints, and has the same digest: names with CSV special characters,
# weights, loops, directions, node columns, a split, classes in another order, features that no node has.
sfumato() { "$SFUMATO" "$@"; }

digest() { sfumato data info "$1" --json | sed -n 's/^ *"digest": "\([0-9a-f]*\)".*/\1/p'; }

round_trip() { # DATASET
    local before after
    before=$(digest "$1")
    [ ${#before} = 64 ]
    sfumato data export "$1" -o out >said 2>err
    eval "$(tail -n 1 said) -o back.safetensors" >/dev/null 2>err || {
        cat said err
        return 1
    }
    after=$(digest back.safetensors)
    [ "$before" = "$after" ] || {
        echo "$1: $before became $after"
        cat said
        return 1
    }
    rm -rf out back.safetensors
}

round_trip citation

cat >nodes.csv <<'CSV'
node,size,topic
"a,b",1.5,"zebra, striped"
"say ""hi""",0.1,ape
 # no comment,3e-7,
"two
lines",-2.25,ape
last,0,"zebra, striped"
CSV
cat >edges.csv <<'CSV'
from,to,weight
"a,b","say ""hi""",0.3
"say ""hi""","a,b",0.7
last,last,1e-3
last,"two
lines",12345.678
CSV
printf 'node,trust\n"a,b",0.1\n"say ""hi""",0.2\n# no comment,0.3\n"two\nlines",0.4\nlast,0.5\n' >columns.csv
printf 'node,part\nlast,train\n"a,b",val\n"say ""hi""",test\n' >split.csv
sfumato data import --edges edges.csv --nodes nodes.csv --label topic --columns columns.csv --split split.csv \
    --class-names '"zebra, striped",ape,bee' --name odd --quiet >/dev/null 2>err
round_trip odd.safetensors
sfumato data import --edges edges.csv --nodes nodes.csv --label topic --directed --self-loops keep --scale none \
    --name arcs --quiet >/dev/null 2>err
round_trip arcs.safetensors
sfumato data import --edges edges.csv --name bare --quiet >/dev/null 2>err
round_trip bare.safetensors
