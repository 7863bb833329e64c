#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# twice.sh TEST: run a test; where it fails, once more, and show what it said first. The CPUs of
# an emulated machine are stopped whenever the host has other work, which no limit of time
# can be wide enough for. trees.sh does the same for single trees.
test=$1
first=/tmp/first-attempt

[[ $test == */trees.sh ]] && exec bash "$test"
bash "$test" >$first 2>&1
status=$?
if [[ $status -eq 0 ]] && ! grep -q '^FAILED - ' $first; then
	cat $first
	exit 0
fi
sed -e 's/^FAILED - /  first: /' -e '/^ok - /d' -e '/^row /d' -e 's/^skipped - /  first: skipped /' $first
echo "  ended with $status; once more"
exec bash "$test"
