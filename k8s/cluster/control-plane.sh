#!/usr/bin/env bash
# Starts etcd, the API server, the controller manager and the scheduler.
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh

# The bridge for the containers comes first, because it has the address on which all servers listen. Without a route to the
# services' addresses, connections of the node to them would fail before kube-proxy's rules apply.
network() {
  ip link set lo up
  ip link add cni0 type bridge
  ip addr add "$NODE_IP/24" dev cni0
  ip link set cni0 up
  ip route add "$SERVICE_CIDR" dev cni0
  sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
}

store() {
  start etcd etcd --name only --data-dir "$CLUSTER_HOME/etcd" --unsafe-no-fsync \
    --listen-client-urls "$ETCD_URL" --advertise-client-urls "$ETCD_URL" \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster only=http://127.0.0.1:2380
}

api_server() {
  # The API server refuses streaming lists, because Debian's etcd does not report the progress of a watch. With WatchList enabled,
  # kwok would therefore get changes only when it lists again, up to half a minute later.
  local gates=()
  ! with kwok || gates=(--feature-gates=WatchList=false)
  start kube-apiserver kube-apiserver "${gates[@]}" --etcd-servers="$ETCD_URL" --bind-address=$NODE_IP --advertise-address=$NODE_IP --secure-port=6443 \
    --client-ca-file="$PKI/ca.crt" --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$PKI/service-accounts.pub" \
    --service-account-signing-key-file="$PKI/service-accounts.key" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --service-cluster-ip-range=$SERVICE_CIDR \
    --kubelet-client-certificate="$PKI/apiserver-to-kubelet.crt" --kubelet-client-key="$PKI/apiserver-to-kubelet.key" \
    --kubelet-certificate-authority="$PKI/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --requestheader-client-ca-file="$PKI/ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$PKI/front-proxy-client.crt" --proxy-client-key-file="$PKI/front-proxy-client.key"
  wait_for 240 kube-apiserver kubectl get --raw /readyz
}

controllers() {
  local patience=() # kwok reports each of its nodes as ready every 20 to 25 seconds; a busy machine delays these reports
  ! with kwok || patience=(--node-monitor-grace-period=5m)
  start kube-controller-manager kube-controller-manager "${patience[@]}" --kubeconfig="$CLIENTS/controller-manager.conf" --bind-address=127.0.0.1 \
    --leader-elect=false --use-service-account-credentials --root-ca-file="$PKI/ca.crt" \
    --service-account-private-key-file="$PKI/service-accounts.key" --cluster-cidr=$POD_CIDR --service-cluster-ip-range=$SERVICE_CIDR \
    --cluster-signing-cert-file="$PKI/ca.crt" --cluster-signing-key-file="$PKI/ca.key"
  start kube-scheduler kube-scheduler --kubeconfig="$CLIENTS/scheduler.conf" --bind-address=127.0.0.1 --leader-elect=false
}

network
bash pki.sh
store
api_server
controllers
