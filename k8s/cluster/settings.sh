# Settings that the scripts of the cluster share. They source this file; `run` sets CLUSTER_HOME to the directory of the cluster.
NODE=slotmesh
NODE_IP=10.244.0.1 # address of the bridge of the pods; the API server refuses to advertise a loopback address
POD_CIDR=10.244.0.0/24
SERVICE_CIDR=10.96.0.0/16
API_SERVICE_IP=10.96.0.1
DNS_SERVICE_IP=10.96.0.10 # also in manifests/coredns.yaml
API_URL=https://$NODE_IP:6443
ETCD_URL=http://127.0.0.1:2379

PKI=$CLUSTER_HOME/pki
CLIENTS=$CLUSTER_HOME/clients # a kubeconfig for each client of the API server
CONTAINERD=$CLUSTER_HOME/containerd/containerd.sock

# start NAME COMMAND...: runs COMMAND in the background; its output goes to logs/NAME.
start() {
  local name=$1
  shift
  setsid "$@" >>"$CLUSTER_HOME/logs/$name" 2>&1 </dev/null &
  echo $! >"$CLUSTER_HOME/pids/$name"
}

# with ADDON: succeeds if the cluster has the addon.
with() { [[ $CLUSTER_ADDONS == *" $1 "* ]]; }

# wait_for SECONDS NAME COMMAND...: repeats COMMAND until it succeeds. Fails at the deadline, or when the process NAME has ended.
wait_for() {
  local deadline=$((SECONDS + $1)) name=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! kill -0 "$(cat "$CLUSTER_HOME/pids/$name")" 2>/dev/null; then
      echo "$name stopped. The last lines of its log:" && tail -5 "$CLUSTER_HOME/logs/$name"
      return 1
    fi >&2
    if [ $SECONDS -ge $deadline ]; then
      echo "timeout: $*. The last lines of the log of $name:" && tail -5 "$CLUSTER_HOME/logs/$name"
      return 1
    fi >&2
    sleep 0.2
  done
}
