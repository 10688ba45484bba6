# A study on a graph of Cora's size uses less than 60 MB per worker, for any widths and networks: the caches of
# workers are bounded, and plans are shared.
limit=60 # MB per worker
if [ "$BUILD_KIND" != plain ]; then
    echo "skipped: sanitizers and emulators have memory of their own"
    exit 77
fi

peak() { # JOBS NET SPACE: MB of a study of 48 short trials
    rm -f study.db*
    "$BUILD/bench/measure" "$SFUMATO" tune citation "$2" --space "$3" --trials 48 --epochs 4 --jobs "$1" \
        --study study.db --quiet 2>measured.err | awk '{ printf "%.0f", $3 * 1.048576 }'
}

wrong=0
while read -r net space; do
    for jobs in 1 4; do
        mb=$(peak "$jobs" "$net" "$space")
        echo "$net, $jobs workers: $mb MB"
        [ "$mb" -lt $((limit * jobs)) ] || { echo "that is $limit MB a worker or more"; wrong=1; }
    done
done <<END
gcn paper hidden={16,32,64,128}
any paper hidden={16,32,64,128}
lpnn paper
END
exit $wrong
