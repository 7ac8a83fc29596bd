#!/usr/bin/env bash
# Makes the secrets of the stack on a manager node: random passwords, a certificate authority of its own and the stores'
# certificates, each in a file of the folder that is named (default .fencepost/stack/secrets), and hands them to Swarm.
# What is there stays. The card provider's two have to be put into the folder before.
set -euo pipefail
umask 077
cd "$(dirname "$0")/../.."
folder=${1:-.fencepost/stack/secrets}
mkdir -p "$folder"
cd "$folder"

for given in card-provider-key card-provider-webhook-secret; do
    [ -s "$given" ] || {
        echo "Put the card provider's $given into the file $folder/$given, without a line's end, and run this again." >&2
        exit 1
    }
done

password() {
    [ -s "$1" ] || openssl rand -base64 33 | tr -d '\n' | tr '+/' '-_' >"$1"
}

certificate() {
    [ -s "$1.crt" ] && return
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -subj "/CN=$1" 2>/dev/null |
        openssl x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 -out "$1.crt" \
            -extfile <(printf 'subjectAltName=DNS:%s,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n' "$1") 2>/dev/null
}

for name in postgres redis kafka order-owner order-app payment-owner payment-app billing-owner billing-app; do
    password "$name-password"
done
[ -s ca.pem ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
    -keyout ca.key -out ca.pem -subj "/CN=fencepost stack" 2>/dev/null
for name in postgres redis kafka; do
    certificate "$name"
done
cat kafka.key kafka.crt >kafka.pem
word=$(cat kafka-password)
printf '%s\n' 'KafkaServer {' '    org.apache.kafka.common.security.plain.PlainLoginModule required' \
    "    username=\"fencepost\" password=\"$word\" user_fencepost=\"$word\";" '};' >kafka-jaas

for name in *-password ca.pem postgres.crt postgres.key redis.crt redis.key kafka.pem kafka-jaas card-provider-key \
    card-provider-webhook-secret; do
    if ! docker secret inspect "fencepost-$name" >/dev/null 2>&1; then
        docker secret create "fencepost-$name" "$name" >/dev/null
        echo "made the secret fencepost-$name"
    fi
done
echo "All secrets are there. Keep $folder in a safe place, or delete it: ca.key signs the next certificates."
