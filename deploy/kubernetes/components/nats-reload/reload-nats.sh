# Has a running nats-server read its configuration again whenever one of these files has changed:
#   sh reload-nats.sh <file with its process id> <seconds between two looks> <file>...
# What was seen counts as read once the server has been signalled: one that is not there yet is signalled at the next look. A server that
# has started by itself has read the same files, and the first signal changes nothing.
pid_file=$1
interval=$2
shift 2
seen=''
while true; do
  now=$(cat "$@" | sha256sum)
  if [ "$now" != "$seen" ] && pid=$(cat "$pid_file") && kill -HUP "$pid"; then
    echo "files have changed: nats-server ($pid) reads its configuration again"
    seen=$now
  fi
  sleep "$interval"
done
