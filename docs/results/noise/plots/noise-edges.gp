# Results; "gnuplot FILE" in this folder draws it again.
svg = 'noise-edges.svg'
csv = 'noise-edges.csv'
set datafile separator comma
set terminal svg name 'sfumato' dynamic font 'Helvetica,Arial,sans-serif,14' noenhanced size 560,454
if (!exists('out')) out = svg
set output out

set border 3 lw 1 lc rgb '#767676'
set tics nomirror out scale 0.5 textcolor rgb '#767676'
set grid ytics lt 1 lw 0.6 lc rgb '#b4b4b4'
set errorbars 0
set title 'Accuracy and noisy edges' textcolor rgb '#767676' font ',16'
set xlabel '% of edges removed (left) or rewired (right)' textcolor rgb '#767676' offset 0,0.2
set ylabel 'mean test accuracy, %' textcolor rgb '#767676' offset 1,0
set bmargin 8.6
set key at screen 0.5, 0.02 bottom center horizontal maxcols 4 Left reverse samplen 1.5 spacing 1.2 width -2 textcolor rgb '#767676'
set yrange [0 < *:* < 100]
set xrange [0.5:11.5]
set offsets 0, 0, graph 0.04, graph 0.04
set xtics rotate by 40 right ('50' 1, '40' 2, '30' 3, '20' 4, '10' 5, '0' 6, '10' 7, '20' 8, '30' 9, '40' 10, '50' 11)

plot csv skip 1 using ($1 == 0 ? $2 + -0.2800 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 7 ps 0.9 lc rgb '#0072b2' title 'gcn', \
     csv skip 1 using ($1 == 1 ? $2 + -0.2000 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 5 ps 0.9 lc rgb '#d55e00' title 'sgcn', \
     csv skip 1 using ($1 == 2 ? $2 + -0.1200 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 9 ps 0.9 lc rgb '#009e73' title 'fp+mlp', \
     csv skip 1 using ($1 == 3 ? $2 + -0.0400 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 11 ps 0.9 lc rgb '#cc79a7' title 'sgcn+lp', \
     csv skip 1 using ($1 == 4 ? $2 + 0.0400 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 13 ps 0.9 lc rgb '#e69f00' title 'gcn+lp', \
     csv skip 1 using ($1 == 5 ? $2 + 0.1200 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 15 ps 0.9 lc rgb '#56b4e9' title 'linear+lp', \
     csv skip 1 using ($1 == 6 ? $2 + 0.2000 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 6 ps 0.9 lc rgb '#8f6fd1' title 'mlp+lp', \
     csv skip 1 using ($1 == 8 ? $2 + 0.2800 : NaN):3:4:5 with yerrorlines lt 1 lw 1.6 pt 8 ps 0.9 lc rgb '#0072b2' title 'learned'
