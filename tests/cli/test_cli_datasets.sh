#!/usr/bin/env bash
# The public datasets through the program: the expected counts, and the output as a transcript.
. "$SOURCE/tests/support/transcript.sh"
if [ ! -d "$TEST_DATA/planetoid" ]; then
    echo "no public datasets in $TEST_DATA: skipped"
    exit 77
fi
ln -s "$TEST_DATA" raw

run data import raw/planetoid/ind.cora
run data import raw/planetoid/ind.citeseer
run data import raw/planetoid/ind.pubmed
if "$SFUMATO" --version | grep -q '^  npz *yes'; then
    run data import raw/npz/cora.npz -o shchur.safetensors
    run data import --edges raw/dblp/apa.npz --features raw/dblp/a_feat.npz --labels raw/dblp/labels.npy --name dblp
    run data import --edges raw/dblp/apa.npz --features raw/dblp/a_feat.npz --labels raw/dblp/labels.npy \
        --self-loops keep -o dblp_loops.safetensors
fi
if "$SFUMATO" --version | grep -q '^  mat *yes'; then
    run data import raw/acm/ACM3025.mat --edges PAP --features feature --labels label --name acm
    run data import raw/acm/ACM3025.mat --edges PAP --features feature --labels label --self-loops keep \
        -o acm_loops.safetensors
fi
run data import raw/linqs/cora.content -o linqs.safetensors
run data info citeseer.safetensors
run data split pubmed.safetensors --split random:0 --size 5
run data split cora.safetensors --split standard -o split.csv
if "$SFUMATO" --version | grep -q '^  [a-z]* *no'; then
    echo "parts of the build are left out: the transcript was not compared"
else
    compare datasets
fi
