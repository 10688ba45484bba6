#!/usr/bin/env bash
# Cora's standard split with the defaults: the mean test accuracy over ten seeds is within 1.5 points of that of an
# independent implementation.
. "$SOURCE/tests/support/transcript.sh"
if [ ! -e "$TEST_DATA/planetoid/ind.cora.graph" ]; then
    echo "skipped: $TEST_DATA/planetoid/ind.cora is not there"
    exit 77
fi
if [ "${BUILD_KIND:-plain}" != plain ]; then
    echo "skipped: it takes minutes in this build"
    exit 77
fi
"$SFUMATO" data import "$TEST_DATA/planetoid/ind.cora" -o cora.safetensors >/dev/null

wrong=0
while read -r net wanted; do
    "$SFUMATO" train cora.safetensors "$net" --repeat 10 -q >page
    awk -v net="$net" -v wanted="$wanted" '$1 == "mean" {
        found = 1; test = $(NF - 3)
        printf "%-10s %s %% (%s)\n", net, test, wanted
        exit !(test > wanted - 1.5 && test < wanted + 1.5)
    }
    END { if (!found) exit 1 }' page || { echo "$net is too far from $wanted %"; wrong=1; }
done <<END
gcn 81.4
sgcn 80.3
fp+mlp 82.3
sgcn+lp 78.8
gcn+lp 80.7
linear+lp 78.8
mlp+lp 79.7
mlp 57.7
END
exit $wrong
