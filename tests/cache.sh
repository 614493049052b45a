# Where tests keep what they fetch, outside the tree, and how they say that something cannot be had. Sourced.
td_cache=${TD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tensordoor}

td_skip() {
  echo "skipped: $1"
  exit 77
}
