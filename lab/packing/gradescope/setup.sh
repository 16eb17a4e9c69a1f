#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of the autograder: a Python that is
# new enough, the runner of the checks, and a user without rights for the submissions to run as.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() {
  for name in ${AUTOGRADER_PYTHON:-python3} python3.13 python3.12 python3.11; do
    if new_enough "$name"; then command -v "$name" && return; fi
  done
  return 1
}

if ! python=$(find_python); then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3.11 python3.11-venv
  python=$(find_python)
fi

if ! "$python" -c 'import pytest, pytest_timeout' 2>/dev/null; then
  if ! "$python" -m venv "$root/venv"; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$(basename "$python")-venv"
    "$python" -m venv "$root/venv"
  fi
  "$root/venv/bin/python" -m pip install --quiet pytest pytest-timeout
  python=$root/venv/bin/python
fi
echo "$python" >"$root/source/python"

if [ "$(id -u)" = 0 ] && ! id student >/dev/null 2>&1; then
  useradd --no-create-home --shell /usr/sbin/nologin student || true  # else: nobody
fi
echo "ready: $("$python" --version)"
