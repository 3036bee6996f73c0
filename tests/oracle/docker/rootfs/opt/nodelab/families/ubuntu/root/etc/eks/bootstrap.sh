#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Stand-in for the bootstrap script of Canonical's EKS images, written anew. Against Amazon Linux 2's:
#   * no --service-ipv4-cidr (SERVICE_IPV4_CIDR is read from the environment), --containerd-config-file, --local-disks, --mount-bpf-fs,
#     --enable-local-outpost, --cluster-id: unknown words become leftovers, and the first leftover is the cluster name;
#   * one DNS IP; with ipv6 a given one is always overwritten; the IP family is not lower-cased;
#   * kubelet is a snap: settings through `snap set`, extra arguments as its `args`, no systemd drop-in;
#   * kubeReserved, evictionHard and maxPods still go into kubelet-config.json.
set -o errexit -o nounset -o pipefail
shopt -s inherit_errexit

mkdir -p /run/recorded
run=1
while ! (set -o noclobber; : > "/run/recorded/bootstrap-$run.argv") 2> /dev/null; do run=$((run + 1)); done
[[ $# -eq 0 ]] || printf '%s\0' "$@" > "/run/recorded/bootstrap-$run.argv"
env -0 > "/run/recorded/bootstrap-$run.environment"

fail() { echo "$1" >&2; exit 1; }

leftovers=()
use_max_pods=true ca='' api_endpoint='' extra_args='' docker_bridge=false dns_ip='' pause_account=602401143452 pause_version=3.5
runtime=containerd ip_family='' cidr6='' cidr4=${SERVICE_IPV4_CIDR:-}
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) echo "usage: bootstrap.sh [flags] <cluster-name>"; exit 1 ;;
    --use-max-pods) use_max_pods=$2; shift 2 ;;
    --b64-cluster-ca) ca=$2; shift 2 ;;
    --apiserver-endpoint) api_endpoint=$2; shift 2 ;;
    --kubelet-extra-args) extra_args=$2; shift 2 ;;
    --enable-docker-bridge) docker_bridge=$2; shift 2 ;;
    --aws-api-retry-attempts | --docker-config-json) shift 2 ;;
    --dns-cluster-ip) dns_ip=$2; shift 2 ;;
    --pause-container-account) pause_account=$2; shift 2 ;;
    --pause-container-version) pause_version=$2; shift 2 ;;
    --container-runtime) runtime=$2; shift 2 ;;
    --ip-family) ip_family=$2; shift 2 ;;
    --service-ipv6-cidr) cidr6=$2; shift 2 ;;
    *) leftovers+=("$1"); shift ;;
  esac
done
cluster=${leftovers[0]:-}

snap stop kubelet-eks
case $runtime in containerd | dockerd | nvidia-container-runtime) ;; *) fail "container runtime $runtime is not supported" ;; esac
[[ -n $cluster ]] || fail "CLUSTER_NAME is not defined"
[[ -z $ip_family || $ip_family == ipv4 || $ip_family == ipv6 ]] || fail "invalid IP family $ip_family"
[[ $ip_family != ipv6 || -n $cidr6 ]] || fail "IP family ipv6 needs the service IPv6 CIDR"

token=$(curl -sS -f -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 900' http://169.254.169.254/latest/api/token)
imds() { curl -sS -f -H "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"; }
if [[ -z $api_endpoint || -z $ca ]]; then
  aws eks wait cluster-active --name "$cluster"
  aws eks describe-cluster --name "$cluster"
fi

mkdir -p /etc/kubernetes/pki
base64 -d <<< "$ca" > /etc/kubernetes/pki/ca.crt
kubeconfig=/var/lib/kubelet/kubeconfig
sed -i "s,MASTER_ENDPOINT,$api_endpoint,g" "$kubeconfig"
sed -i "s,CLUSTER_NAME,$cluster,g" "$kubeconfig"
sed -i "s,AWS_REGION,$(imds placement/region),g" "$kubeconfig"

if [[ $ip_family == ipv6 ]]; then
  dns_ip=${cidr6%%/*}a
elif [[ -z $dns_ip && -n $cidr4 ]]; then
  dns_ip=${cidr4%.*}.10
elif [[ -z $dns_ip ]]; then
  dns_ip=10.100.0.10
  ! imds "network/interfaces/macs/$(imds mac)/vpc-ipv4-cidr-blocks" | grep -q '^10\.' || dns_ip=172.20.0.10
fi

config=/etc/kubernetes/kubelet/kubelet-config.json
edit() { python3 -I -B /opt/nodelab/kubelet_config.py "$@"; }
pods=$(edit max-pods "$(imds instance-type)")
vcpus=$(cat /etc/nodelab/vcpus 2> /dev/null || echo 2)
edits=(
  'evictionHard={"memory.available":"100Mi","nodefs.available":"10%","nodefs.inodesFree":"5%"}'
  "kubeReserved=$(edit reserved "${pods:-110}" "$vcpus")"
)
[[ $use_max_pods != true ]] || edits+=("maxPods=${pods:-110}")
edit edit "$config" "${edits[@]}"

if [[ $ip_family == ipv6 ]]; then
  address=$(imds "network/interfaces/macs/$(imds mac)/ipv6s")
else
  address=$(imds local-ipv4)
fi
if $docker_bridge; then echo "docker bridge asked for" >&2; fi
options=(
  address=0.0.0.0
  anonymous-auth=false
  authentication-token-webhook=true
  authorization-mode=Webhook
  cgroup-driver=cgroupfs
  client-ca-file=/etc/kubernetes/pki/ca.crt
  cloud-provider=external
  cluster-dns="$dns_ip"
  cluster-domain=cluster.local
  config="$config"
  container-runtime-endpoint=unix:///run/containerd/containerd.sock
  feature-gates=RotateKubeletServerCertificate=true
  hostname-override="$(imds hostname)"
  image-credential-provider-bin-dir=/etc/eks/ecr-credential-provider
  image-credential-provider-config=/etc/eks/ecr-credential-provider/config.json
  kubeconfig="$kubeconfig"
  node-ip="$address"
  pod-infra-container-image="$pause_account.dkr.ecr.$(imds placement/region).$(imds services/domain)/eks/pause:$pause_version"
  register-node=true
  resolv-conf=/run/systemd/resolve/resolv.conf
)
[[ -z $extra_args ]] || options+=(args="$extra_args")
snap set kubelet-eks "${options[@]}"
snap start --enable kubelet-eks
