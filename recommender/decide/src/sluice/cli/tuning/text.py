"""Text for sessions, trials and values."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.tuning.v1 import session_pb2, space_pb2, trial_pb2

ENDED = (session_pb2.PHASE_DONE, session_pb2.PHASE_STOPPED)


def value_text(value: space_pb2.Value) -> str:
    match value.WhichOneof("kind"):
        case "integer":
            return str(value.integer)
        case "number":
            return f"{value.number:g}"
        case "choice":
            return value.choice
        case "flag":
            return "true" if value.flag else "false"
        case _:
            return "-"


def settings_text(settings: Iterable[space_pb2.Configuration.Setting]) -> str:
    return ", ".join(f"{setting.parameter}={value_text(setting.value)}" for setting in settings)


def changed(trial: trial_pb2.Trial, default: trial_pb2.Trial | None) -> str:
    """The settings that differ from the default's trial."""
    if default is None or trial.number == default.number:
        return "the default"
    usual = {setting.parameter: setting.value for setting in default.configuration.settings}
    return settings_text(
        setting for setting in trial.configuration.settings if usual.get(setting.parameter) != setting.value
    )


def phase_text(session: session_pb2.TuningSession) -> str:
    return session_pb2.Phase.Name(session.phase).removeprefix("PHASE_")


def verdict_text(trial: trial_pb2.Trial) -> str:
    if trial.HasField("outcome"):
        return trial_pb2.Verdict.Name(trial.outcome.verdict).removeprefix("VERDICT_")
    return "MEASURED" if trial.HasField("applied_at") else "HANDED OUT"


def worth_text(outcome: trial_pb2.Outcome) -> str:
    if not outcome.HasField("value"):
        return "-"
    if outcome.HasField("lower") and outcome.HasField("upper"):
        return f"{outcome.value:.4g} ({outcome.lower:.4g} to {outcome.upper:.4g})"
    return f"{outcome.value:.4g}"


def trial_line(trial: trial_pb2.Trial, default: trial_pb2.Trial | None) -> str:
    """The line that `watch` prints when a trial ends."""
    outcome = trial.outcome
    purpose = trial_pb2.Purpose.Name(trial.purpose).removeprefix("PURPOSE_").lower()
    why = f"  {outcome.why}" if outcome.why else ""
    what = changed(trial, default)
    return f"{trial.number:>4}  {purpose:<7}  {verdict_text(trial):<10}  {worth_text(outcome)}{why}  {what}"


def gain_text(session: session_pb2.TuningSession) -> str:
    if not session.HasField("gain"):
        return "-"
    gain = session.gain
    return f"{gain.share:.1%} ({gain.lower:.1%} to {gain.upper:.1%})"
