# UVM's sources, 1800.2-2017 1.0 and 2020 3.1, each with and without its DPI, from the source package of Verilator in
# Debian sid. Sourced after tests/cache.sh by every script that compiles or parses UVM.
td_uvm=$td_cache/uvm

# td_uvm_fetch: downloads them once. It needs neither a container nor root, because apt uses lists and a cache of its
# own here.
td_uvm_fetch() {
  test ! -e "$td_uvm/uvm_macros.svh" || return 0
  command -v apt-get >/dev/null || td_skip "UVM's sources come through apt"
  local new=$td_uvm.$$ mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/$' | head -1)
  test -n "$mirror" || td_skip "apt knows no mirror of Debian for UVM's sources"
  echo "fetching UVM's sources to $td_uvm"
  mkdir -p "$new/apt/lists/partial" "$new/apt/archives/partial"
  echo "deb-src $mirror sid main" >"$new/apt/sources.list"
  local apt=(apt-get -q -o Dir::Etc::SourceList="$new/apt/sources.list" -o Dir::Etc::SourceParts=-
    -o Dir::State::Lists="$new/apt/lists" -o Dir::Cache="$new/apt" -o Acquire::Check-Valid-Until=false
    -o Acquire::Languages=none -o APT::Sandbox::User=root)
  (cd "$new/apt" && "${apt[@]}" update && "${apt[@]}" source --download-only --tar-only verilator &&
    tar -xf verilator_*.orig.tar.* -C "$new" --wildcards --strip-components=4 '*/test_regress/t/uvm/*') \
    >"$td_uvm.log" 2>&1 || {
    rm -rf "$new"
    td_skip "UVM's sources cannot be fetched: $(tail -1 "$td_uvm.log")"
  }
  rm -rf "$new/apt"
  # There each version of UVM is one file, macros included; they are defined for whatever is compiled after it.
  echo "// The macros came with the package." >"$new/uvm_macros.svh"
  mv "$new" "$td_uvm"
}

# td_uvm_first_test ROOT FILE: copies the first test of sv/uvm/README.md into FILE, which tb_uvm.sv includes.
td_uvm_first_test() {
  awk '/^```systemverilog first_test.svh/ {inside = 1; next} /^```/ {inside = 0} inside' \
    "$1/sv/uvm/README.md" >"$2"
}
