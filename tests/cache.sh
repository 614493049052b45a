# Where tests keep what they fetch, outside the tree, how they say that something cannot be had, and how they make
# containers of other Debians. Sourced.
td_cache=${TD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tensordoor}

td_skip() {
  echo "skipped: $1"
  exit 77
}

# td_alone FOLDER: waits until no other run uses the container of that folder, and says which one it waits for: two in
# one container would copy their trees over each other. The lock is held until this shell ends.
td_alone() {
  test "${td_held:-}" != "$1" || return 0
  mkdir -p "$(dirname "$1")"
  exec {td_lock}>>"$1.lock"
  flock --nonblock "$td_lock" || {
    echo "waiting for the container $1, which another run has: $(cat "$1.lock")"
    flock "$td_lock"
  }
  echo "$0, process $$, since $(date '+%F %T')" >"$1.lock"
  td_held=$1
}

# td_container FOLDER SUITE PACKAGES PROBE: a container of that Debian, unless FOLDER/PROBE says that it is there
# already. From here on it is this run's alone.
td_container() {
  test "$(id -u)" = 0 || td_skip "a container is made by root"
  td_alone "$1"
  test ! -e "$1/$4" || return 0
  command -v mmdebstrap >/dev/null || {
    echo "installing what is missing: mmdebstrap"
    apt-get install -y --no-install-recommends -q mmdebstrap >/dev/null || td_skip "mmdebstrap is not installed"
  }
  echo "making a container of Debian $2 in $1"
  mkdir -p "$td_cache"
  rm -rf "$1.new"
  mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include="$3" "$2" "$1.new" >"$1.log" 2>&1 ||
    td_skip "no container: $(tail -1 "$1.log")"
  mv "$1.new" "$1"
}

# td_copy_tree COPY: the tree, with the times of the files, so that a second run of one commit builds only what has
# changed; another commit, or another clone of it, starts anew.
td_copy_tree() {
  local copy=$1 stamp
  stamp="$PWD $(git rev-parse HEAD)"
  test "$(cat "$copy/build/stamp" 2>/dev/null)" = "$stamp" || rm -rf "$copy/build"
  mkdir -p "$copy/build"
  echo "$stamp" >"$copy/build/stamp"
  find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -co --exclude-standard | while read -r file; do test ! -e "$file" || echo "$file"; done |
    tar -cf - -T - | tar -xf - -C "$copy"
}
