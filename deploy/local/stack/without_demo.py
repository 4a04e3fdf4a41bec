"""The stack without the demo, `make up DEMO=0`: its configuration, and the next steps after the start."""

from dataclasses import replace

from stack.report import Report
from stack.settings import Settings

#: Under [config]: the file of the demo, and the file in its place.
EMPTY = {
    "recommender": ("deploy/local/sluice.yaml", "deploy/local/empty/sluice.yaml"),
    "actuator": ("deploy/local/actuator.yaml", "deploy/local/empty/actuator.yaml"),
}


def without_demo(settings: Settings) -> Settings:
    """With empty files in the place of the demo's. A file that [config] names otherwise stays."""
    empty = {key: file for key, (demo, file) in EMPTY.items() if settings.config[key] == demo}
    return replace(settings, config={**settings.config, **empty})


def next_steps(settings: Settings, report: Report) -> None:
    at = settings.address
    rows = [
        (f"OTEL_EXPORTER_OTLP_ENDPOINT=http://{at('otlp_grpc')}", f"unsampled traces go here; HTTP: {at('otlp_http')}"),
        ("./sluice doctor", "whether spans arrive, and what is missing"),
        ("./sluice pools list", "the pools that it finds, and their sizes"),
        ("./sluice pools discover", "the candidates that spans show, and why they are no pools"),
        (settings.config["recommender"], "your SLOs and pools"),
        (settings.config["actuator"], "where their sizes are read and written"),
        ("./sluice reload", "takes both files, or prints their errors"),
    ]
    report.line("  The stack runs without the demo, and waits for your application:")
    report.line()
    for what, purpose in rows:
        report.line(f"  {what:<58} {purpose}")
