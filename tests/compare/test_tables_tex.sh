#!/usr/bin/env bash
# tables.tex compiles with LaTeX: the tables of tests/tables, and those of a comparison with names that contain LaTeX
# special characters. Nothing exceeds the text width of an article.
set -eu
if ! command -v pdflatex >/dev/null || ! kpsewhich booktabs.sty >/dev/null; then
    echo "no pdflatex with booktabs here: skipped"
    exit 77
fi

fail() {
    echo "$*" >&2
    exit 1
}

# FOLDER: compiles its tables.tex.
compile() {
    cat >"$1/document.tex" <<'TEX'
\documentclass{article}
\usepackage{booktabs}
\begin{document}
\input{tables}
\end{document}
TEX
    (cd "$1" && pdflatex -interaction=nonstopmode -halt-on-error document.tex >said 2>&1) ||
        fail "$1: $(grep -A 3 '^!' "$1/said" || tail -n 5 "$1/said")"
    ! grep -E '^Overfull' "$1/said" || fail "$1: too wide"
    [ -s "$1/document.pdf" ] || fail "$1: no document"
}

for table in "$SOURCE"/tests/compare/tables/*.tex; do
    name=$(basename "$table" .tex)
    mkdir "$name"
    cp "$table" "$name/tables.tex"
    compile "$name"
done

# Checks that this test can fail.
mkdir wrong
printf '\\begin{tabular}{l}\nnet_1 & 2 \\\\\n\\end{tabular}\n' >wrong/tables.tex
! (compile wrong) 2>/dev/null || fail "LaTeX takes anything"

if "$SFUMATO" --version | grep -q '^  sqlite *no'; then
    echo "no SQLite in this build: no comparison is compiled"
    exit 0
fi
odd='a_b #50% & ~^{x}$é\<y>'
"$SFUMATO" data make -o "$odd.safetensors" --nodes 1700 --classes 3 --vocabulary 50 --words 8 --seed 7 >/dev/null
"$SFUMATO" compare "$odd.safetensors" --nets 'sgcn,smooth^2(norm=row, self=0.5) | softmax' --splits 2 --trials 2 \
    --sizes 1,60 --quiet -o results >/dev/null
mkdir compared
cp results/tables.tex compared/
grep -q 'net 1: smooth.textasciicircum{}2(norm=row' compared/tables.tex || fail "$(cat compared/tables.tex)"
compile compared
echo "compiled by $(pdflatex --version | sed 1q)"
