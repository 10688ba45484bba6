#!/usr/bin/env bash
# Redoing the paper's tables: help, mistakes, and what is said of tables that need no study.
. "$SOURCE/tests/cli/transcript.sh"
unset SFUMATO_DATA
export XDG_CACHE_HOME=$PWD/cache

part 'help'
run reproduce --help

part 'wrong use'
run reproduce
run reproduce set6
run reproduce Set1
run reproduce set1 set2
run reproduce set1 --trials 0
run reproduce set1 --splits none
run reproduce set1 --loss median
run reproduce set1 --feature-norm row
run reproduce set1 --self-loops some
run reproduce set1 --datasets citation
run reproduce set1 --datasets cora,citation
run reproduce set1 --nets mlp
run reproduce set1 --nets 'smooth | softmax'
run reproduce layers --nets lpnn
run reproduce standard --datasets acm,dblp
run reproduce set1 --datasets cora --lpnn 'f=hard'
run reproduce set1 --datasets acm --self-loops keep
run reproduce set1 --datasets cora --trials 5 --splits 2 --lpnn-trials 1
run reproduce datasets --datasets cora
run reproduce cost --datasets dblp
note "$(find . -type f | sort)"

part 'tables without studies'
if [ ! -e "$TEST_DATA/planetoid/ind.citeseer.graph" ]; then
    echo "skipped: needs the public datasets"
    exit 77
fi
"$SFUMATO" data import "$TEST_DATA/planetoid/ind.citeseer" --name citeseer -o citeseer.safetensors --quiet >/dev/null
run reproduce datasets --datasets citeseer.safetensors
run reproduce datasets --datasets ./citeseer.safetensors,cora -o tables
run reproduce datasets --datasets citeseer.safetensors --json -o tables
run reproduce cost --datasets citeseer.safetensors --nets sgcn,linear+lp -o cost
note "$(find . -path ./cache -prune -o -type f -print | sort)"

# Times are not the same twice, nor are columns of them as wide.
sed -i '/^| [A-Za-z]*\(+LP\)* *|.*ms/{s/[0-9.]* ms/TIME/g; s/  */ /g}; s/^\(| network .*\) | *predicted.*/\1/
    s/^\(|-*|-*|-*:\)|-*:|-*:|$/\1/; s/; predicted for a nominal machine, since.*bench`)//' "$transcript"
compare reproduce
