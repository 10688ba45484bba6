#!/usr/bin/env bash
# report.html in a real browser: Chromium, headless, from a file. The checks are in report_browser.html.
if [ "$BUILD_KIND" != plain ]; then
    echo "not for this machine, or under sanitizers: skipped"
    exit 77
fi
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$chromium" ] || ! command -v gnuplot >/dev/null; then
    echo "no Chromium or no gnuplot here: skipped"
    exit 77
fi

browse() {
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
        --allow-file-access-from-files --user-data-dir="$PWD/profile" --enable-logging=stderr --v=0 "$@"
}

# The browser's output includes the messages of its console.
no_errors() {
    if grep -E 'CONSOLE' "$1"; then
        echo "the console is not empty"
        exit 1
    fi
}

for names in tame hostile; do
    "$BUILD/tests/test_report" "$PWD/$names" "$names"
    cp "$SOURCE/tests/support/report_browser.html" "$names/look.html"
    if ! browse --virtual-time-budget=20000 --dump-dom "file://$PWD/$names/look.html" >"$names.html" 2>"$names.log"; then
        if ! grep -q 'id="found"' "$names.html"; then
            tail -n 3 "$names.log"
            echo "Chromium does not run here: skipped"
            exit 77
        fi
    fi
    sed -n '/<pre id="found">/,/<\/pre>/p' "$names.html"
    if ! grep -q '^end</pre>' "$names.html" || grep -q 'WRONG ' <(sed -n '/<pre id="found">/,/<\/pre>/p' "$names.html"); then
        exit 1
    fi
    no_errors "$names.log"
done

# Keys as a person presses them.
if command -v python3 >/dev/null; then
    timeout 120 python3 "$SOURCE/tests/support/report_keyboard.py" "$chromium" "$PWD/keys" "file://$PWD/tame/report.html" 2>keys.log
else
    echo "no python3 here: no keys are pressed"
fi

# Checks that console messages are captured.
cat >alarm.html <<'PAGE'
<!DOCTYPE html><meta charset="utf-8"><script>console.log('the console is heard')</script>
PAGE
browse --virtual-time-budget=2000 --dump-dom "file://$PWD/alarm.html" >/dev/null 2>alarm.log
grep -q 'CONSOLE.*the console is heard' alarm.log

# Screenshots for inspection: REPORT_PICTURES=folder keeps them.
pictures=${REPORT_PICTURES:-$PWD/pictures}
mkdir -p "$pictures"
for width in 1280 390; do
    for scheme in light dark; do
        # A window is at least 500 pixels wide: a narrower page is tested in a frame.
        echo "<!DOCTYPE html><body style='margin:0'><iframe src='tame/report.html' style='border:0;width:${width}px;height:12000px'></iframe>" >frame.html
        browse --blink-settings=preferredColorScheme=$([ $scheme = dark ] && echo 0 || echo 1) \
            --window-size="$((width < 500 ? 500 : width)),12000" --screenshot="$pictures/$scheme-$width.png" \
            "file://$PWD/frame.html" >/dev/null 2>picture.log
        no_errors picture.log
        test -s "$pictures/$scheme-$width.png"
    done
done
cmp -s "$pictures/light-1280.png" "$pictures/dark-1280.png" && echo "light and dark look the same" && exit 1
echo "report.html works in $("$chromium" --version 2>/dev/null)"
