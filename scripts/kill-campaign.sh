#!/bin/sh
# Kills programs that share a store, at random moments, and checks that nothing saved is lost.
#   kill-campaign.sh [--count N] [--seed S] [--driver radv|fault|system] [--build DIR] ...
exec python3 "$(dirname "$0")/../tests/programs/kill_campaign.py" "$@"
