# Output paths of commands: devices, FIFOs, links, foreign files, one file for two outputs, a full disk, an interrupt.
# The rules are in docs/reference/outputs.md.
sfumato() { "$SFUMATO" "$@"; }
refuse() { echo "test_outputs: $*" >&2; exit 1; }

limit=() # what the program is run under
# run CODE PATTERN ARGUMENT...: its exit status, and PATTERN in its single line of output ("" for a successful run).
run() {
    local wanted=$1 pattern=$2 code=0
    shift 2
    ${limit[@]+"${limit[@]}"} "$SFUMATO" "$@" >out 2>err </dev/null || code=$?
    [ "$code" = "$wanted" ] || refuse "$*: exit $code instead of $wanted: $(cat err)"
    [ "$wanted" = 0 ] && return
    grep -qF -- "$pattern" err || refuse "$*: \"$pattern\" is not in: $(cat err)"
    [ "$(grep -c . err)" = 1 ] || refuse "$*: not one line: $(cat err)"
}
same() { # a line that names both, and nothing was computed or written
    local one=$1 other=$2
    shift 2
    run 2 'the same file' "$@"
    grep -qe "$one.*$other" err || refuse "$*: does not name $one and $other: $(cat err)"
}
no_temporaries() { [ -z "$(find . -name '*sfumato-*')" ] || refuse "left behind: $(find . -name '*sfumato-*')"; }
is_text() { [ "$(cat "$1")" = "$2" ] || refuse "$1 is now: $(head -c 200 "$1")"; }

cat >nodes.csv <<'CSV'
node,size,topic
a,1,red
b,2,red
c,3,blue
d,4,blue
e,5,red
f,6,
CSV
printf 'from,to\na,b\nb,c\nc,d\nd,e\ne,f\nf,a\n' >edges.csv
printf 'node,part\na,train\nb,val\nc,train\nd,val\ne,test\n' >split.csv
sfumato data import --edges edges.csv --nodes nodes.csv --label topic --name small --quiet >/dev/null 2>err
train=(train small.safetensors sgcn --split file:split.csv --epochs 3 --quiet)
tune=(tune small.safetensors sgcn --split file:split.csv --epochs 3 --trials 2 --space 'lr={0.1,0.2}' --quiet)
run 0 '' "${train[@]}" -o model
cp model model.kept
cp small.safetensors small.kept

# ---- "-" is not the name of a file ----------------------------------------------------------------------------------
run 2 '-o: expected the name of a file, found "-"; for standard output use /dev/stdout' data make -o -
run 2 '-o: expected the name of a file' data order small.safetensors -o -
run 2 '-o: expected the name of a file' "${train[@]}" -o -
run 2 '--export: expected the name of a file' "${tune[@]}" --export -
[ ! -e ./- ] || refuse "a file was written to -"

# ---- devices and FIFOs are written to ----------------------------------------------------------------------------------
mkfifo fifo
for option in -o --curve; do
    cat fifo >got &
    run 0 '' "${train[@]}" $option fifo
    wait $!
    [ -p fifo ] && [ -s got ] || refuse "$option: a FIFO was replaced"
    run 1 'No space left on device' "${train[@]}" $option /dev/full
    run 0 '' "${train[@]}" $option /dev/null
    [ -c /dev/null ] || refuse "/dev/null was replaced"
done
cat fifo >got &
run 0 '' "${train[@]}" -o fifo
wait $!
cmp -s got model || refuse "a model through a FIFO is another one"
cat fifo >got &
run 0 '' data import --edges edges.csv --nodes nodes.csv --label topic --name small -o fifo --quiet
wait $!
cmp -s got small.safetensors || refuse "a container through a FIFO is another one"
for command in 'data make --nodes 50 -o' 'explain small.safetensors sgcn --svg' 'data split small.safetensors -o' \
    'predict small.safetensors model -o'; do
    # shellcheck disable=SC2086
    run 1 'No space left on device' $command /dev/full --quiet
    # shellcheck disable=SC2086
    run 0 '' $command /dev/null --quiet
done
if mknod node c 1 3 2>/dev/null; then
    if true 2>/dev/null >node; then
        run 0 '' "${train[@]}" -o node
    fi
    [ -c node ] || refuse "a device was replaced"
    rm node
fi
run 0 '' "${train[@]}" -o /dev/null --curve /dev/null
run 1 'expected a file, found a device' "${tune[@]}" --study /dev/null
run 1 'expected a file, found a pipe' "${tune[@]}" --study fifo
if python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' 2>/dev/null; then
    run 1 'socket: cannot write: it is a socket' "${train[@]}" -o socket
    [ -S socket ] || refuse "a socket was replaced"
fi

# /dev/stdout is where the shell redirected it: a pipe, a file, or a file that is appended to.
predict=(predict small.safetensors model --quiet)
sfumato "${predict[@]}" -o - >right
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    sfumato "${predict[@]}" -o $name | cmp - right
    sfumato "${predict[@]}" -o $name >got
    cmp got right
    echo before >got
    sfumato "${predict[@]}" -o $name >>got
    cmp <(echo before; cat right) got
done
sfumato "${train[@]}" --curve /dev/stdout >got
grep -q '^epoch,train_loss' got && grep -q 'test' got || refuse "a curve on stdout, and the report: $(cat got)"
sfumato "${train[@]}" --curve /dev/fd/5 5>got >/dev/null
grep -q '^epoch,train_loss' got || refuse "a curve on descriptor 5"
run 2 'would both write to stdout' "${train[@]}" --json --curve /dev/stdout
run 2 'would both write to stdout' "${predict[@]}" --json -o /dev/stdout
run 1 '/dev/fd/77: cannot write: Bad file descriptor' "${train[@]}" -o /dev/fd/77

# ---- links are followed -------------------------------------------------------------------------------------------------
mkdir far
ln -s far/model to_model
run 0 '' "${train[@]}" -o to_model
[ -L to_model ] && cmp -s far/model model || refuse "a dangling link"
chmod 600 far/model
run 0 '' "${train[@]}" -o to_model
[ -L to_model ] && cmp -s far/model model && [ "$(stat -c %a far/model)" = 600 ] || refuse "a link to a model"
ln -s loop loop
run 1 'loop: cannot write: Too many levels of symbolic links' "${train[@]}" -o loop
ln -s far far_link
run 1 'far_link: cannot write: it is a folder' "${train[@]}" -o far_link
run 0 '' "${train[@]}" --curve far_link/curve.csv
[ -s far/curve.csv ] || refuse "through a folder that is a link"
if [ "$(id -u)" != 0 ]; then
    mkdir closed && chmod 555 closed
    run 1 'cannot write: Permission denied' "${train[@]}" -o closed/x
fi
run 1 'no/x: cannot write: No such file' "${train[@]}" -o no/x

# A folder that only looks writable is noticed before the training, which would not end. An existing file keeps its bytes.
if [ -d /proc ]; then
    limit=(timeout 60)
    run 1 '/proc/x: cannot write: ' "${train[@]}" --epochs 1000000000 --patience 0 -o /proc/x
    run 1 '/proc/x: cannot write: ' "${tune[@]}" --trials 1000000 --study memory -o /proc/x
    run 1 '/proc/x: cannot write: ' "${tune[@]}" --trials 1000000 --study memory --export /proc/x
    run 1 '/proc/x: cannot write: ' label small.safetensors --budget 1h -o /proc/x --quiet
    run 1 '/proc/x: cannot write: ' predict small.safetensors model -o /proc/x --quiet
    run 1 '/proc/x: cannot write: ' data import --edges edges.csv -o /proc/x --quiet
    run 1 '/proc/x: cannot create this folder: ' compare small.safetensors --trials 1000000 -o /proc/x --quiet
    limit=()
    cmp model model.kept
    no_temporaries
fi
no_temporaries

# ---- one file for two things --------------------------------------------------------------------------------------------
for name in new ./new far/../new; do
    same -o --curve "${train[@]}" -o new --curve $name
    same --study -o "${tune[@]}" --study new -o $name
    same --study --export "${tune[@]}" --study new --export $name
    same -o --export "${tune[@]}" --study memory -o new --export $name
done
same --study -o "${tune[@]}" --study new.db -o new.db-wal
same --study -o "${tune[@]}" --study sqlite:///new.db -o ./new.db
same --export --plot "${tune[@]}" --study memory --export new.csv --plot new.svg
same --study --plot "${tune[@]}" --study new.gp --plot new.svg
name=$(cd far && "$SFUMATO" tune ../small.safetensors sgcn --split file:../split.csv --epochs 1 --trials 1 --quiet \
    --space 'lr={0.1,0.2}' >/dev/null && echo small*.db)
same --study -o "${tune[@]}" -o "$name" # the study's own name
rm -f far/small*.db
[ ! -e new ] && [ ! -e new.db ] || refuse "something was written"
ln small.safetensors hard
ln -s small.safetensors soft
for name in small.safetensors ./small.safetensors hard soft far_link/../small.safetensors; do
    same -o DATASET "${train[@]}" -o $name --force
    same --svg DATASET explain $name sgcn --svg small.safetensors --force
    same -o DATASET predict small.safetensors model -o $name --force
    same -o DATASET data split small.safetensors -o $name --force
    same --study DATASET "${tune[@]}" --study $name
    same --model DATASET label small.safetensors --forget --model $name -o labels.csv --force
done
mkdir data && cp small.safetensors data/named.safetensors
same -o DATASET train named sgcn -o data/named.safetensors --force
same -o --split "${train[@]}" -o split.csv --force
same -o --split data split small.safetensors --split file:split.csv -o ./split.csv
same -o --init "${train[@]}" --init model -o ./model
same -o MODEL predict small.safetensors model -o model --force
same -o --edges data import --edges edges.csv --nodes nodes.csv --label topic -o edges.csv --force
same -o --nodes data import --edges edges.csv --nodes nodes.csv --label topic -o nodes.csv --force
printf 'red\nblue\n' >classes.txt
same -o --class-names data import --edges edges.csv --class-names classes.txt -o far/../classes.txt --force
same -o SOURCE data import model -o model --force
: >ind.set.graph # belongs to SOURCE
same -o SOURCE data import ind.set -o ./ind.set.graph --force
label=(label --edges edges.csv --nodes nodes.csv --label topic --budget steps:1 --quiet)
same -o --container "${label[@]}" -o x --container ./x
same -o --model "${label[@]}" -o x --model ./x
same --container --model "${label[@]}" -o x --container y --model ./y
same -o --nodes "${label[@]}" -o nodes.csv --force
same -o --container "${label[@]}" -o x.safetensors
mkdir exported
ln small.safetensors exported/nodes.csv
same DATASET -o data export small.safetensors -o exported --force
mkdir compared
ln small.safetensors compared/report.html
same -o DATASET compare small.safetensors --nets sgcn --trials 1 -o compared --force
same -o DATASET reproduce datasets --datasets small.safetensors -o compared --force
rm -r exported compared
code=0
sfumato "${predict[@]}" -o same.csv >same.csv 2>err || code=$?
[ "$code" = 2 ] && grep -q 'standard output.*same file\|same file.*standard output' err || refuse "stdout: $(cat err)"
exec 8<>fifo # a FIFO may be named twice, and is written to in turn; both fit into it
run 0 '' "${train[@]}" -o fifo --curve fifo
exec 8<&-
cmp small.safetensors small.kept
cmp model model.kept
printf 'node,part\na,train\nb,val\nc,train\nd,val\ne,test\n' | cmp - split.csv
no_temporaries

# ---- foreign files
# ------------------------------------------------------------------------------------------------------
for option in -o --curve; do
    echo precious >notes
    run 1 'replace it with --force' "${train[@]}" $option notes
    is_text notes precious
    run 0 '' "${train[@]}" $option notes --force
    run 0 '' "${train[@]}" $option notes
    : >notes # nothing to lose
    run 0 '' "${train[@]}" $option notes
done
for command in 'explain small.safetensors sgcn --svg' 'data split small.safetensors -o' 'predict small.safetensors model -o' \
    'data make --nodes 50 -o' 'data import --edges edges.csv --name x -o'; do
    echo precious >notes
    # shellcheck disable=SC2086
    run 1 'replace it with --force' $command notes --quiet
    is_text notes precious
    # shellcheck disable=SC2086
    run 0 '' $command notes --quiet --force
    # shellcheck disable=SC2086
    run 0 '' $command notes --quiet
done
echo precious >history.gp
run 1 'replace it with --force' "${tune[@]}" --study memory --plot history.svg
is_text history.gp precious
rm history.gp

# Foreign drawings, even those that begin like ours.
if command -v gnuplot >/dev/null; then
    gnuplot -e 'set terminal svg; set output "theirs.svg"; plot sin(x)'
    cp theirs.svg theirs.kept
    run 1 'is not a plot of a study that sfumato wrote' "${tune[@]}" --study memory --plot theirs.svg
    cmp theirs.svg theirs.kept
    run 0 '' "${tune[@]}" --study memory --plot theirs.svg --force
    run 0 '' "${tune[@]}" --study memory --plot theirs.svg
fi
echo '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"></svg>' >circle.svg
cp circle.svg circle.kept
run 1 'is not a drawing of a network that sfumato wrote' explain small.safetensors sgcn --svg circle.svg
cmp circle.svg circle.kept

# A folder of an export: files that the export wrote are replaced, changed and foreign ones are not.
run 0 '' data export small.safetensors -o ex
run 0 '' data export citation -o ex
run 0 '' data export small.safetensors -o ex
echo 'f,f' >>ex/edges.csv
cp ex/edges.csv edges.kept
run 1 'ex/edges.csv: exists and was changed since an export wrote it; choose another folder, or replace it with --force' \
    data export citation -o ex
cmp edges.kept ex/edges.csv
run 0 '' data export citation -o ex --force
mkdir own && cp edges.csv own
run 1 'own/edges.csv: exists and was not written by an export' data export small.safetensors -o own
cmp edges.csv own/edges.csv
[ "$(ls -A own)" = edges.csv ] || refuse "an export that was refused wrote $(ls -A own)"
mkdir list && echo '{"format": "other"}' >list/export.json
run 1 'list/export.json: exists and was not written' data export small.safetensors -o list

# A folder of results.
compare=(compare small.safetensors --nets sgcn --sizes standard --trials 1 --jobs 1 --space 'lr={0.1}' --quiet)
sfumato data import --edges edges.csv --nodes nodes.csv --label topic --split split.csv --name small -o split.safetensors \
    --quiet >/dev/null 2>err
compare[1]=split.safetensors
for file in report.html tables.md tables.tex results.csv timings.csv curves.csv plots/ranks-all.svg plots/tradeoff-x.gp; do
    mkdir -p mine/plots
    echo precious >mine/$file
    run 1 "mine/$file: exists and was not written by compare, reproduce or report; choose another folder, or replace it with --force" \
        "${compare[@]}" -o mine
    is_text mine/$file precious
    [ ! -e mine/manifest.json ] && [ ! -e mine/studies ] || refuse "compare began before it looked at $file"
    rm -r mine
done
mkdir mine && echo '{"name": "theirs"}' >mine/manifest.json
run 1 'mine/manifest.json' "${compare[@]}" -o mine
is_text mine/manifest.json '{"name": "theirs"}'
run 1 'mine/manifest.json' "${compare[@]}" -o mine --force
echo precious >mine/tables.md && rm mine/manifest.json
run 1 'mine/tables.md: exists and was not' reproduce datasets --datasets small.safetensors -o mine --quiet
is_text mine/tables.md precious
run 0 '' "${compare[@]}" -o mine --force
run 0 '' "${compare[@]}" -o mine
run 0 '' report mine
echo precious >mine/report.html
run 1 'mine/report.html: exists and was not written' report mine
is_text mine/report.html precious
run 1 'mine/report.html: exists and was not written' "${compare[@]}" -o mine
run 0 '' report mine --force
run 0 '' report mine
echo precious >mine/plots/ours.svg # no name of ours
run 0 '' report mine
is_text mine/plots/ours.svg precious

mkdir cache && echo precious >cache/cora.safetensors
run 1 'cache/cora.safetensors: exists and is not a dataset' data get cora --again --folder cache
is_text cache/cora.safetensors precious
no_temporaries

# ---- a limit of size is a full disk -------------------------------------------------------------------------------------
limit=(bash -c 'ulimit -f 8; exec "$@"' limited)
run 1 'big: cannot write: File too large' data make --nodes 2000 -o big --quiet
run 1 'cannot write the study: File too large' "${tune[@]}" --study limited.db
run 1 'cannot write: File too large' data export citation -o big
run 1 'fifo.svg: cannot write: File too large' explain small.safetensors "$(printf 'dense 8 relu | %.0s' {1..60})softmax" \
    --svg fifo.svg --quiet
limit=()
[ ! -e big ] && [ ! -e fifo.svg ] || refuse "half of something was written: $(ls)"
no_temporaries

# ---- an export that is interrupted --------------------------------------------------------------------------------------
# It waits for a reader of its FIFO, so that the signal comes in the middle.
sfumato data make --nodes 20000 --seed 1 -o large.safetensors --quiet >/dev/null
for signal in INT TERM HUP; do
    rm -rf ex && mkdir ex && mkfifo ex/features.csv
    set -m # or the shell would have it ignore the interrupt
    "$SFUMATO" data export large.safetensors -o ex --quiet >out 2>err &
    process=$!
    set +m
    exec 8<ex/features.csv
    head -c 1000 <&8 >/dev/null
    ls -A ex | grep -q '^\.edges\.csv\.sfumato-' || refuse "edges.csv is not on its way: $(ls -A ex)"
    kill -$signal $process
    cat <&8 >/dev/null
    exec 8<&-
    code=0
    wait $process || code=$?
    [ "$code" = $((128 + $(kill -l $signal))) ] || refuse "$signal: exit $code: $(cat err)"
    [ "$(ls -A ex)" = features.csv ] || refuse "$signal: left behind: $(ls -A ex)"
done

# ---- killed runs --------------------------------------------------------------------------------------------------------
rm -rf ex && mkdir ex && mkfifo ex/features.csv
"$SFUMATO" data export large.safetensors -o ex --quiet >out 2>err &
process=$!
exec 8<ex/features.csv
head -c 1000 <&8 >/dev/null
run 0 '' data export small.safetensors -o other
mv other/edges.csv ex/edges.csv
"$SFUMATO" explain small.safetensors sgcn --svg ex/edges.csv --quiet --force >/dev/null
ls -A ex | grep -q '^\.edges\.csv\.sfumato-' || refuse "the temporary file of a run that is alive was removed"
kill -9 $process
wait $process 2>/dev/null || true
exec 8<&-
ls -A ex | grep -q '^\.edges\.csv\.sfumato-' || refuse "a killed run left nothing, so that this test tests nothing"
"$SFUMATO" explain small.safetensors sgcn --svg ex/edges.csv --quiet >/dev/null
if ls -A ex | grep -q '^\.edges\.csv\.sfumato-'; then refuse "the temporary file of a killed run is still there"; fi

# ---- odd names ----------------------------------------------------------------------------------------------------------
long=$(printf 'n%.0s' {1..255})
for name in "$long" $'new\nline' '-dash' 'a b' '%s%n'; do
    run 0 '' "${train[@]}" -o "./$name" "--curve=far/$name"
    [ -s "./$name" ] && [ -s "far/$name" ] || refuse "no $name"
done
run 0 '' "${train[@]}" -o -dash
run 1 'File name too long' "${train[@]}" -o "${long}n"
