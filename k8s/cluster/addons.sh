#!/usr/bin/env bash
# Starts the addons of `run --with`.
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh

definitions() {
  mapfile -t files < <(sed 's/^/--filename=/' "$CLUSTER_HOME/crds")
  kubectl apply --server-side "${files[@]}" >/dev/null
  kubectl wait --for=condition=Established crd --all --timeout=60s >/dev/null
}

deployment() { # name
  kubectl apply --filename "manifests/$1.yaml" >/dev/null
  wait_for 240 kubelet kubectl --namespace kube-system rollout status "deployment/$1" --timeout=1s
}

# kube-router only filters packets: the bridge connects the pods, and kube-proxy the services.
policies() {
  start kube-router env NODE_NAME=$NODE kube-router --kubeconfig="$CLIENTS/admin.conf" --run-firewall=true --run-router=false \
    --run-service-proxy=false --run-loadbalancer=false --service-cluster-ip-range=$SERVICE_CIDR --hostname-override=$NODE \
    --iptables-sync-period=30s --health-port=0 --metrics-port=0
}

mesh() {
  kubectl create namespace istio-system >/dev/null
  helm template istiod "$(./istio)/manifests/charts/istio-control/istio-discovery" --namespace istio-system --values manifests/istio.yaml |
    kubectl apply --filename - >/dev/null
  wait_for 240 kubelet kubectl --namespace istio-system rollout status deployment/istiod --timeout=1s
}

# kwok reports nodes with the annotation kwok.x-k8s.io/node=fake as ready, and pods on them as running.
fakes() {
  start kwok kwok --kubeconfig="$CLIENTS/admin.conf" --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake --node-lease-duration-seconds=0
}

! with crds || definitions
! with traefik || deployment traefik
! with traefik || ! with crds || kubectl apply --filename manifests/gateway-class.yaml >/dev/null
! with skipper || deployment skipper
! with kube-router || policies
! with istio || mesh
! with metrics-server || deployment metrics-server
! with kwok || fakes
