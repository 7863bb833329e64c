# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the programs of the virtual machines share: where things lie, which kernels there are.
#
#   VM_DIR=DIR         work files, logs and rows; build/vm where it is not set
#   VM_CACHE=DIR       downloaded kernels and the base system; build/vm where it is not set
#   SOJOURN_BUILD=DIR  takes DIR/sojourn and DIR/tests/* in the place of ./sojourn and
#                      build/tests/*
#   VM_MIRROR=URL, VM_SECURITY_MIRROR=URL
#                      Debian's archives, where this machine's own sources do not name them

# The scripts read what is set here.
# shellcheck disable=SC2034
set -euo pipefail

work_dir=$(realpath -m "${VM_DIR:-$(dirname "${BASH_SOURCE[0]}")/../../build/vm}")
cache_dir=$(realpath -m "${VM_CACHE:-$(dirname "${BASH_SOURCE[0]}")/../../build/vm}")
build_dir=${SOJOURN_BUILD:+$(realpath -m "$SOJOURN_BUILD")}
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2

tests=${build_dir:-build}/tests sojourn=${build_dir:-.}/sojourn

# Name, suite of Debian, package that stands for the newest kernel there; the tests that are
# run in it where none are named: all that differ by kernel in each, the rest where it is quick.
list_kernels() {
	cat <<-'END'
		bullseye          bullseye            linux-image-cloud-amd64  smoke trees run
		bookworm          bookworm            linux-image-cloud-amd64  smoke trees truths run
		backports         bookworm-backports  linux-image-cloud-amd64  smoke trees truths appear
		sid               sid                 linux-image-cloud-amd64  smoke trees run
		bookworm-rt       bookworm            linux-image-rt-amd64     smoke trees
		bookworm-generic  bookworm            linux-image-amd64        smoke trees function_hook suite
	END
}

kernel_names() {
	list_kernels | awk '{ print $1 }'
}

# find_kernel NAME: sets suite, package and usual_tests.
find_kernel() {
	local name

	while read -r name suite package usual_tests; do
		[[ $name == "$1" ]] && return 0
	done < <(list_kernels)
	echo "vm: unknown kernel '$1'; there are: $(kernel_names | paste -sd ' ')" >&2
	exit 2
}

# A cpio archive, of all below a folder, that the kernel unpacks as root's.
make_cpio() {
	(cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
		cpio --quiet -o -0 -H newc -R 0:0)
}

# stage ROOT FILE...: copies files to where they lie on this machine, whose /bin and /lib
# are links to those in /usr; a symbolic link stays one.
stage() {
	local root=$1 file folder

	shift
	for file in "$@"; do
		folder=$(realpath "$(dirname "$file")")
		mkdir -p "$root$folder"
		cp -a "$file" "$root$folder/"
	done
}

# The shared libraries that programs need, each once.
libraries_of() {
	ldd "$@" 2>/dev/null | sed -n -E 's/^.*(=> |\t)(\/[^ ]+) \(0x.*/\2/p' | sort -u
}

# stage_libraries ROOT PROGRAM...: under the names by which they are asked for.
stage_libraries() {
	local root=$1 library folder

	shift
	while read -r library; do
		folder=$(realpath "$(dirname "$library")")
		mkdir -p "$root$folder"
		cp -L "$library" "$root$folder/"
	done < <(libraries_of "$@")
}
