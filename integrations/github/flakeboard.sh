#!/bin/sh
# Fetches Flakeboard's client and runs the tests under it, or asks the gate about a step that ran before.
#
#   FLAKEBOARD_URL, FLAKEBOARD_PROJECT, FLAKEBOARD_TOKEN   as everywhere
#   FLAKEBOARD_COMMAND      the command that runs the tests; empty: they ran before
#   FLAKEBOARD_EXIT_CODE    what they exited with; without it the reports are sent and nothing is asked
#   FLAKEBOARD_REPORT       where the reports are, a pattern a line
#   FLAKEBOARD_RETRIES      auto, or how often to rerun a failing test
#   FLAKEBOARD_SHA256       the client's hash, if it is pinned
#
# If the client cannot be fetched, the tests run without it and every exit code stays what it is.
set -u
set -f

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
client=$folder/flakeboard.pyz

fetch() {
  curl -fsSL --max-time 20 -o "$client" "${FLAKEBOARD_URL:?}/client/flakeboard.pyz" || return 1
  [ -z "${FLAKEBOARD_SHA256:-}" ] || echo "$FLAKEBOARD_SHA256  $client" | sha256sum -c - >/dev/null
}

is_plain() {
  case $1 in
    *[\;\&\|\<\>\`\$\(\)]* | *"
"*) return 1 ;;
  esac
}

patterns() {
  printf '%s\n' "${FLAKEBOARD_REPORT:-}" | sed 's/^[[:space:]]*//; s/[[:space:]]*$//; /^$/d'
}

command=${FLAKEBOARD_COMMAND:-}
code=${FLAKEBOARD_EXIT_CODE:-}

if ! fetch; then
  if [ "${GITHUB_ACTIONS:-}" = true ]; then mark="::warning::"; else mark="warning: "; fi
  echo "${mark}Flakeboard cannot be reached, or its client is not the one that was pinned: it is not asked." >&2
  if [ -n "$command" ]; then
    sh -e -c "$command"
    exit $?
  fi
  exit "${code:-0}"
fi

newline='
'
if [ -n "$command" ]; then
  # A plain command is handed over word by word, so that the client knows its runner; any other goes through a shell.
  if is_plain "$command"; then eval "set -- $command"; else set -- sh -e -c "$command"; fi
  set -- -- "$@"
  IFS=$newline
  for pattern in $(patterns); do set -- --report "$pattern" "$@"; done
  unset IFS
  [ -z "${FLAKEBOARD_RETRIES:-}" ] || set -- --retries "$FLAKEBOARD_RETRIES" "$@"
  python3 "$client" run "$@"
  exit $?
fi

set --
IFS=$newline
for pattern in $(patterns); do set -- "$@" "$pattern"; done
unset IFS
if [ -n "$code" ]; then
  python3 "$client" gate --exit-code "$code" "$@"
else
  python3 "$client" upload "$@"
fi
