#!/bin/bash -eu
# builds
name=${1:-"it's"} # default
files=$(ls "${DIR:-.}" | grep -v '#' # inner
)
cat <<-'END' <<OTHER >&2 # both
	# text $HOME
	END
more `here`
OTHER
((n = 1 << 2)) && echo "$((n + 1)) $(echo "a # b")" $'\'' a#b \# # end
case $name in
  a|b) echo one;; # why
  *) tr a-z A-Z <<<"$name" ;;
esac
