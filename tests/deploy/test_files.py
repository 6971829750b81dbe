"""What deploy/ holds is well-formed in the judgement of tools that know, and says nothing that the code does not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

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
