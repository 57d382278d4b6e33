#!/bin/sh
# A player as a shell script: plays each time the next number among its legal moves.
#
#     cardai match tictactoe --seats 'process:sh examples/agents/player.sh,random'

turn=0
while read -r line; do
  case $line in
    '{"type":"hello"'*) echo '{"cardai":1,"name":"in turn","wants":["count"]}' ;;
    '{"type":"move"'*)
      count=${line##*\"count\":}
      count=${count%%[!0-9]*}
      turn=$((turn + 1))
      echo "{\"move\":$((turn % count))}" ;; # an answer without an id is to the oldest question
  esac
done
