# Files that version 0.1.0 wrote (commit cfc2136) open, and its studies and comparisons are continued: a container, a
# model, a study of four trials, and a comparison of three trials. They were made by
#   sfumato data make -o small.safetensors --nodes 80 --classes 2 --vocabulary 16 --words 4
#   sfumato train small.safetensors sgcn --epochs 20 -o model.safetensors
#   sfumato predict small.safetensors model.safetensors -o predictions.csv
#   sfumato tune small.safetensors sgcn --trials 4 --epochs 10 --wave 2 --study study.db
#   sfumato compare small.safetensors --nets sgcn --splits 2 --trials 3 -o results
fail() { echo "$1"; exit 1; }
tar -xzf "$SOURCE/tests/data/version_0_1_0.tar.gz"
"$SFUMATO" data make -o again.safetensors --nodes 80 --classes 2 --vocabulary 16 --words 4 -q >/dev/null
cmp small.safetensors again.safetensors || fail "the container is another one"
"$SFUMATO" predict small.safetensors model.safetensors -o predicted.csv -q >/dev/null
cmp predictions.csv predicted.csv || fail "the model predicts something else"
if ! "$SFUMATO" --version | grep -q '^ *sqlite *yes'; then
    echo "skipped: without SQLite, studies are not kept in files" && exit 77
fi

# Each is continued, with its space, which was the default then, and comes to what is had when this program does all of it.
"$SFUMATO" tune small.safetensors sgcn --trials 9 --epochs 10 --wave 2 --study study.db --export old.csv -q >/dev/null
"$SFUMATO" tune small.safetensors sgcn --trials 9 --epochs 10 --wave 2 --space paper --study new.db --export new.csv -q >/dev/null
cmp old.csv new.csv || fail "the study went on otherwise"
"$SFUMATO" compare small.safetensors --nets sgcn --splits 2 --trials 6 -o results >out 2>errors
! grep -qi 'version\|protocol' errors || fail "it said: $(cat errors)"
"$SFUMATO" compare small.safetensors --nets sgcn --splits 2 --trials 6 --space paper -o anew -q >/dev/null
cmp results/results.csv anew/results.csv || fail "the comparison went on otherwise"
"$SFUMATO" report results -q >/dev/null
test -s results/report.html
echo "a container, a model, a study and a comparison of 0.1.0 are read and continued"
