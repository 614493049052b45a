# The modules that the pages for users print: README.md and those of examples/guide. Sourced by readme.sh and slang.sh.
td_page_modules='first second parts third fourth'

# td_page_module ROOT NAME [text]: the module NAME.sv, or the block of text that follows it.
td_page_module() {
  awk -v head="\`\`\`systemverilog $2.sv" -v text="${3:-}" '
    $0 == head { seen = 1; inside = text == ""; next }
    /^```/ { if (inside) exit; inside = seen && text != "" && $0 == "```text"; next }
    inside' "$1/README.md" "$1"/examples/guide/*.md
}
