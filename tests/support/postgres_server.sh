#!/bin/bash
# A separate PostgreSQL server for a test, in its own folder, with a socket in it. It ends when the process that started
# it
# ends.
#   postgres_server.sh make PID            a new server; prints its folder; exit status 77 if none is available
#   postgres_server.sh start|stop FOLDER   stops it (at once, as in a crash) and starts it again
#   postgres_server.sh crash FOLDER        kills all its processes (SIGKILL)
#   postgres_server.sh freeze|thaw FOLDER  suspends all its processes (SIGSTOP), and resumes them
# Its database is postgresql://sfumato@/postgres?host=FOLDER; the user `locked` has the password "right horse". With
# LISTEN=ADDRESS,... it also listens there, on port 5432, and lets everybody in.
set -u

binaries=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
if [ -z "$binaries" ] && command -v initdb >/dev/null; then
    binaries=$(dirname "$(command -v initdb)")
fi

# The server refuses to run as root.
as_user() {
    if [ "$(id -u)" = 0 ]; then
        runuser -u "$user" -- "$@"
    else
        "$@"
    fi
}
if [ "$(id -u)" = 0 ]; then
    user=nobody
    id postgres >/dev/null 2>&1 && user=postgres
fi

start() {
    (cd "$1" && as_user "$binaries/pg_ctl" start -s -w -t 60 -D "$1/data" -l "$1/log" >/dev/null </dev/null)
}

# SIGNAL FOLDER: to the server and all its processes.
signal_all() {
    local first
    first=$(head -n 1 "$2/data/postmaster.pid" 2>/dev/null) || return 0
    kill -s "$1" "$first" $(pgrep -P "$first") 2>/dev/null
}

# The first process starts no others from then on, so that the second round reaches all.
freeze() {
    signal_all STOP "$1"
    signal_all STOP "$1"
}
thaw() { signal_all CONT "$1"; }
crash() {
    local first processes process
    freeze "$1"
    first=$(head -n 1 "$1/data/postmaster.pid")
    processes="$first $(pgrep -P "$first")"
    kill -9 $processes
    for process in $processes; do # nobody may wait for them, so that they stay as zombies
        while [ -e "/proc/$process" ] && ! grep -qs '^State:.Z' "/proc/$process/status"; do
            sleep 0.02
        done
    done
    rm -f "$1/data/postmaster.pid" "$1"/.s.PGSQL.*.lock # the number of a zombie looks like that of a server
}

stop() {
    thaw "$1" || true # what is frozen cannot be stopped
    (cd "$1" && as_user "$binaries/pg_ctl" stop -s -w -m immediate -D "$1/data" >/dev/null 2>&1)
}

# Ends the server when the process has ended.
watch() {
    while kill -0 "$2" 2>/dev/null; do
        sleep 0.2
    done
    stop "$1"
    rm -rf "$1"
}

make() {
    if [ ! -x "$binaries/initdb" ] || { [ "$(id -u)" = 0 ] && ! command -v runuser >/dev/null; }; then
        echo "no PostgreSQL server is installed here (Debian: postgresql)" >&2
        return 77
    fi
    local folder
    folder=$(mktemp -d /tmp/sfumato-postgres.XXXXXX) || return 1 # short: the path of a socket is
    chmod 755 "$folder"
    [ "$(id -u)" = 0 ] && chown "$user" "$folder"
    if ! (cd "$folder" && as_user "$binaries/initdb" -N -A trust -U sfumato --locale=C -E UTF8 data) \
            >"$folder/initdb.log" 2>&1; then
        cat "$folder/initdb.log" >&2
        rm -rf "$folder"
        return 1
    fi
    cat >>"$folder/data/postgresql.conf" <<END
listen_addresses = '${LISTEN:-}'
unix_socket_directories = '$folder'
shared_buffers = 16MB
fsync = ${FSYNC:-off}
deadlock_timeout = 100ms
END
    sed -i '1i local all locked scram-sha-256' "$folder/data/pg_hba.conf"
    [ -z "${LISTEN:-}" ] || echo 'host all all all trust' >>"$folder/data/pg_hba.conf"
    start "$folder" || { cat "$folder/log" >&2; rm -rf "$folder"; return 1; }
    setsid bash "$0" watch "$folder" "$1" >/dev/null 2>&1 </dev/null &
    "$binaries/psql" -q -h "$folder" -U sfumato postgres -c "CREATE ROLE locked LOGIN PASSWORD 'right horse'" || return 1
    echo "$folder"
}

"$@"
