# shellcheck shell=bash
# A real PostgreSQL through which processes share work; sourced by tests. Sets `server` (its folder), `url` and the
# functions below. It ends with the test.
if [ "${BUILD_KIND:-plain}" = cross ] || "$SFUMATO" --version | grep -qE '^  (sqlite|postgresql) *no'; then
    echo "needs a native build with SQLite and PostgreSQL: skipped"
    exit 77
fi
server=$(bash "$SOURCE/tests/support/postgres_server.sh" make $$) || exit $?
# shellcheck disable=SC2034 # used by the tests
url="postgresql://sfumato@/postgres?host=$server"

# SQL: its rows.
ask() { psql -X -A -t -q -h "$server" -U sfumato postgres -c "$1"; }
# The number of items of work that are finished.
finished() { ask 'SELECT count(*) FROM sfumato_studies WHERE result IS NOT NULL' 2>/dev/null || echo 0; }
