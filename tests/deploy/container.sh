#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The steps of the Containerfile, where there may be neither an engine for containers nor a
# registry: each FROM is a fresh Debian 12 by debootstrap, each RUN is run in it by chroot.
# Then sojourn export is run from the image with the capabilities that daemonset.yaml adds.
source "$(dirname "$0")/lib.sh"

file=deploy/container/Containerfile
manifest=deploy/kubernetes/daemonset.yaml
image=debian:12-slim
suite=bookworm

if ! have debootstrap yq curl; then
	skip "everything in this file: no $missing"
	exit 0
fi

# Its mounts are gone with it.
in_root() {
	local root=$1

	shift
	# The inner shell expands it.
	# shellcheck disable=SC2016
	unshare --mount --propagation slave bash -ec '
		root=$1
		shift
		mount --rbind /proc "$root/proc"
		mount --rbind /sys "$root/sys"
		exec chroot "$root" "$@"' in_root "$root" "$@"
}

# instructions: of the file, one a line, without comments.
instructions() {
	grep -vE '^(#|$)' $file | sed -e ':join' -e '/\\$/N; s/\\\n *//; tjoin'
}

from() {
	[[ $1 == "$image" ]] || return 1
	name=${3:-image} folder=/
	echo "  FROM $1: debootstrap $suite"
	cp -a "$work/base" "$work/$name"
}

# copy [--from=NAME] WHAT... WHERE
copy() {
	local source=. where=${*: -1}

	if [[ $1 == --from=* ]]; then
		source=$work/${1#--from=}
		shift
	fi
	[[ $where == /* ]] || where=$folder/$where
	[[ $# -eq 2 && $where != */ ]] || mkdir -p "$work/$name/$where"
	while [[ $# -gt 1 ]]; do
		if [[ -d $source/$1 ]]; then
			mkdir -p "$work/$name/$where" && cp -R "$source/$1/." "$work/$name/$where"
		else
			cp "$source/$1" "$work/$name/$where"
		fi || return
		shift
	done
}

perform() {
	local instruction=$1 text=$2 words

	read -ra words <<<"$text"
	case $instruction in
	FROM) from "${words[@]}" ;;
	COPY) copy "${words[@]}" ;;
	WORKDIR)
		folder=$text
		mkdir -p "$work/$name$folder"
		;;
	RUN)
		echo "  RUN $text"
		in_root "$work/$name" sh -ec "cd $folder; $text" >"$work/run.log" 2>&1 ||
			{ tail -n 5 "$work/run.log"; return 1; }
		;;
	USER | EXPOSE | STOPSIGNAL | ENTRYPOINT | CMD) ;;
	*) return 1 ;;
	esac
}

if ! debootstrap --variant=minbase $suite "$work/base" >"$work/debootstrap.log" 2>&1; then
	skip "everything in this file: debootstrap failed: $(tail -n 1 "$work/debootstrap.log")"
	exit 0
fi
while read -r instruction text; do
	perform "$instruction" "$text" && continue
	fail "$instruction $text"
	exit 1
done < <(instructions)
pass "each step of the Containerfile is done"
echo "  the image is $(du -sm "$work/image" | cut -f 1) MB, what it began from" \
	"$(du -sm "$work/base" | cut -f 1) MB"

# ---- the image, with the manifest's privileges ----

path='.spec.template.spec.containers[0]'
added=$(yq -r "[$path.securityContext.capabilities.add[] | ascii_downcase | \"+\" + .] |
	join(\",\")" $manifest)
mapfile -t arguments < <(yq -r "$path.args[]" $manifest | sed 's/\$(HOST_IP)/127.0.0.1/')
check "the manifest's capabilities are the unit's" test "-all,$added" = \
	"$(sed -n 's/^AmbientCapabilities=/-all /p' deploy/systemd/sojourn-export.service |
		tr '[:upper:]' '[:lower:]' | sed 's/ cap_/,+/g')"
entry=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' $file)

make_netns scraped
# The inner shell expands it.
# shellcheck disable=SC2016
become_in_netns scraped setpriv --inh-caps=-all --bounding-set "-all,$added,+sys_chroot,+setpcap" \
	unshare --mount --propagation slave bash -ec '
		mount --rbind /proc "$1/proc"
		mount --rbind /sys "$1/sys"
		mount -o remount,bind,ro "$1" 2>/dev/null || true
		exec chroot "$@"' image "$work/image" \
	/usr/bin/setpriv --bounding-set "-all,$added" --no-new-privs "$entry" "${arguments[@]}" \
	2>"$work/export.err" &
background+=("$!")
for ((tries = 0; tries < 200; tries++)); do
	in_netns scraped curl -fsS "http://$address/readyz" >/dev/null 2>&1 && break
	sleep 0.1
done
for probe in readinessProbe livenessProbe startupProbe; do
	check "$probe of the manifest is answered by 200" in_netns scraped curl -fsS -o /dev/null \
		"http://$address$(yq -r "$path.$probe.httpGet.path" $manifest)"
done
scrape "$work/metrics"
check "and so is a scrape" grep -q '^sojourn_build_info{' "$work/metrics"
sed 's/^/  /' "$work/export.err"
