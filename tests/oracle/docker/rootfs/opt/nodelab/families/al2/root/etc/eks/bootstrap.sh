#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Stand-in for the Amazon Linux 2 image's bootstrap script (behaviour of 2025, Kubernetes 1.24 and later), written anew.
# Imitated on purpose, because rendered user data must survive it:
#   * a flag's value is always the NEXT word; --flag=value and unknown words are leftovers, and the first leftover is the cluster name;
#   * kubelet's extra arguments are pasted raw between single quotes of an Environment= line;
#   * no extra arguments: a drop-in of an earlier run stays; use-max-pods false: an earlier maxPods stays;
#   * the kubeconfig's placeholders are replaced by an unescaped sed with commas, so a second run changes nothing;
#   * without endpoint or CA the AWS command line is asked.
# Left out: sleeps, retries, ECR host tables, Outposts, dockerd.
set -o errexit -o nounset -o pipefail
shopt -s inherit_errexit

mkdir -p /run/recorded
run=1
while ! (set -o noclobber; : > "/run/recorded/bootstrap-$run.argv") 2> /dev/null; do run=$((run + 1)); done
[[ $# -eq 0 ]] || printf '%s\0' "$@" > "/run/recorded/bootstrap-$run.argv"
env -0 > "/run/recorded/bootstrap-$run.environment"

help() { echo "usage: bootstrap.sh [flags] <cluster-name>"; }
fail() { echo "$1" >&2; exit 1; }

leftovers=()
api_endpoint='' ca='' cluster_id='' runtime='containerd' containerd_config='' dns_ips='' docker_bridge=false outpost=''
ip_family='' extra_args='' local_disks='' mount_bpf=true pause_account=602401143452 pause_version=3.5 cidr4='' cidr6='' use_max_pods=true
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) help; exit 1 ;;
    --apiserver-endpoint) api_endpoint=$2; shift 2 ;;
    --aws-api-retry-attempts) shift 2 ;;
    --b64-cluster-ca) ca=$2; shift 2 ;;
    --cluster-id) cluster_id=$2; shift 2 ;;
    --container-runtime) runtime=$2; shift 2 ;;
    --containerd-config-file) containerd_config=$2; shift 2 ;;
    --dns-cluster-ip) dns_ips=$2; shift 2 ;;
    --docker-config-json) echo "docker-config-json is ignored with containerd" >&2; shift 2 ;;
    --enable-docker-bridge) docker_bridge=$2; shift 2 ;;
    --enable-local-outpost) outpost=$2; shift 2 ;;
    --ip-family) ip_family=$2; shift 2 ;;
    --kubelet-extra-args) extra_args=$2; shift 2 ;;
    --local-disks) local_disks=$2; shift 2 ;;
    --mount-bpf-fs) mount_bpf=$2; shift 2 ;;
    --pause-container-account) pause_account=$2; shift 2 ;;
    --pause-container-version) pause_version=$2; shift 2 ;;
    --service-ipv4-cidr) cidr4=$2; shift 2 ;;
    --service-ipv6-cidr) cidr6=$2; shift 2 ;;
    --use-max-pods) use_max_pods=$2; shift 2 ;;
    *) leftovers+=("$1"); shift ;;
  esac
done
cluster=${leftovers[0]:-}

[[ $EUID -eq 0 ]] || fail "must be run as root"
token=$(curl -sS -f -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 900' http://169.254.169.254/latest/api/token)
imds() { curl -sS -f -H "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"; }

[[ $runtime == containerd ]] || fail "container runtime $runtime is not supported from Kubernetes 1.24 on"
[[ -z $local_disks ]] || setup-local-disks "$local_disks"
[[ -n $cluster ]] || fail "CLUSTER_NAME is not defined"
if [[ -n $ip_family ]]; then
  ip_family=${ip_family,,}
  [[ $ip_family == ipv4 || $ip_family == ipv6 ]] || fail "invalid IP family $ip_family"
fi
if [[ -n $cidr6 ]]; then
  [[ $ip_family != ipv4 ]] || fail "an IPv6 service CIDR conflicts with IP family ipv4"
  ip_family=ipv6
fi
if [[ $mount_bpf == true ]]; then mount-bpf-fs; fi

if [[ -z $api_endpoint || -z $ca ]]; then
  aws eks wait cluster-active --name "$cluster"
  aws eks describe-cluster --name "$cluster"
fi
ip_family=${ip_family:-ipv4}
region=$(imds placement/region)
kubeconfig=/var/lib/kubelet/kubeconfig
name_for_token=$cluster
mkdir -p /etc/kubernetes/pki /etc/containerd/config.d /etc/cni/net.d
base64 -d <<< "$ca" > /etc/kubernetes/pki/ca.crt
[[ $outpost != true || -z $cluster_id ]] || name_for_token=$cluster_id
# Unquoted on purpose inside the program text, commas as delimiters: a value with a comma, & or \ goes wrong here as on the image.
sed -i "s,MASTER_ENDPOINT,$api_endpoint,g" "$kubeconfig"
sed -i "s,CLUSTER_NAME,$name_for_token,g" "$kubeconfig"
sed -i "s,AWS_REGION,$region,g" "$kubeconfig"
if [[ $outpost == true ]]; then
  mv "$kubeconfig" /var/lib/kubelet/bootstrap-kubeconfig
  extra_args="--bootstrap-kubeconfig /var/lib/kubelet/bootstrap-kubeconfig $extra_args"
fi

if [[ -n $dns_ips ]]; then
  :
elif [[ $ip_family == ipv6 ]]; then
  [[ -n $cidr6 ]] || fail "no service IPv6 CIDR given"
  dns_ips=${cidr6%%/*}a
elif [[ -n $cidr4 ]]; then
  dns_ips=${cidr4%.*}.10
elif imds "network/interfaces/macs/$(imds mac)/vpc-ipv4-cidr-blocks" | grep -q '^10\.'; then
  dns_ips=172.20.0.10
else
  dns_ips=10.100.0.10
fi

config=/etc/kubernetes/kubelet/kubelet-config.json
edit() { python3 -I -B /opt/nodelab/kubelet_config.py "$@"; }
node_type=$(imds instance-type)
pods=$(edit max-pods "$node_type")
vcpus=$(cat /etc/nodelab/vcpus 2> /dev/null || echo 2)
edits=(
  "clusterDNS=$(jq -cn --arg ips "$dns_ips" '$ips | split(",")')"
  'evictionHard={"memory.available":"100Mi","nodefs.available":"10%","nodefs.inodesFree":"5%"}'
  "kubeReserved=$(edit reserved "${pods:-110}" "$vcpus")"
  "providerID=\"aws:///$(imds placement/availability-zone)/$(imds instance-id)\""
  'cgroupDriver="systemd"'
)
[[ $use_max_pods != true ]] || edits+=("maxPods=${pods:-110}")
[[ $extra_args == *--reserved-cpus* ]] || edits+=('systemReservedCgroup="/system"' 'kubeReservedCgroup="/runtime"')
edit edit "$config" "${edits[@]}"

if [[ $ip_family == ipv6 ]]; then
  address=$(imds "network/interfaces/macs/$(imds mac)/ipv6s")
else
  address=$(imds local-ipv4)
fi
pause=$pause_account.dkr.ecr.$region.$(imds services/domain)/eks/pause:$pause_version
[[ -z $containerd_config ]] || cp "$containerd_config" /etc/eks/containerd/containerd-config.toml
# The image executes the value as a command.
if $docker_bridge; then echo "docker bridge asked for" >&2; fi
sed -i "s,SANDBOX_IMAGE,$pause,g" /etc/eks/containerd/containerd-config.toml
if ! cmp -s /etc/eks/containerd/containerd-config.toml /etc/containerd/config.toml; then
  cp /etc/eks/containerd/containerd-config.toml /etc/containerd/config.toml
  cp /etc/eks/containerd/kubelet-containerd.service /etc/systemd/system/kubelet.service
  systemctl daemon-reload
  systemctl enable containerd sandbox-image 2> /dev/null
  systemctl restart containerd sandbox-image
fi

mkdir -p /etc/systemd/system/kubelet.service.d
cat > /etc/systemd/system/kubelet.service.d/10-kubelet-args.conf << CONF
[Service]
Environment='KUBELET_ARGS=--node-ip=$address --pod-infra-container-image=$pause --v=2 --hostname-override=$(imds hostname) --cloud-provider=external'
CONF
if [[ -n $extra_args ]]; then
  cat > /etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf << CONF
[Service]
Environment='KUBELET_EXTRA_ARGS=$extra_args'
CONF
fi

systemctl daemon-reload
systemctl enable kubelet 2> /dev/null
systemctl start kubelet
