"""What deploy/ holds is well-formed in the judgement of tools that know, and says nothing that the code does not."""

import json
import re
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from leasehold.http.allowed_hosts import OwnNames
from leasehold.metrics import CATALOGUE
from leasehold.settings import Settings
from tests.deploy.files import DEPLOY, alerts, documents, grouped, judged, selectors

[COMPOSE] = documents(DEPLOY / "compose.yaml")
MANIFESTS = sorted(path for path in (DEPLOY / "kubernetes").glob("*.yaml") if path.name != "kustomization.yaml")
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboards" / "leasehold.json").read_text())
RUNBOOK = (DEPLOY.parent / "docs" / "operating" / "runbook.md").read_text()
#: Labels that Prometheus adds.
SCRAPED = {"instance", "job", "le"}


def queries() -> list[tuple[str, str]]:
    return [(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]


# -- containers -----------------------------------------------------------------------------------------------------


def test_the_compose_file_is_one() -> None:
    judged("check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")


def test_the_image_is_built_well_and_runs_as_nobody_special() -> None:
    judged("hadolint", DEPLOY / "Dockerfile")
    text = (DEPLOY / "Dockerfile").read_text()
    last = text[text.rindex("\nFROM ") :]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert 'ENTRYPOINT ["leasehold"]' in last
    assert text.count("--require-hashes") == 2
    installs = re.findall(r"pip (?:install|wheel) .*", text)
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs), "nothing comes unpinned"


def test_what_the_image_copies_is_not_ignored() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    copied = {
        word.split("/")[0] for line in re.findall(r"^COPY (?!--from)(.*)", text, re.M) for word in line.split()[:-1]
    }
    allowed = set(re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE))
    assert copied == allowed
    assert all((DEPLOY.parent / name).exists() for name in copied)


@pytest.mark.parametrize("name", sorted(set(COMPOSE["services"]) - {"migrate"}))
def test_a_service_comes_back_tells_its_health_and_listens_on_loopback_alone(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"]
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert not service["image"].endswith(":latest")


def test_there_are_two_workers_with_room_to_stop_after_a_finished_migration() -> None:
    worker = COMPOSE["services"]["worker"]
    assert worker["deploy"]["replicas"] == "${LEASEHOLD_WORKERS:-2}"
    usual = Settings()
    assert int(worker["stop_grace_period"].removesuffix("s")) > usual.grace_seconds + usual.overrun_seconds
    for name in ("server", "worker"):
        assert COMPOSE["services"][name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}


def test_the_server_counts_the_clients_behind_a_proxy_and_not_the_proxy() -> None:
    text = re.sub(r"\$\{NETWORK_PREFIX:-([0-9.]+)\}", r"\1", (DEPLOY / "compose.yaml").read_text())
    compose = yaml.safe_load(text)
    [network] = compose["networks"]["default"]["ipam"]["config"]
    trusted = trusted_by(compose["services"]["server"]["environment"]["LEASEHOLD_TRUSTED_PROXIES"])
    assert ip_address(network["gateway"]) in trusted, "a proxy on the machine comes through the gateway"
    assert ip_network(network["subnet"]) == trusted
    [pod] = [
        one["spec"]["template"]["spec"]
        for one in documents(DEPLOY / "kubernetes" / "server.yaml")
        if one["kind"] == "Deployment"
    ]
    given = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
    assert trusted_by(given["LEASEHOLD_TRUSTED_PROXIES"]).is_private
    unit = (DEPLOY / "systemd" / "leasehold-server.service").read_text()
    assert "Environment=LEASEHOLD_TRUSTED_PROXIES=127.0.0.1\nEnvironmentFile=" in unit, "the operator's file wins"


def trusted_by(value: str) -> IPv4Network | IPv6Network:
    settings = Settings.from_env({"LEASEHOLD_TRUSTED_PROXIES": value})
    return ip_network(settings.trusted_proxies or "")


def test_the_server_answers_to_the_names_that_others_in_the_files_call_it_by() -> None:
    names = COMPOSE["services"]["server"]["environment"]["LEASEHOLD_HOSTS"]
    scraped = documents(DEPLOY / "prometheus" / "prometheus.yml")[0]["scrape_configs"][0]["static_configs"][0][
        "targets"
    ]
    called = OwnNames(Settings(hosts=names), loopback=False)
    for host in (*scraped, "127.0.0.1:8080", "localhost:8080"):
        assert called.has(host, local_address=("172.18.0.3", 8080)), host
    server, service = documents(DEPLOY / "kubernetes" / "server.yaml")
    given = {one["name"]: one.get("value") for one in server["spec"]["template"]["spec"]["containers"][0]["env"]}
    called = OwnNames(Settings(hosts=given["LEASEHOLD_HOSTS"]), loopback=False)
    name = service["metadata"]["name"]
    for host in (name, f"{name}.leasehold", f"{name}.leasehold.svc.cluster.local"):
        assert called.has(host, local_address=("10.0.0.9", 8080)), host
    assert given["LEASEHOLD_PUBLIC_URL"].startswith("https://")


def test_no_secret_stands_in_a_file_and_every_variable_is_explained() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    example = (DEPLOY / ".env.example").read_text()
    used = set(re.findall(r"\$\{(\w+)", text))
    given = dict(re.findall(r"^(\w+)=(.*)$", example, re.MULTILINE))
    assert {name for name in used if not name.endswith("_PORT")} == set(given)
    assert {name: value for name, value in given.items() if re.search("PASSWORD|PEPPER|KEYS", name) and value} == {}


@pytest.mark.parametrize(
    "path", sorted(p for p in DEPLOY.rglob("*") if p.suffix in (".yaml", ".service")), ids=lambda p: p.name
)
def test_every_setting_that_a_file_gives_is_one(path: Path) -> None:
    known = {f"LEASEHOLD_{name.upper()}" for name in Settings.__dataclass_fields__}
    own = {"LEASEHOLD_IMAGE", "LEASEHOLD_WORKERS"} | {f"LEASEHOLD_{r}_PASSWORD" for r in ("API", "WORKER", "OPERATOR")}
    assert set(re.findall(r"LEASEHOLD_\w+", path.read_text())) <= known | own


# -- Kubernetes, systemd, shell -------------------------------------------------------------------------------------


def test_kubernetes_would_accept_the_manifests() -> None:
    judged("kubernetes-validate", "--strict", "--quiet", *MANIFESTS)


def test_what_kustomize_renders_would_be_accepted_and_pulls_images_by_digest(tmp_path: Path) -> None:
    rendered = tmp_path / "rendered.yaml"
    rendered.write_text(judged("kubectl", "kustomize", DEPLOY / "kubernetes"))
    judged("kubernetes-validate", "--strict", "--quiet", rendered)
    made = documents(rendered)
    assert {one["metadata"].get("namespace", "leasehold") for one in made} == {"leasehold"}
    images = [container["image"] for one in made for container in pod_of(one).get("containers", ())]
    assert len(images) == 3
    assert all(re.fullmatch(r"\S+@sha256:[0-9a-f]{64}", image) for image in images), images


def pod_of(resource: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = resource.get("spec", {}).get("template", {}).get("spec", {})
    return found


def test_no_pod_is_reached_or_reaches_anything_that_no_policy_names() -> None:
    resources = [document for path in MANIFESTS for document in documents(path)]
    policies = {one["metadata"]["name"]: one["spec"] for one in resources if one["kind"] == "NetworkPolicy"}
    assert policies.pop("nothing-else") == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    ingress: dict[str, list[Any]] = {}
    for one in (pod for pod in resources if pod_of(pod)):
        labels = one["spec"]["template"]["metadata"]["labels"]
        own = [rule for rule in policies.values() if rule["podSelector"]["matchLabels"].items() <= labels.items()]
        ports = {port["port"] for rule in own for way in rule.get("egress", ()) for port in way["ports"]}
        assert ports >= {53, 5432}, "it finds its database"
        component = labels["app.kubernetes.io/component"]
        ingress[component] = [way for rule in own for way in rule.get("ingress", ())]
        blocks = [
            to["ipBlock"]
            for rule in own
            for way in rule.get("egress", ())
            for to in way.get("to", ())
            if "ipBlock" in to
        ]
        wide = [block for block in blocks if block["cidr"] in ("0.0.0.0/0", "::/0")]
        for block in wide:
            inner = [
                "10.1.2.3",
                "169.254.169.254",
                "192.168.1.1",
                "172.20.0.1",
                "100.64.0.1",
                "127.0.0.1",
                "fd00:ec2::254",
            ]
            network = ip_network(block["cidr"])
            for address in (ip for ip in map(ip_address, inner) if ip.version == network.version):
                assert any(address in ip_network(net) for net in block["except"]), address
        assert bool(wide) == (component in ("server", "worker"))
    assert ingress["migrate"] == []
    for component, port in (("server", "http"), ("worker", "metrics")):
        [way] = ingress[component]
        assert [p["port"] for p in way["ports"]] == [port]
        assert all(way["from"]), "not from everywhere"


MEGABYTES = {"m": 1, "M": 1, "g": 1024, "G": 1024, "Mi": 1, "Gi": 1024}


def megabytes(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()  # type: ignore[union-attr]
    return int(number) * MEGABYTES[unit]


def test_memory_is_limited_everywhere_and_a_worker_is_replaced_before_it_is_killed() -> None:
    limits = {}
    for name, service in COMPOSE["services"].items():
        assert service["memswap_limit"] == service["mem_limit"], f"{name} would go on in swap"
        limits[name] = megabytes(service["mem_limit"]) * (2 if name == "worker" else 1)
        for mount in service.get("tmpfs", ()):
            assert "size=" in mount, f"{name} could fill its memory with files"
    assert sum(limits.values()) - limits["migrate"] <= 4096, "all of it fits into the machine that the page names"
    given = {
        "compose": (COMPOSE["services"]["worker"]["environment"], megabytes(COMPOSE["services"]["worker"]["mem_limit"]))
    }
    for one in (document for path in MANIFESTS for document in documents(path)):
        for container in pod_of(one).get("containers", ()):
            limit = megabytes(container["resources"]["limits"]["memory"])
            if one["metadata"]["name"] == "leasehold-worker":
                given["kubernetes"] = ({env["name"]: env.get("value") for env in container["env"]}, limit)
        assert all("sizeLimit" in volume["emptyDir"] for volume in pod_of(one).get("volumes", ()))
    for path in sorted((DEPLOY / "systemd").iterdir()):
        unit = dict(re.findall(r"^(Memory\w+)=(.*)$", path.read_text(), re.MULTILINE))
        assert unit["MemorySwapMax"] == "0"
        if "worker" in path.name:
            env = dict(re.findall(r"^Environment=(\w+)=(.*)$", path.read_text(), re.MULTILINE))
            given["systemd"] = (env, megabytes(unit["MemoryMax"]))
    assert len(given) == 3
    for where, (env, limit) in given.items():
        assert int(env["LEASEHOLD_MAX_MEMORY_MB"]) <= 0.8 * limit, where


def test_images_of_others_are_named_by_digest() -> None:
    named = [service["image"] for service in COMPOSE["services"].values() if "LEASEHOLD_IMAGE" not in service["image"]]
    named += re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert len(named) == 6
    assert all(re.fullmatch(r"[a-z/]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}", image) for image in named), named
    assert "# syntax=" not in (DEPLOY / "Dockerfile").read_text(), "it would be pulled by its tag"


def test_every_deployment_has_probes_room_to_stop_and_a_budget() -> None:
    resources = [document for path in MANIFESTS for document in documents(path)]
    deployments = [one for one in resources if one["kind"] == "Deployment"]
    budgets = {
        one["metadata"]["name"]: one["spec"]["selector"] for one in resources if one["kind"] == "PodDisruptionBudget"
    }
    assert {one["metadata"]["name"] for one in deployments} == set(budgets) == {"leasehold-server", "leasehold-worker"}
    for one in deployments:
        assert budgets[one["metadata"]["name"]] == one["spec"]["selector"]
        pod = one["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)
        assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert pod["securityContext"]["runAsNonRoot"]
    listed = documents(DEPLOY / "kubernetes" / "kustomization.yaml")[0]["resources"]
    assert {*listed, "secret.example.yaml"} == {path.name for path in MANIFESTS}


@pytest.mark.parametrize("path", sorted((DEPLOY / "systemd").iterdir()), ids=lambda path: path.name)
def test_systemd_understands_a_unit(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    program = tmp_path / "leasehold"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / path.name.replace("@", "@9481")
    assert "ExecStart=/opt/leasehold/bin/leasehold " in text
    unit.write_text(text.replace("/opt/leasehold/bin/leasehold", str(program)))
    judged("systemd-analyze", "verify", "--man=no", unit)


def test_the_shell_scripts_are_sound() -> None:
    judged("shellcheck", DEPLOY / "deploy.sh", DEPLOY / "postgres" / "roles.sh", DEPLOY.parent / ".ci" / "run")


# -- Prometheus and Grafana -----------------------------------------------------------------------------------------


def test_prometheus_understands_its_configuration_and_the_alerts_do_what_they_say() -> None:
    judged("promtool", "check", "config", "--syntax-only", DEPLOY / "prometheus" / "prometheus.yml")
    judged("promtool", "check", "rules", DEPLOY / "prometheus" / "alerts.yml")
    judged("promtool", "test", "rules", DEPLOY / "prometheus" / "alerts.test.yml")


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_an_alert_has_an_entry_in_the_runbook(alert: dict[str, Any]) -> None:
    name = alert["alert"]
    assert alert["annotations"]["runbook"] == f"docs/operating/runbook.md#{name.lower()}"
    entry = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", RUNBOOK, re.MULTILINE | re.DOTALL)
    assert entry, "it has none"
    assert f"*{alert['labels']['severity']}.*" in entry[1]
    assert re.search(r"^1\. ", entry[1], re.MULTILINE), "it says what to do"


def test_the_runbook_has_no_entry_without_an_alert() -> None:
    assert re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE) == [alert["alert"] for alert in alerts()]


EXPRESSIONS = [(alert["alert"], alert["expr"]) for alert in alerts()] + queries()


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS, ids=[f"{n}-{w}" for n, (w, _) in enumerate(EXPRESSIONS)])
def test_a_query_uses_documented_metrics_and_their_labels_alone(where: str, expression: str) -> None:
    labels = set()
    for name, selected in selectors(expression):
        family = name if name in CATALOGUE else name.removesuffix("_bucket")
        assert family in CATALOGUE, f"{where}: there is no leasehold_{name}"
        assert name == family or CATALOGUE[family].type == "histogram"
        assert selected <= set(CATALOGUE[family].labels), where
        labels |= set(CATALOGUE[family].labels)
    assert grouped(expression) <= labels | SCRAPED, where
    assert ("rate(" in expression or "increase(" in expression) == any(
        CATALOGUE[name.removesuffix("_bucket")].type != "gauge" for name, _ in selectors(expression)
    ), "a counter is read by its rate, a gauge as it is"


def test_prometheus_understands_every_query_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"q{n}", "expr": query.replace("$__rate_interval", "5m")} for n, (_, query) in enumerate(queries())
    ]
    (tmp_path / "queries.yml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    judged("promtool", "check", "rules", tmp_path / "queries.yml")


def test_the_dashboard_shows_every_metric_but_the_sums_behind_others() -> None:
    shown = {name.removesuffix("_bucket") for _, query in queries() for name, _ in selectors(query)}
    assert set(CATALOGUE) - shown == {"minute_wait_seconds", "minute_run_seconds", "queue_paused"}
    panels = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [(x, y) for p in panels for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells)), "no panel lies on another"
