#!/usr/bin/env bash
# A GPU against tests/digests.txt and the processor of this machine: trainings, studies and a comparison must have the same
# bytes, also after they were killed or interrupted; compute-sanitizer must find nothing. Not part of the tests, which use
# an emulated driver.
#   usage: tests/gpu.sh SFUMATO POPULATION SAME_BYTES DATASET...
# where the first three are build/sfumato, build/bench/population and build/tests/test_same_bytes, or commands of several
# words. Prints one line per check and ends with 1 if one failed.
set -uo pipefail
[ $# -ge 4 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
read -ra sfumato <<<"$1"
read -ra population <<<"$2"
read -ra same_bytes <<<"$3"
shift 3
datasets=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

check() { # check WHAT COMMAND...: one line
    local what=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        echo "ok      $what"
    else
        echo "FAILED  $what"
        tail -5 "$folder/log" | sed 's/^/        /'
        failed=1
    fi
}

same_model() { # same_model DATASET NET: the model files of both devices
    for device in cpu cuda; do
        "${sfumato[@]}" train "$1" "$2" --epochs 30 --device $device -q --force -o "$folder/$device.safetensors" || return 1
        "${sfumato[@]}" predict "$1" "$folder/$device.safetensors" --device $device -q --force -o "$folder/$device.csv" || return 1
    done
    cmp "$folder/cpu.safetensors" "$folder/cuda.safetensors" && cmp "$folder/cpu.csv" "$folder/cuda.csv"
}

study() { # study DEVICE FILE CSV [OPTION...]
    "${sfumato[@]}" tune "${datasets[0]}" gcn --trials 200 --seed 3 --study "$2" --device "$1" --export "$3" -q --force \
        "${@:4}"
}

same_study() { # same_study [OPTION...]
    study cpu memory "$folder/cpu.csv" "$@" && study cuda memory "$folder/gpu.csv" "$@" &&
        cmp <(cut -d, -f1-9 "$folder/cpu.csv") <(cut -d, -f1-9 "$folder/gpu.csv")
}

killed_study() { # killed three times, then finished: the same trials
    for wait in 1 1.5 2; do
        study cuda "$folder/killed.db" "$folder/killed.csv" &
        sleep $wait
        pkill -9 -f "$folder/killed.db"
        wait $! 2>"$folder/wait"
    done
    study cuda "$folder/killed.db" "$folder/killed.csv" && study cpu memory "$folder/cpu.csv" &&
        cmp <(cut -d, -f1-9 "$folder/cpu.csv") <(cut -d, -f1-9 "$folder/killed.csv")
}

same_comparison() {
    for device in cpu cuda; do
        "${sfumato[@]}" compare "${datasets[0]}" --nets gcn,sgcn,mlp+lp,lpnn --trials 20 --lpnn-trials 4 --splits 2 \
            --device $device -o "$folder/compare-$device" -q || return 1
    done
    cmp <(sed 's/,[^,]*$//' "$folder/compare-cpu/results.csv" | cut -d, -f1-12) \
        <(sed 's/,[^,]*$//' "$folder/compare-cuda/results.csv" | cut -d, -f1-12)
}

interrupted_comparison() { # all labels of the last dataset: ends within 3 s of SIGINT, and continues to the same results
    local compare=(compare "${datasets[-1]}" --nets 'gcn,mlp+lp' --trials 200 --splits 4 --sizes 5 --device cuda) code=0 begin
    "${sfumato[@]}" "${compare[@]}" -o "$folder/whole" -q || return 1
    # A background job of a script ignores SIGINT, unless the default is restored.
    env --default-signal=INT "${sfumato[@]}" "${compare[@]}" -o "$folder/stopped" -q &
    local process=$!
    until compgen -G "$folder/stopped/studies/*" >/dev/null || ! kill -0 $process; do sleep 0.1; done
    sleep 1
    begin=$(date +%s%N)
    kill -INT $process
    wait $process || code=$?
    local ms=$((($(date +%s%N) - begin) / 1000000))
    echo "exit $code, $ms ms after the signal"
    [ $code -eq 130 ] && [ $ms -le 3000 ] && "${sfumato[@]}" "${compare[@]}" -o "$folder/stopped" -q &&
        cmp "$folder/whole/results.csv" "$folder/stopped/results.csv"
}

same_digests() { # those of tests/digests.txt, on the processor and on the GPU
    SOURCE=$(dirname "$0")/.. "${same_bytes[@]}" | tee "$folder/digests" && grep -q 'also on cuda:0 (NVIDIA' "$folder/digests"
}

same_population() { # every training has the processor's parameters
    "${population[@]}" --check --trainings 24 --epochs 40 --patience 15 --nets "$2" "$1" | tee "$folder/population" &&
        [ "$(grep -c '3 of 3' "$folder/population")" -eq "$(tr ',' '\n' <<<"$2" | grep -c .)" ]
}

sanitizer() { # sanitizer TOOL
    "${sfumato[@]}" data make -o "$folder/small.safetensors" --nodes 300 --vocabulary 40 -q --force &&
        compute-sanitizer --tool "$1" --error-exitcode 1 "${population[@]}" --trainings 2 --epochs 1 --nets gcn,sgcn+lp,lpnn \
            "$folder/small.safetensors" &&
        for metric in macro-f1 auc; do
            compute-sanitizer --tool "$1" --error-exitcode 1 "${sfumato[@]}" tune "$folder/small.safetensors" sgcn \
                --trials 2 --epochs 2 --metric $metric --study memory --device cuda -q || return 1
        done
}

measured() { # measured DATASET: every rate is positive, and no pass is faster than its lower bound
    "${sfumato[@]}" bench "$1" gcn --device cuda --json -q >"$folder/bench.json" && python3 - "$folder/bench.json" <<'PY'
import json, sys
bench = json.load(open(sys.argv[1]))
assert bench["measured_on"].startswith("cuda:0 ("), bench["measured_on"]
assert all(rate["value"] > 0 for rate in bench["rates"]), bench["rates"]
for key in ("train", "evaluate", "predict"):
    assert 0 < bench[key]["floor_s"] <= bench[key]["measured_s"], (key, bench[key])
PY
}

check "tests/digests.txt" same_digests
for dataset in "${datasets[@]}"; do
    check "populations of $(basename "$dataset")" same_population "$dataset" gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp
done
check "populations of citation: lpnn" same_population citation lpnn
for net in gcn sgcn mlp+lp lpnn 'lpnn(f=clamp, input=x, output=f)' 'smooth(learn=self+right) | dense 16 relu | smooth(learn=left) | softmax'; do
    check "model and predictions: $net" same_model "${datasets[0]}" "$net"
done
check "a study of 200 trials" same_study
for metric in macro-f1 balanced-accuracy auc average-precision; do
    check "a study of 100 trials by $metric" same_study --trials 100 --metric $metric
done
check "the same study, killed three times" killed_study
check "a comparison" same_comparison
check "a comparison, interrupted" interrupted_comparison
check "bench" measured "${datasets[0]}"
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
        check "compute-sanitizer $tool" sanitizer $tool
    done
else
    echo "skipped compute-sanitizer: not installed"
fi
exit $failed
