#!/usr/bin/env bash
# Several processes tune one study in a SQLite file, one of them is killed, and the result equals that of a single
# process, byte for byte; no temporary files remain.
. "$SOURCE/tests/support/transcript.sh"

workers=4 trials=96
case ${BUILD_KIND:-plain} in
sanitized | cross) trials=32 ;;
esac

"$SFUMATO" data make -o small.safetensors --nodes 300 --classes 3 --vocabulary 40 --words 6 --seed 7 >/dev/null
tune() {
    exec "$SFUMATO" tune small.safetensors any --space 'practical k=[1..3]' --epochs 8 --wave 8 --trials $trials -q "$@"
}
for sampler in tpe random; do
    (tune --sampler $sampler --study memory --export alone_$sampler.csv >/dev/null)
done

for round in 1 2 3 4; do
    sampler=tpe
    [ $round -lt 4 ] || sampler=random
    rm -f study.db* worker*.csv
    processes=()
    for i in $(seq 0 $workers); do
        (tune --sampler $sampler --jobs 1 --study study.db --study-name shared --export "worker$i.csv" >/dev/null 2>"error$i") &
        processes+=($!)
    done
    if command -v sqlite3 >/dev/null; then # the later the round, the later the kill
        wait_until "[ \"\$(sqlite3 study.db 'SELECT count(*) FROM trials' 2>/dev/null || echo 0)\" -ge $((8 * round)) ]" "${processes[0]}"
    fi
    kill -9 "${processes[0]}" 2>/dev/null || true
    wait "${processes[0]}" 2>/dev/null || true
    for i in $(seq $workers); do
        wait "${processes[i]}" || {
            if grep -q 'no SQLite' "error$i"; then
                echo "skipped: this build has no SQLite" >&2
                exit 77
            fi
            fail "worker $i: $(cat "error$i")"
        }
        cmp alone_$sampler.csv "worker$i.csv" || fail "worker $i of round $round came to something else"
    done
    if command -v sqlite3 >/dev/null; then
        # A worker that was killed after the last trial was claimed is detected by the next one.
        (tune --sampler $sampler --jobs 1 --study study.db --study-name shared >/dev/null)
        left=$(sqlite3 study.db 'SELECT (SELECT count(*) FROM sfumato_workers) + (SELECT count(*) FROM sfumato_claims)')
        [ "$left" = 0 ] || fail "$left rows of workers and claims are left"
    fi
done
