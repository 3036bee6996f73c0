# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The laboratory does what the images do: without this, every other oracle test would prove nothing."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

import pytest
from nodelab import Al2Node, Al2023Node, CloudInitNode, HarnessError, UbuntuNode, boot, engine, images, persistent_nodes, run

from ansible_collections.nodebootstrap.eks.tests.oracle.bootstrap_calls import BOOTSTRAP, JOIN, bootstrap
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

TOKEN = "http://169.254.169.254/latest/api/token"


def mime(*parts: tuple[str, str, str]) -> str:
    """(content type, file name, content) → multipart user data."""
    lines = ['MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n']
    lines += [f'--==\nContent-Type: {kind}\nContent-Disposition: attachment; filename="{name}"\n\n{text}\n' for kind, name, text in parts]
    return "\n".join([*lines, "--==--\n"])


# --- the engine and the containers ------------------------------------------------------------------------------------------------


def test_only_containers_of_ended_runs_are_removed(al2_node: Al2Node) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        ended = engine.owner().rpartition("/")[0].rpartition("/")[0] + f"/{other.pid}/1"
        other.kill()

    def create(*options: str) -> str:
        return engine.docker("create", *options, images.image()).stdout.decode().strip()

    leftover = create("--label", f"{engine.RUN}={ended}")
    # The first one inherits the label of the image, as every container does that is started from it by hand.
    others = [create(), create("--label", f"{engine.RUN}=mine"), create("--label", f"{engine.IMAGE}={ended}")]
    try:
        engine.remove_stale()
        assert not exists(leftover)
        assert [exists(container) for container in [al2_node.container, *others]] == [True] * 4
    finally:
        engine.docker("rm", "-f", "-v", *others, check=False)


def test_clean_removes_the_persistent_nodes_of_its_own_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CHECKOUT", "/nowhere/this-test")
    labels = [f"{engine.PERSISTENT}={checkout}" for checkout in (engine.CHECKOUT, "/nowhere/another")]
    own, other = [engine.docker("create", "--label", label, images.image()).stdout.decode().strip() for label in labels]
    try:
        persistent_nodes.stop_all()
        assert (exists(own), exists(other)) == (False, True)
    finally:
        engine.docker("rm", "-f", "-v", own, other, check=False)


def exists(container: str) -> bool:
    return engine.docker("inspect", container, check=False).returncode == 0


def test_an_image_is_named_by_its_recipe() -> None:
    assert images.image() == images.image()
    assert images.image("bookworm") != images.image("trixie")
    with pytest.raises(HarnessError) as caught:
        images.image("buster")
    assert mentions(caught.value, "bookworm", "trixie")


def test_a_container_is_removed_when_its_boot_fails() -> None:
    mine = ("ps", "-aq", "--filter", f"label={engine.RUN}={engine.owner()}")
    before = engine.docker(*mine).stdout
    with pytest.raises(HarnessError), Al2Node.start(files={"/sbin/init": ("#!/bin/sh\nexit 3\n", 0o755)}):
        pass
    assert engine.docker(*mine).stdout == before


def test_reset_takes_back_files_units_and_processes(al2_node: Al2Node) -> None:
    al2_node.write({"/etc/systemd/system/leak.service": "[Service]\nExecStart=/bin/sleep 600\n", "/etc/new/file": "x", "/root/f": "y"})
    al2_node.exec(["sh", "-c", "systemctl daemon-reload; systemctl start leak; rm /etc/eks/bootstrap.sh; chmod 0600 /etc/profile"])
    assert al2_node.property("leak.service", "ActiveState") == "active"
    al2_node.reset()
    assert [path for path in ("/etc/new", "/root/f", "/etc/systemd/system/leak.service") if al2_node.exists(path)] == []
    assert al2_node.property("leak.service", "LoadState") == "not-found"
    assert al2_node.exec(["pgrep", "-fx", "/bin/sleep 600"]).returncode == 1
    assert al2_node.stat(BOOTSTRAP) == ("0755", "root:root")
    assert al2_node.reset() == []


# --- user data --------------------------------------------------------------------------------------------------------------------


def test_user_data_runs_as_cloud_init_would_run_it(al2_node: Al2Node) -> None:
    done = al2_node.run_user_data("#!/bin/bash\nid -un; pwd; echo oops >&2; exit 7\n")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"root\n/\n", b"oops\n")
    later, sooner = (("text/x-shellscript", f"{name}.sh", f"#!/bin/sh\necho {name} >> /etc/order") for name in "ba")
    al2_node.run_user_data(mime(later, sooner))
    assert al2_node.read("/etc/order") == b"a\nb\n"
    with pytest.raises(HarnessError) as caught:
        al2_node.run_user_data(mime(("text/cloud-config", "c", "bootcmd: [true]")))
    assert mentions(caught.value, "cloud-init")


def test_the_whole_way_from_mime_to_kubelet(al2_node: Al2Node) -> None:
    call = " ".join([BOOTSTRAP, "c", *JOIN, "--kubelet-extra-args", "'--node-labels=a=b'"])
    text = mime(
        ("text/x-shellscript", "20-join.sh", f"#!/bin/bash\n{call}\n"),
        ("text/cloud-config", "00-config", 'write_files:\n- {path: /etc/first, content: "1\\n", permissions: "0600"}\n'),
        ("text/x-shellscript", "10-pre.sh", "#!/bin/bash\ncat /etc/first\n"),
    )
    result = run(al2_node, text)
    assert (result.errors, result.warnings) == ([], [])
    assert result.ran("write-files", "script 10-pre.sh", "script 20-join.sh") == ["write-files", "script 10-pre.sh", "script 20-join.sh"]
    assert al2_node.extra_args() == ["--node-labels=a=b"]
    assert "\n1\n" in result.output and al2_node.stat("/etc/first") == ("0600", "root:root")


# --- Ubuntu -----------------------------------------------------------------------------------------------------------------------


def test_ubuntu_kubelet_is_the_snap(ubuntu_node: UbuntuNode) -> None:
    assert bootstrap(ubuntu_node, "c", *JOIN, "--kubelet-extra-args", "--node-labels=a=b  --v=4").returncode == 0
    assert ubuntu_node.extra_args() == ["--node-labels=a=b", "--v=4"]
    assert ubuntu_node.snap_settings()["cluster-dns"] == "172.20.0.10"
    assert [call[0] for call in ubuntu_node.snap_calls()] == ["stop", "set", "start"]
    assert ubuntu_node.kubelet_config()["maxPods"] == 29
    assert not ubuntu_node.exists("/etc/systemd/system/kubelet.service.d")
    ubuntu_node.exec(["snap", "restart", "kubelet-eks"], check=True)
    assert len(ubuntu_node.kubelet_starts()) == 2


@pytest.mark.matrix
def test_ubuntu_quotes_in_args_reach_kubelet_as_they_stand(ubuntu_node: UbuntuNode) -> None:
    bootstrap(ubuntu_node, "c", *JOIN, "--kubelet-extra-args", """--a="b c" --d='%b' --e=\\n$HOME""")
    assert ubuntu_node.extra_args() == ['--a="b', 'c"', "--d='%b'", "--e=\\n$HOME"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("words", "environment", "cluster", "dns"),
    [
        ([], {}, "c", "172.20.0.10"),
        (["--dns-cluster-ip", "10.9.0.10"], {}, "c", "10.9.0.10"),
        ([], {"SERVICE_IPV4_CIDR": "10.8.0.0/16"}, "c", "10.8.0.10"),
        (["--ip-family", "ipv6", "--service-ipv6-cidr", "fd00::/108", "--dns-cluster-ip", "fd00::53"], {}, "c", "fd00::a"),
        # Not known here: both words are leftovers behind the name, and so change nothing …
        (["--service-ipv4-cidr", "10.7.0.0/16"], {}, "c", "172.20.0.10"),
    ],
)
def test_ubuntu_dns(ubuntu_node: UbuntuNode, words: Sequence[str], environment: dict[str, str], cluster: str, dns: str) -> None:
    done = bootstrap(ubuntu_node, "c", *JOIN, *words, environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment})
    assert done.returncode == 0, done.stderr
    assert ubuntu_node.snap_settings()["cluster-dns"] == dns
    assert f"-i, {cluster}," in ubuntu_node.read("/var/lib/kubelet/kubeconfig").decode()


@pytest.mark.matrix
def test_ubuntu_an_unknown_flag_before_the_name_is_the_name(ubuntu_node: UbuntuNode) -> None:
    bootstrap(ubuntu_node, "--local-disks", "raid0", "c", *JOIN)
    assert "-i, --local-disks," in ubuntu_node.read("/var/lib/kubelet/kubeconfig").decode()


@pytest.mark.matrix
def test_ubuntu_refuses_the_ip_family_in_capitals(ubuntu_node: UbuntuNode) -> None:
    assert bootstrap(ubuntu_node, "c", *JOIN, "--ip-family", "IPv6", "--service-ipv6-cidr", "fd00::/108").returncode == 1
    assert ubuntu_node.kubelet_starts() == []


def test_snap_stores_what_snapd_would(ubuntu_node: UbuntuNode) -> None:
    options = ["max-pods=17", "flag=true", "text=a=b c", 'quoted="x"', "deep.er=1", "gone=1"]
    ubuntu_node.exec(["snap", "set", "kubelet-eks", *options], check=True)
    ubuntu_node.exec(["snap", "unset", "kubelet-eks", "gone"], check=True)
    assert ubuntu_node.snap_settings() == {"max-pods": 17, "flag": True, "text": "a=b c", "quoted": "x", "deep": {"er": 1}}
    assert ubuntu_node.exec(["snap", "get", "kubelet-eks", "text"]).stdout == b"a=b c\n"
    assert json.loads(ubuntu_node.exec(["snap", "get", "-d", "kubelet-eks", "max-pods"]).stdout) == {"max-pods": 17}
    assert ubuntu_node.exec(["snap", "get", "kubelet-eks", "gone"]).returncode == 1
    assert ubuntu_node.exec(["snap", "set", "kubelet-eks", "no-equals"]).returncode == 1
    assert ubuntu_node.exec(["snap", "set", "other", "a=b"]).returncode == 1


# --- the metadata service ---------------------------------------------------------------------------------------------------------


def ask(node: Al2Node, *words: str) -> tuple[int, str]:
    done = node.exec(["curl", "-s", "-w", "\n%{http_code}", *words], check=True).stdout.decode()
    body, _unused, status = done.rpartition("\n")
    return int(status), body


def test_imds_is_version_two_only(al2_node: Al2Node) -> None:
    latest = "http://169.254.169.254/latest/"
    assert ask(al2_node, latest + "meta-data/instance-id") == (401, "")
    assert ask(al2_node, "-H", "X-aws-ec2-metadata-token: made up", latest + "meta-data/instance-id")[0] == 401
    assert ask(al2_node, "-X", "PUT", TOKEN)[0] == 400
    assert ask(al2_node, "-X", "PUT", "-H", "X-aws-ec2-metadata-token-ttl-seconds: 21601", TOKEN)[0] == 400
    status, token = ask(al2_node, "-X", "PUT", "-H", "X-aws-ec2-metadata-token-ttl-seconds: 21600", TOKEN)
    assert status == 200 and len(token) > 20

    def get(path: str) -> tuple[int, str]:
        return ask(al2_node, "-H", f"X-aws-ec2-metadata-token: {token}", latest + path)

    assert get("meta-data/instance-id") == (200, "i-1234567890abcdef0")
    assert get("meta-data/instance-life-cycle") == (200, "on-demand")
    mac = get("meta-data/mac")[1]
    assert get(f"meta-data/network/interfaces/macs/{mac}/ipv6s") == (200, "2001:db8::5")
    assert json.loads(get("dynamic/instance-identity/document")[1])["region"] == "eu-central-1"
    assert get("meta-data/no/such/thing")[0] == 404
    assert get("user-data")[0] == 404
    al2_node.write({"/etc/nodelab/user-data": "hello", "/etc/nodelab/imds.json": '{"meta-data/instance-life-cycle": "spot"}'})
    assert get("user-data") == (200, "hello")
    assert get("meta-data/instance-life-cycle") == (200, "spot")
    statuses = [request["status"] for request in al2_node.imds_requests()]
    assert statuses == [401, 401, 400, 400, 200, 200, 200, 200, 200, 200, 404, 404, 200, 200]


# --- Amazon Linux 2023 ------------------------------------------------------------------------------------------------------------

NODE_CONFIG = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: demo, apiServerEndpoint: "https://a.example", certificateAuthority: YQ==, cidr: 10.100.0.0/16}
"""
LATE = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"
AROUND = f"""MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: application/node.eks.aws

{NODE_CONFIG}
--x
Content-Type: text/x-shellscript

#!/bin/bash
printf {LATE!r} > /etc/eks/nodeadm.d/50.yaml
python3 -c 'import time; print(time.monotonic())' > /etc/when
--x--
"""


@pytest.mark.matrix
def test_al2023_cloud_init_runs_between_the_phases() -> None:
    with boot(Al2023Node, AROUND) as (node, result):
        assert result.errors == []
        hook, config, start = node.records("nodeadm")
        assert hook["argv"] == ["boot-hook"]
        assert [config["argv"][:3], start["argv"][:3]] == [["init", "--skip", "run"], ["init", "--skip", "config"]]
        assert hook["monotonic"] < config["monotonic"] < float(node.read("/etc/when")) < start["monotonic"]
        assert [config["cloud_init_done"], start["cloud_init_done"]] == [False, True]
        assert [config["drop_ins"], start["drop_ins"]] == [{}, {"50.yaml": LATE}]
        assert config["user_data"] == start["user_data"] == AROUND
        assert node.wait_boot() == "running"


@pytest.mark.matrix
def test_al2023_a_failed_config_phase_takes_the_run_phase_down() -> None:
    broken = {"/etc/systemd/system/nodeadm-config.service.d/x.conf": "[Service]\nExecStart=\nExecStart=/bin/false\n"}
    with boot(Al2023Node, AROUND, files=broken) as (node, result):
        assert result.errors == [] and node.exists("/etc/when")
        assert [record["argv"][0] for record in node.records("nodeadm")] == ["boot-hook"]
        assert node.property("nodeadm-run.service", "Result") != "exit-code" and node.starts("nodeadm-run.service") == 0


# --- cloud-init -------------------------------------------------------------------------------------------------------------------

CONFIG = """bootcmd: [[touch, /etc/booted]]
runcmd: [[sh, -c, 'echo from runcmd']]
write_files: [{path: /etc/w, content: w}]
"""
PARTS = mime(
    ("text/x-shellscript", "20-b.sh", "#!/bin/sh\necho from b"),
    ("application/node.eks.aws", "n.yaml", "kind: NodeConfig"),
    ("text/cloud-config", "c.yaml", CONFIG),
    ("text/x-shellscript", "10-a.sh", "#!/bin/sh\necho from a"),
)
EVENTS = ("bootcmd", "write-files", "runcmd", "script 10-a.sh", "script 20-b.sh", "script runcmd")


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["cloud_init", "cloud_init_new"])
def test_parts_run_in_the_order_of_their_file_names(request: pytest.FixtureRequest, name: str) -> None:
    node: CloudInitNode = request.getfixturevalue(name)
    for _unused in range(2):
        result = node.run(PARTS)
        assert result.errors == []
        assert [text.split(" userdata")[0] for text in result.warnings] == ["Unhandled unknown content-type (application/node.eks.aws)"]
        ran = result.ran(*EVENTS)
        assert ran[-3:] == ["script 10-a.sh", "script 20-b.sh", "script runcmd"]
        # cloud-init swapped these two modules between the versions.
        assert sorted(ran[:3]) == ["bootcmd", "runcmd", "write-files"] and ran[2] == "runcmd"
        assert [line for line in result.output.splitlines() if line.startswith("from ")] == ["from a", "from b", "from runcmd"]
        assert result.scripts["10-a.sh"].startswith(b"#!/bin/sh\n")
        assert node.exists("/etc/booted") and node.read("/etc/w") == b"w"


@pytest.mark.matrix
def test_a_booted_machine_and_a_staged_run_agree(cloud_init: CloudInitNode) -> None:
    staged = cloud_init.run(PARTS)
    with boot(CloudInitNode, PARTS) as (node, booted):
        assert (booted.errors, booted.ran(*EVENTS), booted.scripts) == (staged.errors, staged.ran(*EVENTS), staged.scripts)
        assert node.read("/etc/w") == b"w"


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["cloud_init", "cloud_init_new"])
def test_a_failing_script_is_an_error_and_the_next_run_is_clean(request: pytest.FixtureRequest, name: str) -> None:
    node: CloudInitNode = request.getfixturevalue(name)
    assert len(node.run("#!/bin/sh\ntouch /etc/left; exit 1\n").errors) == 1
    assert node.run("#!/bin/sh\nexit 0\n").errors == []
    assert not node.exists("/etc/left")
