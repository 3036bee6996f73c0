# /etc/nodebootstrap/bootstrap.sh 0755 root:root
#!/bin/bash
set -eo pipefail
systemctl daemon-reload
systemctl enable containerd kubelet
systemctl restart containerd
systemctl start kubelet
