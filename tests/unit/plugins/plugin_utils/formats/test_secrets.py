# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets are found where their context says that they are some, and nowhere else; none of these was ever a real one."""

from __future__ import annotations

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.secrets import find_secrets, have_secret

# Put together here, so that no scanner takes this file for a leak.
KEY = "wJalrXUtnFEMI" + "/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
TOKEN = "abcdef" + ".0123456789abcdef"
CODE = "A1b2C3d4" + "E5f6G7h8I9j0"
AUTH = base64.b64encode(b"robot:hunter2hunter2").decode()
SESSION = "IQoJb3JpZ2luX2VjE" + "A" * 80
CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n" + b"MIIC" * 200 + b"\n-----END CERTIFICATE-----\n").decode()

PEM = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "MIIEabcdefgh" * 20 + "\n"


def encoded(text: str, *, pack: bool = False) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0) if pack else text.encode()).decode()


FOUND = [
    ("-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\n", "a PEM private key"),
    ("-----BEGIN " + "PRIVATE KEY-----\n", "a PEM private key"),
    ("-----BEGIN OPENSSH " + "PRIVATE KEY-----\n", "a PEM private key"),
    (f"export AWS_SECRET_ACCESS_KEY={KEY}\n", "an AWS secret access key"),
    (f"aws_secret_access_key = {KEY}\n", "an AWS secret access key"),
    (f'{{"SecretAccessKey": "{KEY}"}}', "an AWS secret access key"),
    (f"secretKey: '{KEY}'\n", "an AWS secret access key"),
    (f"AWS_SESSION_TOKEN='{SESSION}'\n", "an AWS session token"),
    (f'"SessionToken": "{SESSION}"', "an AWS session token"),
    (f"activationCode: {CODE}\n", "an SSM activation code"),
    (f"amazon-ssm-agent -register -activation-code '{CODE}' -id x\n", "an SSM activation code"),
    (f"sudo amazon-ssm-agent -register -code '{CODE}' -id x -region eu-west-1\n", "an SSM activation code"),
    (f"content: {encoded(PEM)}\n", "a PEM private key"),
    (f"server-key = '{encoded(PEM)}'\n", "a PEM private key"),
    (f"credentials: {encoded('[default]' + chr(10) + 'aws_secret_access_key=' + KEY)}\n", "an AWS secret access key"),
    (f"content: {encoded(PEM, pack=True)}\n", "a PEM private key"),
    (f"{base64.encodebytes(PEM.encode()).decode()}E\n", "a PEM private key"),
    (f"bootstrap-token = '{TOKEN}'\n", "a Kubernetes bootstrap token"),
    (f"kubeadm join --token {TOKEN} x\n", "a Kubernetes bootstrap token"),
    (f"    token: {TOKEN}\n", "a Kubernetes bootstrap token"),
    (f'{{"auths": {{"ghcr.io": {{"auth": "{AUTH}"}}}}}}', "a registry credential"),
    (f"auth = '{AUTH}'\n", "a registry credential"),
    ("identitytoken = 'eyJhbGciOi'\n", "a registry credential"),
    ("password = 'hunter2'\n", "a password"),
    ('"password": "hunter2"', "a password"),
    ("password: hunter2\n", "a password"),
    ("PASSWORD=hunter2\n", "a password"),
    ("export DB_PASSWORD='hunter2'\n", "a password"),
    ("PGPASSWORD=hunter2 psql -c 'select 1'\n", "a password"),
    ("$env:DB_PASSWORD = 'hunter2'\n", "a password"),
    ('$password = ConvertTo-SecureString "hunter2" -AsPlainText -Force\n', "a password"),
    ("mysql --password=hunter2 -e 'select 1'\n", "a password"),
    ("docker login --username me --password hunter2 ghcr.io\n", "a password"),
    ("wget --http-passwd=hunter2 https://x\n", "a password"),
    ("curl -fsSL -u me:hunter2 https://x\n", "a password"),
    ("sshpass -p hunter2 scp a b:c\n", "a password"),
    ("echo 'root:hunter2' | sudo chpasswd\n", "a password"),
    ("helm install x --set db.password=hunter2\n", "a password"),
    ("export API_TOKEN=a1b2c3d4e5f6a7b8c9d0\n", "a token"),
    ("DB_SECRET=hunter2\n", "a token"),
    ("export CLIENT_SECRET='hunterhunter'\n", "a token"),
    ("API_KEY=abc123\n", "a token"),
    ("MYSQL_ROOT_PASS=hunter2\n", "a token"),
    ("vault login --token=s3cr3tv4lue\n", "a token"),
    ("DD_API_KEY='0123456789abcdef0123456789abcdef'\n", "a token"),
    ("ALL_PROXY=socks5h://" + "user:hunter2@proxy:1080\n", "a credential in a proxy URL"),
    ("export HTTPS_PROXY=http://" + "user:hunter2@proxy:3128\n", "a credential in a proxy URL"),
]


@pytest.mark.parametrize(("text", "what"), FOUND)
def test_a_secret_is_found_with_its_line(text, what):
    assert find_secrets(text) == [(what, 1)]
    assert find_secrets(f"#!/bin/bash\n\n{text}") == [(what, 3)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"certificateAuthority: {CA}\n", id="CA"),
        pytest.param(f"content: {encoded('echo hello; ' * 20)}\n", id="base64 of a script"),
        pytest.param(f"content: {encoded('x' * 100, pack=True)[:60]}\n", id="base64 of damaged gzip"),
        pytest.param("amazon-ssm-agent -register -code $CODE -id $ID\n", id="registration with variables"),
        pytest.param("-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----\n", id="certificate"),
        pytest.param("-----BEGIN PUBLIC KEY-----\n", id="public key"),
        pytest.param("--node-labels=team=payments,app.kubernetes.io/name=token,x=" + "a" * 40, id="labels"),
        pytest.param("image: x@sha256:" + "0123456789abcdef" * 4, id="digest"),
        pytest.param("commit=" + "0123456789" * 4, id="a commit"),
        pytest.param(f"something: {KEY}\n", id="40 characters of base64 alone"),
        pytest.param("AWS_SECRET_ACCESS_KEY=$(aws secretsmanager get-secret-value)\n", id="looked up"),
        pytest.param("AWS_SECRET_ACCESS_KEY=$KEY\n", id="variable"),
        pytest.param("-activation-code $CODE\n-activation-code '{{ ssm_activation_code_from_vault }}'\n", id="activation code looked up"),
        pytest.param(
            'TOKEN=$(curl -X PUT http://169.254.169.254/latest/api/token -H "X-aws-ec2-metadata-token-ttl-seconds: 60")\n', id="IMDS"
        ),
        pytest.param("curl -H 'X-aws-ec2-metadata-token: $TOKEN'\n", id="IMDS header"),
        pytest.param("name: worker.0123456789abcdef\n", id="a host name"),
        pytest.param("HTTPS_PROXY=http://proxy.internal:3128\nNO_PROXY=169.254.169.254,.internal\n", id="proxy"),
        pytest.param("HTTPS_PROXY=http://$USER:$PASSWORD@proxy:3128\n", id="proxy of variables"),
        pytest.param("https://user@host/path:80\n", id="user only"),
        pytest.param("git clone git@github.com:a/b\n", id="git"),
        pytest.param(
            "auth: webhook\nauthentication:\n  anonymous:\n    enabled: false\nauthorization: Webhook\n", id="kubelet authentication"
        ),
        pytest.param("password: $PASSWORD\npassword: null\npassword: ''\npasswordFile: /x\n", id="no password"),
        pytest.param("PASSWORD=$(aws ssm get-parameter --name /a)\nexport PASSWORD\nPASSWORD=`cat /run/p`\n", id="looked-up password"),
        pytest.param("PASSWORD= mysql -e 'select 1'\nPASSWORD=\nunset PASSWORD\n", id="empty password"),
        pytest.param("aws ecr get-login-password --region x | docker login -u AWS --password-stdin y\n", id="ECR"),
        pytest.param('mysql --password-file /run/p --password=$P --password "$P"\n', id="options"),
        pytest.param("curl -u $USER:$PASSWORD https://x\ncurl -o user:group x\nchown -R user:group /x\n", id="curl with variables"),
        pytest.param("users:\n- name: a\n  lock_passwd: true\n  passwd: $6$rounds=4096$abc\nchpasswd: {expire: false}\n", id="cloud-init"),
        pytest.param("chpasswd:\n  list: |\n    root:RANDOM\n", id="chpasswd"),
        pytest.param("sed -i 's/PasswordAuthentication no/PasswordAuthentication yes/' x\nPermitRootLogin without-password\n", id="sshd"),
        pytest.param("NEXT_TOKEN=abc\nTOKEN_FILE=/var/run/secrets/token\nSECRET=/a1/b2\nAPI_KEY=your-api-key-goes-here\n", id="no token"),
        pytest.param("AUTH_TOKEN=$(vault read x)\nMAX_TOKEN=10\nVAULT_TOKEN=example-token\n--token-ttl 60s --token $T\n", id="tokens"),
        pytest.param("getent passwd root\ngrep x /etc/passwd\n", id="passwd"),
        pytest.param("#!/bin/bash\n# never put a password in here\npasswd -l root\n", id="prose"),
        pytest.param("authentication-token-webhook=true\n--authentication-token-webhook\n", id="flag"),
        pytest.param("secretKeyRef: {name: x, key: y}\n", id="reference"),
        pytest.param("env:\n  token_url: https://x/y\n", id="URL of tokens"),
    ],
)
def test_ordinary_text_holds_none(text):
    assert find_secrets(text) == []


def test_the_secret_is_never_repeated():
    for text, _unused in FOUND:
        assert not any(word in str(find_secrets(text)) for word in (KEY, TOKEN, CODE, AUTH, SESSION, "hunter2"))


def test_everything_is_found_in_the_order_of_its_lines():
    text = "".join(f"{part}\n" for part, _unused in FOUND)
    lines = [line for _unused, line in find_secrets(text)]
    assert lines == sorted(lines)
    assert {what for what, _unused in find_secrets(text)} == {what for _unused, what in FOUND}


@given(st.text(st.characters()))
def test_nothing_raises(text):
    for what, line in find_secrets(text):
        assert 1 <= line <= text.count("\n") + 1
        assert what


PIECES = [
    *(text for text, _unused in FOUND),
    *(
        "password",
        "auth",
        "token",
        "activation-code",
        "secretKey",
        " ",
        "=",
        ": ",
        '"',
        "'",
        "\n",
        "hunter2",
        "none",
        "$X",
        "-",
        "@",
        "://",
    ),
    *(KEY, TOKEN, CODE, AUTH, SESSION, CA, encoded(PEM), encoded(PEM)[:40], encoded(PEM)[40:]),
]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), max_size=6))
def test_one_search_over_many_texts_finds_a_secret_that_one_of_them_contains(texts):
    assert have_secret(texts) == any(find_secrets(text) for text in texts)


@pytest.mark.parametrize("piece", ["secret ", "token: ", "https://a:", "auth=", "a" * 10, "-----BEGIN ", "A ", "\"'", "-----BEGIN A "])
def test_long_hostile_text_is_searched_once_not_again_and_again(piece):
    # Quadratic patterns would need minutes for this.
    assert find_secrets(piece * (1_000_000 // len(piece))) == []


@pytest.mark.parametrize("word", ["PASSWORD", "Passwd", "pa\u017f\u017fword", "PASSPHRASE", "mysql_PWD", "API_KEY", "my_TOKEN"])
def test_words_are_found_in_every_case(word: str) -> None:
    assert find_secrets(f"{word}=hunter42hunter42x\n")
