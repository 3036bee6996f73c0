#!/bin/bash
set -eo pipefail
install -Dm644 /dev/null /etc/containerd/config.toml
cat >/etc/containerd/config.toml <<'E'
imports = ["/etc/containerd/config.d/*.toml"]
root = "/var/lib/containerd"
state = "/run/containerd"
version = 2

[grpc]
address = "/run/containerd/containerd.sock"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10"

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/opt/cni/bin"
conf_dir = "/etc/cni/net.d"

[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "runc"
discard_unpacked_layers = true

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = true

[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d:/etc/docker/certs.d"
E
install -Dm644 /dev/null /etc/kubernetes/kubelet/kubelet-config.json
cat >/etc/kubernetes/kubelet/kubelet-config.json <<'E'
{
 "address": "0.0.0.0",
 "apiVersion": "kubelet.config.k8s.io/v1beta1",
 "authentication": {
  "anonymous": {
   "enabled": false
  },
  "webhook": {
   "cacheTTL": "2m0s",
   "enabled": true
  },
  "x509": {
   "clientCAFile": "/etc/kubernetes/pki/ca.crt"
  }
 },
 "authorization": {
  "mode": "Webhook",
  "webhook": {
   "cacheAuthorizedTTL": "5m0s",
   "cacheUnauthorizedTTL": "30s"
  }
 },
 "cgroupDriver": "systemd",
 "cgroupRoot": "/",
 "clusterDNS": [
  "10.100.0.10"
 ],
 "clusterDomain": "cluster.local",
 "evictionHard": {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%"
 },
 "featureGates": {
  "RotateKubeletServerCertificate": true
 },
 "hairpinMode": "hairpin-veth",
 "kind": "KubeletConfiguration",
 "kubeReserved": {
  "cpu": "70m",
  "ephemeral-storage": "1Gi",
  "memory": "574Mi"
 },
 "kubeReservedCgroup": "/runtime",
 "maxPods": 29,
 "protectKernelDefaults": true,
 "readOnlyPort": 0,
 "serializeImagePulls": false,
 "serverTLSBootstrap": true,
 "systemReservedCgroup": "/system",
 "tlsCipherSuites": [
  "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
  "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
  "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "TLS_RSA_WITH_AES_256_GCM_SHA384",
  "TLS_RSA_WITH_AES_128_GCM_SHA256"
 ]
}
E
install -Dm644 /dev/null /etc/kubernetes/pki/ca.crt
cat >/etc/kubernetes/pki/ca.crt <<'E'
-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUWUx41MtI8ywS595AE35/fJ4eQvgwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjExMjExMTI2MDVaFw0zNjExMTgx
MTI2MDVaMBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATKi2e5xmFjvG+rVeRJtA+bxSrmGDC71mWOFsI0D5RNCGU54NxjyaPU
pnFhAsy+8GioIuz6uanKvs+4/Cu2QWu9o1MwUTAdBgNVHQ4EFgQUhTEcLYvFH1KM
OHP3Sc9fp/TCd3swHwYDVR0jBBgwFoAUhTEcLYvFH1KMOHP3Sc9fp/TCd3swDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA3GSOPkWpilKRO/y8yUzS
sCB5zzifyaA4bPV3YZ+KJvECIQDD5Aedd98QRPSVmhSy6cP4ft1LQHEWxi97Y8VR
MFxioQ==
-----END CERTIFICATE-----
E
install -Dm755 /dev/null /etc/nodebootstrap/node-facts
cat >/etc/nodebootstrap/node-facts <<'E'
#!/bin/sh
# Asks the instance metadata service (IMDSv2) who this node is.
set -eu
export LC_ALL=C
imds=http://169.254.169.254/latest
ask() { exec curl -sf -m 5 --retry 9 --retry-connrefused --retry-max-time 60 "$@"; }
tell() { ask -H "X-aws-ec2-metadata-token: $token" "$imds/$1"; }
fail() { echo "the instance metadata service gave no valid $1" >&2; exit 1; }
field() {
case $document in *\"$1\"*) ;; *) fail "$1" ;; esac
value=${document#*\"$1\"}
case ${value%%\"*} in *[!:\ ]*) fail "$1" ;; esac
value=${value#*\"}
value=${value%%\"*}
}
token=$(ask -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$imds/api/token")
document=$(tell dynamic/instance-identity/document)
field instanceId
case $value in *[!0-9a-z-]*|i-*-*) fail instanceId ;; i-?*) instance_id=$value ;; *) fail instanceId ;; esac
field availabilityZone
case $value in ''|*[!0-9a-z-]*) fail availabilityZone ;; esac
zone=$value
field privateIp
case $value in *[!0-9.]*|.*|*.|*..*|*.*.*.*.*) fail privateIp ;; *.*.*.*) address=$value ;; *) fail privateIp ;; esac
IFS=.
set -- $address
unset IFS
name=ip-$1-$2-$3-$4.eu-west-1.compute.internal
[ -d /run/nodebootstrap ] || mkdir /run/nodebootstrap
printf %s "NODE_IP=$address
NODE_NAME=$name
PROVIDER_ID=aws:///$zone/$instance_id
" >/run/nodebootstrap/kubelet.env
E
install -Dm644 /dev/null /etc/systemd/system/kubelet.service
cat >/etc/systemd/system/kubelet.service <<'E'
[Unit]
Description=kubelet, the node agent of Kubernetes
Documentation=https://kubernetes.io/docs/
Wants=containerd.service sandbox-image.service sys-fs-bpf.mount network-online.target
After=containerd.service sandbox-image.service sys-fs-bpf.mount network-online.target

[Service]
Slice=runtime.slice
CPUAccounting=true
MemoryAccounting=true
ExecStartPre=/sbin/iptables -P FORWARD ACCEPT -w 5
Restart=on-failure
RestartForceExitStatus=SIGPIPE
RestartSec=5
KillMode=process

[Install]
WantedBy=multi-user.target
E
install -Dm644 /dev/null /etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf
cat >/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf <<'E'
[Service]
EnvironmentFile=-/run/nodebootstrap/kubelet.env
ExecStartPre=/etc/nodebootstrap/node-facts
ExecStart=
ExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet/kubelet-config.json --kubeconfig=/var/lib/kubelet/kubeconfig --container-runtime-endpoint=unix:///run/containerd/containerd.sock --image-credential-provider-config=/etc/eks/image-credential-provider/config.json --image-credential-provider-bin-dir=/etc/eks/image-credential-provider --node-ip=${NODE_IP} --cloud-provider=external --hostname-override=${NODE_NAME} --pod-infra-container-image=602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10 --provider-id=${PROVIDER_ID} --v=2 --node-labels=role=batch
E
install -Dm644 /dev/null /etc/systemd/system/sandbox-image.service
cat >/etc/systemd/system/sandbox-image.service <<'E'
[Unit]
Description=Pull of the pause image
Requires=containerd.service
After=containerd.service
ConditionPathExists=/etc/eks/containerd/pull-sandbox-image.sh

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/etc/eks/containerd/pull-sandbox-image.sh
E
install -Dm644 /dev/null /etc/systemd/system/sys-fs-bpf.mount
cat >/etc/systemd/system/sys-fs-bpf.mount <<'E'
[Unit]
Description=BPF file system
DefaultDependencies=no
ConditionPathIsMountPoint=!/sys/fs/bpf

[Mount]
What=bpffs
Where=/sys/fs/bpf
Type=bpf
E
install -Dm600 /dev/null /var/lib/kubelet/kubeconfig
cat >/var/lib/kubelet/kubeconfig <<'E'
apiVersion: v1
clusters:
- cluster:
    certificate-authority: /etc/kubernetes/pki/ca.crt
    server: https://1234567890ABCDEF1234567890ABCDEF.gr7.eu-west-1.eks.amazonaws.com
  name: kubernetes
contexts:
- context:
    cluster: kubernetes
    user: kubelet
  name: kubelet
current-context: kubelet
kind: Config
users:
- name: kubelet
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args:
      - token
      - '-i'
      - demo
      - --region
      - eu-west-1
      command: /usr/bin/aws-iam-authenticator
E
systemctl daemon-reload
systemctl enable containerd kubelet
systemctl restart containerd
systemctl start kubelet
