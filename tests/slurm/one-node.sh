#!/bin/sh
# Start a Slurm cluster of one node on loopback: no systemd, no cgroups, no accounting database.
#
#     tests/slurm/one-node.sh FOLDER
#
# Everything it writes lies in FOLDER, which must be empty or missing. Needs root and Debian's Slurm
# (install.sh). Returns when the node is idle. one_node.py ends what runs here.
set -eu
PATH=$PATH:/usr/sbin
here=$(dirname "$(realpath "$0")")
folder=$(realpath -m "$1")
host=$(hostname -s)
if ! getent ahostsv4 "$host" | grep -q '^127\.'; then
    echo "error: $host is not on loopback: add a line '127.0.1.1 $host' to /etc/hosts" >&2
    exit 1
fi
mkdir -p "$folder"
mkdir "$folder/state" "$folder/spool" "$folder/bin"

# As long as RealMemory stays below what the node finds, Slurm keeps the node.
memory=$(awk '/^MemTotal/ { print int($2 / 1024 * 9 / 10) }' /proc/meminfo)
# Two ports of loopback that nobody uses, below those that the kernel gives to connections: one of
# these could take the port before Slurm does.
ports=$(python3 -c 'import random, socket
free = []
while len(free) < 2:
    try:
        free.append(socket.create_server(("127.0.0.1", random.randrange(10_000, 32_000))))
    except OSError:
        pass
print(*(it.getsockname()[1] for it in free))')
sed -e "s|{folder}|$folder|" -e "s|{host}|$host|g" -e "s|{cpus}|$(nproc)|" -e "s|{memory}|$memory|" \
    -e "s|{controller_port}|${ports% *}|" -e "s|{node_port}|${ports#* }|" \
    "$here/slurm.conf.template" >"$folder/slurm.conf"

# The plugin's job step drops every SLURM_ variable, SLURM_CONF too, before it calls srun.
printf '#!/bin/sh\nSLURM_CONF=%s exec /usr/bin/srun "$@"\n' "$folder/slurm.conf" >"$folder/bin/srun"
chmod 755 "$folder/bin/srun"

# munge, with which Slurm's daemons recognise each other, with a key of our own. --force: the folder
# may lie below one that everybody may write to, as /tmp.
(umask 377 && head -c 128 /dev/urandom >"$folder/munge.key")
munged --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/munge.seed"
export SLURM_CONF="$folder/slurm.conf"
slurmctld
slurmd
for _ in $(seq 600); do
    [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ] && exit 0
    sleep 0.1
done
echo "error: waited 60 s in vain for the node to be idle" >&2
exit 1
