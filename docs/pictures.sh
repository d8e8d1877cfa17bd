#!/usr/bin/env bash
# Draws the pictures of README and docs: docs/pictures.sh ESPALIER FOLDER [NAME] (./espalier pictures:
# here). With NAME it draws that one.
set -euo pipefail
program=$1
folder=$2
only=${3:-}
robots=$(cd "$(dirname "$0")/../robots" && pwd)

# draw NAME ROBOT OPTIONS...
draw() {
  if [[ -n $only && $1 != "$only" ]]; then return; fi
  "$program" view "$robots/$2" --png "$folder/viewer_$1.png" --size 1200x800 "${@:3}"
}
draw mini_cheetah mini_cheetah_geared.yaml --root floating --camera 40,18,1.5
draw tello tello.yaml --camera 35,12,1.5
draw four_bar_leg four_bar_leg.yaml --camera -70,10,1.5
draw rod_ankle rod_ankle.yaml --camera -50,15,1.4
