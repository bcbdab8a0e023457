#!/usr/bin/env python3
"""Checks the Kubernetes objects, and counts with their command lines: check.py BINARY FOLDER.

Each object must be valid by the published schema of its kind, and each pod be what SECURITY.md would have it. Then the
containers' own arguments are run on this machine, with the variables, folders and addresses that Kubernetes would give them.
"""

import re
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen
import socket
import ssl
import time

import kubernetes_validate
import yaml

VERSION = "1.33.1"
BOARD = "14"
HERE = Path(__file__).resolve().parent


def objects(name: str) -> list:
    return list(yaml.safe_load_all((HERE / name).read_text()))


def of_kind(name: str, kind: str) -> dict:
    return next(found for found in objects(name) if found["kind"] == kind)


def check_schemas() -> None:
    for path in sorted(HERE.glob("*.yaml")):
        for found in objects(path.name):
            kubernetes_validate.validate(found, VERSION, strict=True)
            print(f"   {path.name}: {found['kind']} {found['metadata']['name']} is valid in Kubernetes {VERSION}")


def check_pods() -> None:
    for path in HERE.glob("*.yaml"):
        for found in objects(path.name):
            template = found if found["kind"] == "Pod" else found.get("spec", {}).get("template")
            if template is None:
                continue
            pod, labels = template["spec"], template["metadata"]["labels"]
            assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 7227
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            assert pod["automountServiceAccountToken"] is False
            assert found["spec"].get("selector", {"matchLabels": labels})["matchLabels"] == labels
            for container in pod["containers"]:
                security = container["securityContext"]
                assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
                assert security["capabilities"] == {"drop": ["ALL"]}
                mounts = {mount["name"] for mount in container["volumeMounts"]}
                claims = {claim["metadata"]["name"] for claim in found["spec"].get("volumeClaimTemplates", [])}
                assert mounts == claims | {volume["name"] for volume in pod.get("volumes", [])}


def arguments(found: dict, given: dict, places: dict, typed: list | None = None) -> list:
    """The arguments of the one container, or those typed in their place, as Kubernetes expands them, with the machine's own places."""
    (container,) = found["spec"]["template"]["spec"]["containers"]
    given = {"N": BOARD} | given
    assert set(given) >= {variable["name"] for variable in container["env"]}

    def here(argument: str) -> str:
        argument = re.sub(r"\$\((\w+)\)", lambda name: given[name[1]], argument)
        for place, own in places.items():
            argument = argument.replace(place, own)
        return argument

    return [here(argument) for argument in typed or container["args"]]


def answer_of(output: str) -> str:
    return next(line for line in output.splitlines() if line.startswith("Q("))


def count_shards(binary: str, folder: Path) -> None:
    job = of_kind("shards.yaml", "Job")
    places = {"/runs": str(folder)}
    codes = {}
    for index in range(job["spec"]["completions"]):
        command = [binary, *arguments(job, {"INDEX": str(index), "NODE": f"node-{index % 2}"}, places)]
        codes[index] = subprocess.run(command, capture_output=True, timeout=60).returncode
    assert set(codes.values()) == {0}, codes
    merge = of_kind("merge.yaml", "Job")
    # Process 1 ignores signals that it does not ask for.
    assert all(of_kind(name, "Job")["spec"]["template"]["spec"]["shareProcessNamespace"] for name in ("merge.yaml", "mend.yaml"))
    final = merge["spec"]["podFailurePolicy"]["rules"][1]["onExitCodes"]["values"]

    def joined(name: str, parts: slice = slice(None)) -> subprocess.CompletedProcess:
        subcommand, out, *shards = arguments(merge, {"JOINED": name}, places)
        command = [binary, subcommand, out, *shards[parts]]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    # Joined too early, it is joined again by another name.
    assert joined("early", slice(-1)).returncode in final
    assert joined("early").returncode != 0
    merged = joined("late")
    assert merged.returncode == 0, merged
    ledger = "".join(file.read_text() for file in sorted((folder / "late" / "ledger").iterdir()))
    assert set(re.findall(r'"machine":"([^"]*)"', ledger)) == {"node-0", "node-1"}, "machines are nodes"
    tell_exact("shards", answer_of(merged.stdout))


def count_together(binary: str, folder: Path) -> None:
    keys = folder / "keys"
    subprocess.run([binary, "keys", "init", str(keys), "--host", "diadem-coordinator"], check=True, capture_output=True)
    grpc, dashboard = free_port(), free_port()
    places = {"/runs": str(folder), "0.0.0.0:7227": f"127.0.0.1:{grpc}", "0.0.0.0:7228": f"127.0.0.1:{dashboard}"}
    places |= {"diadem-coordinator:7227": f"localhost:{grpc}"}
    stateful = of_kind("coordinator.yaml", "StatefulSet")
    command = [binary, *arguments(stateful, {}, places | {"/keys": str(keys / "coordinator")})]
    coordinator = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    copy = {"/runs": str(folder / "copy"), "/keys": str(keys / "follower")}
    command = arguments(of_kind("follower.yaml", "Job"), {}, places | copy)
    follower = subprocess.Popen([binary, *command])
    try:
        container = stateful["spec"]["template"]["spec"]["containers"][0]
        ports = {port["name"]: {7227: grpc, 7228: dashboard}[port["containerPort"]] for port in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            wait_for_port(ports[container[probe]["tcpSocket"]["port"]])
        wait_for(f"https://localhost:{dashboard}/healthz")
        command = arguments(of_kind("workers.yaml", "Deployment"), {"NODE": "node", "POD": "pod"},
                            places | {"/keys": str(keys / "worker")})
        subprocess.run([binary, *command], check=True, timeout=120)
        assert follower.wait(timeout=60) == 0
    finally:
        follower.kill()
        # --stay: it ends when it is asked to.
        coordinator.terminate()
    tell_exact("coordinator and worker", answer_of(coordinator.communicate(timeout=30)[0]))
    subprocess.run([binary, "verify", f"{folder}/copy/diadem-{BOARD}"], check=True, capture_output=True, timeout=60)


def mend(binary: str, folder: Path) -> None:
    """What mend.yaml proposes is done, one after the other, to the run that a coordinator and a worker have counted."""
    job, stateful = of_kind("mend.yaml", "Job"), of_kind("coordinator.yaml", "StatefulSet")
    (volume,) = job["spec"]["template"]["spec"]["volumes"]
    claims = {claim["metadata"]["name"] for claim in stateful["spec"]["volumeClaimTemplates"]}
    assert volume["persistentVolumeClaim"]["claimName"] in {f"{claim}-{stateful['metadata']['name']}-0" for claim in claims}
    port = free_port()
    places = {"/runs": str(folder), "127.0.0.1:7227": f"127.0.0.1:{port}"}
    proposed = re.findall(r"# args: (\[.*\])", (HERE / "mend.yaml").read_text())
    retract, accept_loss, take_over = (
        [binary, *arguments(job, {}, places, yaml.safe_load(typed))] for typed in proposed
    )
    verify = [binary, *arguments(job, {}, places)]

    def code(command: list) -> int:
        return subprocess.run(command, capture_output=True, timeout=60).returncode

    assert code(verify) == 0
    assert code(retract) == 0
    # A unit is missing now.
    assert code(verify) == 3
    ledger = folder / f"diadem-{BOARD}" / "ledger" / "000001.jsonl"
    ledger.write_text("".join(ledger.read_text().splitlines(keepends=True)[:-100]))
    assert code([part for part in accept_loss if part != "--accept-loss"]) == 3
    assert code(accept_loss) == 0
    serving = subprocess.Popen(take_over)
    try:
        wait_for_port(port)
    finally:
        serving.terminate()
    assert serving.wait(timeout=30) in (0, 143)
    print("   what mend.yaml proposes verifies a run, takes a count back, accepts a loss and takes over")


def wait_for_port(port: int) -> None:
    for _ in range(100):
        try:
            with socket.create_connection(("localhost", port), timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(port)


def wait_for(url: str) -> None:
    # The kubelet does not look at certificates either.
    unchecked = ssl.create_default_context()
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE
    for _ in range(100):
        try:
            with urlopen(Request(url), context=unchecked, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(url)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def tell_exact(what: str, answer: str) -> None:
    assert answer == f"Q({BOARD}) = 365596: agrees with the published value", answer
    print(f"   {what}: {answer}")


if __name__ == "__main__":
    check_schemas()
    check_pods()
    count_shards(sys.argv[1], Path(sys.argv[2]) / "shards")
    count_together(sys.argv[1], Path(sys.argv[2]) / "together")
    mend(sys.argv[1], Path(sys.argv[2]) / "together")
