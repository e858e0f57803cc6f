# Makes a running nats-server read its configuration again whenever one of these files has changed:
#   sh reload-nats.sh <file with its process id> <seconds between two looks> <file>...
# A change counts as read once the server has been signalled. A server that does not run yet is
# signalled at the next look. A server that has just started has read the same files, so its first
# signal changes nothing.
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
