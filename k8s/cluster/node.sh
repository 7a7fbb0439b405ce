#!/usr/bin/env bash
# Starts the only node: containerd with the images of $CLUSTER_HOME/images, kubelet and kube-proxy. Then creates
# volumes, and CoreDNS as a pod.
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh

# Istio's CNI plugin redirects the traffic of pods in the mesh to their proxies, so that no pod needs NET_ADMIN.
pod_network() {
  mkdir -p "$CLUSTER_HOME/cni" "$CLUSTER_HOME/cni-programs"
  ln -s /usr/lib/cni/* "$CLUSTER_HOME/cni-programs/"
  local mesh=
  if [[ $CLUSTER_ADDONS == *" istio "* ]]; then
    ln -s "$(type -P istio-cni)" "$CLUSTER_HOME/cni-programs/"
    mkdir "$CLUSTER_HOME/istio-cni"
    ln -s "$KUBECONFIG" "$CLUSTER_HOME/istio-cni/istio-cni-kubeconfig"
    mesh=", {\"type\": \"istio-cni\", \"cni_agent_run_dir\": \"$CLUSTER_HOME/istio-cni\", \"exclude_namespaces\": [\"istio-system\", \"kube-system\"]}"
  fi
  cat >"$CLUSTER_HOME/cni/pods.conflist" <<Y
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$CLUSTER_HOME/ipam",
            "ranges": [[{"subnet": "$POD_CIDR", "rangeStart": "10.244.0.10"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}$mesh]}
Y
}

# Without CAP_SYS_RESOURCE, no process may lower its OOM score. The three settings named oom avoid this.
container_runtime() {
  mkdir -p "$CLUSTER_HOME/containerd"
  cat >"$CLUSTER_HOME/containerd.toml" <<T
version = 2
root = "$CLUSTER_HOME/containerd/root"
state = "$CLUSTER_HOME/containerd/state"
oom_score = 0
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "$CONTAINERD"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$CLUSTER_HOME/cni-programs"
    conf_dir = "$CLUSTER_HOME/cni"
T
  start containerd containerd -c "$CLUSTER_HOME/containerd.toml"
  wait_for 60 containerd ctr -a "$CONTAINERD" version
}

node_agent() {
  mkdir -p "$CLUSTER_HOME/static-pods"
  cat >"$CLUSTER_HOME/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE_IP
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $PKI/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $PKI/kubelet-server.crt
tlsPrivateKeyFile: $PKI/kubelet-server.key
containerRuntimeEndpoint: unix://$CONTAINERD
cgroupDriver: cgroupfs
cgroupRoot: $CLUSTER_CGROUP
clusterDNS: [$DNS_SERVICE_IP]
clusterDomain: cluster.local
resolvConf: $CLUSTER_HOME/resolv.conf
failSwapOn: false
healthzBindAddress: 127.0.0.1
readOnlyPort: 0
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 100Mi, nodefs.available: 200Mi, imagefs.available: 200Mi, nodefs.inodesFree: 1%}
maxPods: 200
syncFrequency: 5s
nodeStatusUpdateFrequency: 5s
staticPodPath: $CLUSTER_HOME/static-pods
podLogsDir: $CLUSTER_HOME/pod-logs
volumePluginDir: $CLUSTER_HOME/volume-plugins
oomScoreAdj: 0
Y
  : >"$CLUSTER_HOME/resolv.conf"
  start kubelet kubelet --config="$CLUSTER_HOME/kubelet.yaml" --kubeconfig="$CLIENTS/kubelet.conf" \
    --root-dir="$CLUSTER_HOME/kubelet" --cert-dir="$CLUSTER_HOME/kubelet/pki" --hostname-override=$NODE --node-ip=$NODE_IP
}

service_network() {
  cat >"$CLUSTER_HOME/kube-proxy.yaml" <<Y
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
bindAddress: 127.0.0.1
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
clientConnection: {kubeconfig: $CLIENTS/kube-proxy.conf}
clusterCIDR: $POD_CIDR
hostnameOverride: $NODE
mode: iptables
iptables: {minSyncPeriod: 100ms}
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
oomScoreAdj: 0
Y
  start kube-proxy kube-proxy --config="$CLUSTER_HOME/kube-proxy.yaml"
}

# The cluster has no volume provisioner. A few volumes are created in advance, for claims without a class.
volumes() {
  kubectl apply --filename - >/dev/null <<'Y'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
Y
  local n
  for n in {1..6}; do
    mkdir -p "$CLUSTER_HOME/volumes/$n"
    kubectl apply --filename - >/dev/null <<Y
apiVersion: v1
kind: PersistentVolume
metadata: {name: local-$n}
spec:
  storageClassName: local
  capacity: {storage: 20Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  local: {path: $CLUSTER_HOME/volumes/$n}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$NODE]}]}]}
Y
  done
}

pod_network
container_runtime
./load-images "$CLUSTER_HOME"/images/*.tar
node_agent
service_network
wait_for 240 kubelet kubectl wait --for=condition=Ready "node/$NODE" --timeout=1s
volumes
kubectl apply --filename manifests/coredns.yaml >/dev/null
wait_for 240 kubelet kubectl --namespace kube-system rollout status deployment/coredns --timeout=1s
