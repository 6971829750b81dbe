#!/usr/bin/env bash
# Bring one machine to what compose.yaml says, the first time and every time after:  ./deploy.sh [--profile monitoring …]
# Old workers go on while the schema is migrated; each container is given its time to finish what it runs.
set -euo pipefail
cd "$(dirname "$0")"
umask 077

if [[ ! -f .env ]]; then
  echo "making .env with random passwords"
  while IFS= read -r line; do
    case "$line" in
      *_PASSWORD= | *_PEPPER= | *_KEYS=) echo "$line$(openssl rand -hex 32)" ;;
      *) echo "$line" ;;
    esac
  done <.env.example >.env.new
  mv .env.new .env
fi

docker compose version >/dev/null 2>&1 || { echo "docker with its compose plugin is needed: https://docs.docker.com/engine/install" >&2; exit 2; }

docker compose "$@" build migrate
docker compose up --detach --wait postgres
docker compose run --rm migrate

# Prometheus reads the server's metrics with a key for nothing else, which its user in the container alone can read.
readonly PROMETHEUS=65534
mkdir -p secrets
chmod 711 secrets
if [[ "$(stat --format %a:%u secrets/metrics_key 2>/dev/null)" != "400:$PROMETHEUS" ]]; then
  [[ ! -e secrets/metrics_key ]] || echo "making a new key for Prometheus: revoke the old one (keys list --operator)"
  as_root=()
  ((EUID == 0)) || as_root=(sudo)
  key=$(docker compose run --rm --no-deps --no-TTY server keys create prometheus --operator --scope metrics)
  "${as_root[@]}" install -m 400 -o "$PROMETHEUS" -g "$PROMETHEUS" /dev/stdin secrets/metrics_key <<<"$key"
fi

docker compose "$@" up --detach --wait --remove-orphans
docker compose "$@" ps
docker compose run --rm --no-deps --no-TTY server doctor
