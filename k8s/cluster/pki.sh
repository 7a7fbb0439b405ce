#!/usr/bin/env bash
# Creates the certificates of the cluster, and a kubeconfig for each client of its API server.
set -euo pipefail
. "$(dirname "$0")/settings.sh"
mkdir -p "$PKI" "$CLIENTS"
cd "$PKI"

quietly() { "$@" 2>/dev/null; }

certificate() { # name, subject, extended key usage[, subject alternative names]
  quietly openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2"
  printf 'extendedKeyUsage=%s\n%s\n' "$3" "${4:+subjectAltName=$4}" >"$1.ext"
  quietly openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile "$1.ext" -out "$1.crt"
}

client() { # name, subject
  certificate "$1" "$2" clientAuth
  cat >"$CLIENTS/$1.conf" <<Y
apiVersion: v1
kind: Config
clusters: [{name: slotmesh, cluster: {server: "$API_URL", certificate-authority: $PKI/ca.crt}}]
users: [{name: $1, user: {client-certificate: $PKI/$1.crt, client-key: $PKI/$1.key}}]
contexts: [{name: $1@slotmesh, context: {cluster: slotmesh, user: $1}}]
current-context: $1@slotmesh
Y
}

quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.crt -subj /CN=kubernetes-ca -days 2
quietly openssl genrsa -out service-accounts.key 2048
quietly openssl rsa -in service-accounts.key -pubout -out service-accounts.pub

names=DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local
certificate apiserver /CN=kube-apiserver serverAuth "IP:127.0.0.1,IP:$NODE_IP,IP:$API_SERVICE_IP,$names"
certificate kubelet-server "/CN=$NODE" serverAuth "IP:$NODE_IP,DNS:$NODE"
certificate apiserver-to-kubelet /O=system:masters/CN=apiserver-to-kubelet clientAuth
certificate front-proxy-client /CN=front-proxy-client clientAuth

client admin /O=system:masters/CN=admin
client controller-manager /CN=system:kube-controller-manager
client scheduler /CN=system:kube-scheduler
client kube-proxy /CN=system:kube-proxy
client kubelet "/O=system:nodes/CN=system:node:$NODE"
