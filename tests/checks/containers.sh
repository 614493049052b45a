# Two runs in one container: the second waits for the first, and says for whom.
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/go"
touch "$work/first" "$work/second"
enter='. "$1"/tests/cache.sh; td_alone "$2"; td_alone "$2"; echo in; read -r _ <"$3"; echo out'

bash -c "$enter" first.sh "$root" "$work/sid" "$work/go" >"$work/first" &
first=$!
until grep -q in "$work/first"; do kill -0 $first; sleep 0.1; done
bash -c "$enter" second.sh "$root" "$work/sid" /dev/null >"$work/second" &
second=$!
until grep -q waiting "$work/second"; do kill -0 $second; sleep 0.1; done
if grep -q '^in$' "$work/second"; then
  echo "the second run did not wait"
  exit 1
fi
echo >"$work/go"
wait $first
wait $second
sed -i 's/process [0-9]*, since [-0-9 :]*$/process P, since T/' "$work/second"
cat >"$work/needed" <<END
waiting for the container $work/sid, which another run has: first.sh, process P, since T
in
out
END
diff "$work/needed" "$work/second"
