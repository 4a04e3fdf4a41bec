"""Checks the charts: what is generated, helm's lint, values that are legal or not, rendered examples, unit tests,
schemas of Kubernetes 1.36, alerts. `--write` renders the examples anew, in place of checking.

An example is a folder of examples/ with values.yaml, else the chart's values-NAME.yaml; rendered.yaml beside it is
committed. Each file of tests/bad/ is one mistake, on top of an example; its first line has a part of the message.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

HELM = Path(__file__).parent
CACHE = HELM.parents[1] / ".cache"
PROGRAMS = CACHE / "bin/charts"
SCHEMAS = CACHE / "kubernetes-schemas"
CHARTS = ("sluice", "sluice-actuator")
ALERTS = HELM.parent / "alerts"


def run(*words: object, text: str | None = None) -> tuple[int, str]:
    """Exit status of a command and both its outputs together. Helm's own folders are in .cache."""
    homes = {f"HELM_{kind}_HOME": str(CACHE / "helm" / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    done = subprocess.run(
        [str(word) for word in words], input=text, capture_output=True, text=True, env={**os.environ, **homes}
    )
    return done.returncode, done.stdout + done.stderr


def chart_of(name: str) -> str:
    return "sluice-actuator" if name.startswith("actuator") else "sluice"


def examples() -> list[str]:
    return sorted(folder.name for folder in (HELM / "examples").iterdir())


def values_of(name: str) -> Path:
    own = HELM / "examples" / name / "values.yaml"
    return own if own.is_file() else HELM / chart_of(name) / f"values-{name}.yaml"


def render(name: str, *more: object) -> tuple[int, str]:
    chart = chart_of(name)
    namespace = "shop" if chart == "sluice-actuator" else "sluice"
    return run(
        PROGRAMS / "helm", "template", chart, HELM / chart, "--namespace", namespace, "--values", values_of(name), *more
    )


def generated() -> str:
    scripts = HELM / "generate.py", ALERTS / "alert_forms.py"
    outcomes = [run(sys.executable, script, "--check") for script in scripts]
    return "".join(output for status, output in outcomes if status)


def lint() -> str:
    faults = []
    for name in examples():
        status, output = run(
            PROGRAMS / "helm", "lint", "--strict", "--quiet", HELM / chart_of(name), "--values", values_of(name)
        )
        faults += [f"{name}: {output}"] if status else []
    return "\n".join(faults)


def rendered() -> str:
    faults = []
    for name in examples():
        status, output = render(name)
        committed = HELM / "examples" / name / "rendered.yaml"
        if status:
            faults.append(f"{name}: {output}")
        elif not committed.is_file() or committed.read_text() != output:
            old = committed.read_text() if committed.is_file() else ""
            lines = difflib.unified_diff(old.splitlines(), output.splitlines(), str(committed), "now", lineterm="", n=2)
            faults.append("\n".join(list(lines)[:60]) + "\nrun `make generate` and commit what it changes")
    return "\n".join(faults)


def bad_values() -> str:
    faults = []
    for path in sorted((HELM / "tests/bad").glob("*.yaml")):
        expected = path.read_text().splitlines()[0].removeprefix("# expect: ")
        status, output = render("actuator" if chart_of(path.stem) == "sluice-actuator" else "default", "--values", path)
        if not status or expected not in output:
            faults.append(
                f"tests/bad/{path.name}: want an error with {expected!r}, got {output[-600:] if status else 'none'}"
            )
    return "\n".join(faults)


def stable() -> str:
    """Nothing changes at each render, and the migration's Job has another name only where it does something else."""
    names = {}
    for setting in ("server.replicas=3", "server.replicas=7", "image.tag=0.2.0"):
        _, output = render("default", "--set", setting)
        names[setting] = next(name for name in re.findall(r"name: (\S+)", output) if "-migration-" in name)
    if render("default") != render("default"):
        return "two renders of one example differ"
    first, same, other = names.values()
    return "" if first == same != other else f"names of the migration's Job: {names}"


def unit_tests() -> str:
    status, output = run(PROGRAMS / "helm-unittest", "--strict", *(HELM / chart for chart in CHARTS))
    return output if status else ""


def schemas() -> str:
    """Of Kubernetes' objects by its own schemas; of operators', which no registry has, by those of schemas/."""
    for own in (HELM / "schemas").glob("*.json"):
        shutil.copy(own, SCHEMAS)
    place = SCHEMAS / "{{ .ResourceKind }}{{ .KindSuffix }}.json"
    actuator = HELM / "sluice-actuator"
    files = [
        actuator / "sidecar.yaml",
        actuator / "crds/softresources.yaml",
        *(HELM / "examples").glob("*/rendered.yaml"),
    ]
    status, output = run(PROGRAMS / "kubeconform", "-strict", "-schema-location", place, *files)
    return output if status else ""


def alerts() -> str:
    """promtool's judgement of the rules, and its tests of them. Set-up has promtool on Debian and Ubuntu only."""
    promtool = PROGRAMS / "promtool"
    if not promtool.is_file():
        print("   alerts: skipped, no promtool (set-up takes it from Debian's package prometheus)")
        return ""
    objects = yaml.safe_load_all((HELM / "examples/scaled/rendered.yaml").read_text())
    (rule,) = (each for each in objects if each and each["kind"] == "PrometheusRule")
    folder = CACHE / "alerts"
    folder.mkdir(exist_ok=True)
    (folder / "rules.yaml").write_text(yaml.safe_dump(rule["spec"]))
    status, tests = run(sys.executable, ALERTS / "alert_cases.py")
    if status:
        return tests
    (folder / "test.yaml").write_text(tests)
    for words in (("check", "rules", folder / "rules.yaml"), ("test", "rules", folder / "test.yaml")):
        status, output = run(promtool, *words)
        if status:
            return output
    return ""


CHECKS: Sequence[Callable[[], str]] = (generated, lint, rendered, bad_values, stable, unit_tests, schemas, alerts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write what generate.py makes, and the rendered examples")
    if parser.parse_args().write:
        status, output = run(sys.executable, HELM / "generate.py")
        print(output, end="")
        for name in examples() if not status else ():
            status, output = render(name)
            if status:
                print(f"{name}: {output}")
                return status
            (HELM / "examples" / name / "rendered.yaml").write_text(output)
        return status
    failed = 0
    for check in CHECKS:
        fault = check()
        print(f"   {check.__name__.replace('_', ' ')}: {'FAILED' if fault else 'ok'}")
        if fault:
            print(fault)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
