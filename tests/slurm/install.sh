#!/bin/sh
# Install Debian's Slurm and munge if they are missing. Starts none of their services.
set -eu
for program in slurmctld slurmd sbatch srun munged; do
    command -v "$program" >/dev/null || missing=yes
done
[ -n "${missing:-}" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "error: Slurm is missing; as root on Debian run: apt-get install slurmctld slurmd slurm-client munge" >&2
    exit 1
fi

# The packages start services of their own unless this file forbids it; ours run in the test's folder.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT INT TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
echo "Installing Slurm and munge ..."
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    slurmctld slurmd slurm-client munge >/dev/null
