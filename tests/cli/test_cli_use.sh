#!/usr/bin/env bash
# Help and usage errors as a transcript.
. "$SOURCE/tests/support/transcript.sh"

part 'help'
run
run --help
run data
for command in data 'data import' 'data info' 'data list' 'data get' 'data make' 'data export' 'data split' help; do
    # shellcheck disable=SC2086 # the words of a command
    run $command --help
done
run help data split
run help help -h

part 'wrong words'
run dta
run data improt
run data xyzzy
run help data improt
run data import --edgse edges.csv
run data import --edge edges.csv
run data import --completely-unknown
run data import -z
run data import $'--ed\x1b[31mges'
run --verison
run data list spare
run data info
run data info one two

part 'wrong values'
run data import --edges
run data import --edges --nodes nodes.csv
run data import --edges=
run data import --scale unti --edges edges.csv
run data import --format cvs file
run data import --knn 0 --nodes nodes.csv
run data import --knn 2.5 --nodes nodes.csv
run data import --strict=yes
run data import
run data import --labels labels.csv
run data make
run data make -o
run data make -o x.safetensors --nodes many
run data make -o x.safetensors --nodes 0x10
run data make -o x.safetensors --homophily 1.5
run data make -o x.safetensors --seed=-1
run data make -o x.safetensors --seed 18446744073709551616
run data export citation
run data get
run data get croa
run data get cora --via ftp
run help --completion csh

part 'ends of options'
run data info -- --json
run data info ''
[ -z "$(ls)" ] || fail "wrong use left files: $(ls)"
compare use

# A narrow terminal gets narrow lines, and an invalid COLUMNS is ignored.
widest=$(COLUMNS=50 "$SFUMATO" data make --help | sed -n '/^Usage/,/^Examples/p' | awk '{ if (length > w) w = length } END { print w }')
[ "$widest" -lt 50 ] || fail "help for 50 columns is $widest wide"
COLUMNS=wide "$SFUMATO" --help | cmp - <(COLUMNS=80 "$SFUMATO" --help)

# Every command and subcommand prints --help on stdout only, with an example.
"$SFUMATO" --version | grep -q "^sfumato [0-9]" || fail "--version does not start with the version"
"$SFUMATO" --version | grep -Eq '^  npz +(yes|no) +libzip$' || fail "--version does not list the optional parts"
for command in '' data 'data import' 'data info' 'data list' 'data get' 'data make' 'data export' 'data split' help; do
    # shellcheck disable=SC2086
    "$SFUMATO" $command --help 2>stderr | grep -A 3 '^Examples:' | grep -q 'sfumato' || fail "$command: no example"
    [ ! -s stderr ] || fail "$command --help writes on stderr"
done
