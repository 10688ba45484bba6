#!/usr/bin/env bash
# Draws the epochs of a race: the seven networks on Cora and Pubmed, milliseconds on a logarithmic axis, one core each.
#   usage: bench/race_plot.sh RACE.csv OUT.svg     RACE.csv: what bench/race --out FOLDER writes; needs gnuplot
# The drawing has no background, and colours that can be read on a light and on a dark one.
set -euo pipefail
if [ $# != 2 ] || [ ! -f "$1" ]; then
    echo "usage: bench/race_plot.sh RACE.csv OUT.svg" >&2
    exit 2
fi
table=$1
out=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nets='gcn sgcn fp+mlp sgcn+lp gcn+lp linear+lp mlp+lp'

# One line a network: its place from the top, and who's median, lower and upper quartile on one core.
series() { # DATASET WHO FILE
    awk -F'"' -v dataset="$1" -v who="$2, 1 core" -v nets="$nets" '
        BEGIN { count = split(nets, list, " "); for (i = 1; i <= count; i++) place[list[i]] = count - i }
        $2 == who {
            split($1, key, ",")
            split($3, value, ",")
            if (key[1] == "epochs" && key[2] == dataset && key[3] in place) print place[key[3]], value[2], value[3], value[4]
        }' "$table" >"$folder/$3-$1"
    [ -s "$folder/$3-$1" ] || echo '0 NaN NaN NaN' >"$folder/$3-$1"
}
for dataset in cora pubmed; do
    series $dataset floor floor
    series $dataset sfumato ours
    series $dataset 'PyTorch, pruned' pruned
    series $dataset 'PyTorch, tuned' tuned
    series $dataset 'PyTorch, plain' plain
    series $dataset PyG pyg
done
ticks=$(awk -v nets="$nets" 'BEGIN { count = split(nets, list, " ")
    for (i = 1; i <= count; i++) printf "%s\"%s\" %d", (i > 1 ? ", " : ""), toupper(list[i]), count - i }' | sed 's/LINEAR/Linear/')

gnuplot - <<END
set terminal svg size 900,400 dynamic enhanced font "sans-serif,13"
set output "$folder/race.svg"
grey = "#7d8590"
set border 1 linecolor rgb grey
set tics textcolor rgb grey nomirror
set logscale x
set xtics format "%g" textcolor rgb grey
set ytics ($ticks) scale 0
set yrange [-0.6:6.6]
set xrange [0.01:1000]
set grid xtics linecolor rgb grey linewidth 0.4 dashtype 3
set xlabel "ms per epoch, one core" textcolor rgb grey
set key off
set style line 1 linecolor rgb "#e8590c" pointtype 7 pointsize 1.1
set style line 2 linecolor rgb "#1c7ed6" pointtype 5 pointsize 0.8
set style line 3 linecolor rgb "#15aabf" pointtype 9 pointsize 0.9
set style line 4 linecolor rgb "#9c6ade" pointtype 11 pointsize 0.9
set style line 5 linecolor rgb "#2b9e4f" pointtype 13 pointsize 1.0
set style line 6 linecolor rgb grey pointtype 2 pointsize 0.6
set label 1 "sfumato" at screen 0.06, 0.07 point linestyle 1 offset 1.2, -0.25 textcolor rgb grey
set label 2 "PyTorch, pruned by hand" at screen 0.165, 0.07 point linestyle 2 offset 1.2, -0.25 textcolor rgb grey
set label 3 "PyTorch, CSR" at screen 0.395, 0.07 point linestyle 3 offset 1.2, -0.25 textcolor rgb grey
set label 4 "PyTorch, COO" at screen 0.54, 0.07 point linestyle 4 offset 1.2, -0.25 textcolor rgb grey
set label 5 "PyTorch Geometric" at screen 0.69, 0.07 point linestyle 5 offset 1.2, -0.25 textcolor rgb grey
set label 6 "floor" at screen 0.875, 0.07 point linestyle 6 offset 1.2, -0.25 textcolor rgb grey
set multiplot
do for [i = 0:1] {
    name = i == 0 ? "cora" : "pubmed"
    file(who) = "$folder/" . who . "-" . name
    set title (i == 0 ? "Cora" : "Pubmed") textcolor rgb grey offset 0, -0.6
    set lmargin at screen (i == 0 ? 0.105 : 0.575)
    set rmargin at screen (i == 0 ? 0.505 : 0.975)
    set tmargin at screen 0.91
    set bmargin at screen 0.27
    if (i == 1) { unset ytics; unset label }
    plot file("floor") using 2:1 with points linestyle 6, \
        file("pyg") using 2:1 with points linestyle 5, file("plain") using 2:1 with points linestyle 4, \
        file("tuned") using 2:1 with points linestyle 3, file("pruned") using 2:1 with points linestyle 2, \
        file("ours") using 2:1 with points linestyle 1
}
unset multiplot
END
mkdir -p "$(dirname "$out")"
cp "$folder/race.svg" "$out"
