#!/usr/bin/env bash
# Builds the wheel for the other architecture and runs it there, in an emulator: a Python from Debian's packages,
# unpacked and not installed, with numpy and scipy from PyPI. The model must have the same bytes as on this machine.
#   usage: scripts/python_cross.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build-python
status=0
scripts/wheel.sh --cross || status=$?
if [ "$status" = 77 ]; then
    echo "skipped: the Python package for the other architecture (no wheel)"
    exit 0
fi
[ "$status" = 0 ] || exit "$status"

case $(uname -m) in
x86_64) arch=aarch64 debian=arm64 ;;
*) arch=x86_64 debian=amd64 ;;
esac
root=$work/python-$arch
packages=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1 libffi8 liblzma5 libstdc++6 libuuid1)
if [ ! -e "$root/complete" ]; then
    rm -rf "$root"
    mkdir -p "$root/debs"
    if ! (cd "$root/debs" && apt-get -q download "${packages[@]/%/:$debian}") >"$work/python-$arch.log" 2>&1 ||
        ! "$work/tools/bin/pip" download -q --only-binary :all: --python-version 3.11 --implementation cp --abi cp311 \
            --platform "manylinux_2_28_$arch" --platform "manylinux_2_27_$arch" --platform "manylinux_2_17_$arch" \
            -d "$root/wheels" numpy scipy >>"$work/python-$arch.log" 2>&1; then
        echo "skipped: the Python package for the other architecture (no Python, numpy or scipy for it)"
        exit 0
    fi
    for package in "$root"/debs/*.deb; do
        dpkg -x "$package" "$root"
    done
    touch "$root/complete"
fi

# Unpacks wheels into a folder, as pip would.
rm -rf "$root/site"
python3 - "$root/site" "$root"/wheels/*.whl "$work/dist-$arch"/*.whl <<'PY'
import os, sys, zipfile
for wheel in sys.argv[2:]:
    zipfile.ZipFile(wheel).extractall(sys.argv[1])
os.chmod(f"{sys.argv[1]}/sfumato/bin/sfumato", 0o755)
PY

cat >"$root/smoke.py" <<'PY'
import sys
import sfumato
g = sfumato.load("citation")
sfumato.GraphClassifier("gcn", hidden=16, random_state=5).fit(g, split="standard").save(sys.argv[1])
g = sfumato.Graph.from_scipy(g.adjacency[:300, :300], g.features[:300], g.labels[:300])
print(len(sfumato.tune(g, "sgcn", space="practical", trials=2)), sfumato.Labeler("steps:1").fit(g).net_)
PY
libraries=$root/usr/lib/$arch-linux-gnu:$root/lib/$arch-linux-gnu
PYTHONHOME=$root/usr PYTHONPATH=$root/site "qemu-$arch" -E LD_LIBRARY_PATH="$libraries" \
    "$root/usr/bin/python3.11" "$root/smoke.py" "$root/theirs.safetensors"
"qemu-$arch" "$root/site/sfumato/bin/sfumato" train citation gcn --hidden 16 --seed 5 -o "$root/program.safetensors" \
    --force --quiet >/dev/null
cmp "$root/theirs.safetensors" "$root/program.safetensors"
if [ -x "$work/venv/bin/sfumato" ]; then
    "$work/venv/bin/python" "$root/smoke.py" "$root/ours.safetensors" >/dev/null
    cmp "$root/theirs.safetensors" "$root/ours.safetensors"
fi
echo "the Python package works on $arch, with the same bytes"
