"""The commands `sluice tuning list | status | stop`."""

from datetime import UTC, datetime

import click

from sluice.cli.output import EXIT_CODES, FORMS, output_option, say, show_list
from sluice.cli.pools.message_json import message_to_json, show_message
from sluice.cli.pools.options import address_option
from sluice.cli.table import columns, print_table
from sluice.cli.tuning.client import connect
from sluice.cli.tuning.options import session_argument
from sluice.cli.tuning.text import changed, gain_text, phase_text, settings_text, verdict_text, worth_text
from sluice.tuning.v1 import session_pb2, trial_pb2
from sluice.tuning.v1 import tuning_service_pb2 as api

SESSIONS = columns("SESSION", "TARGET", "METHOD", "PHASE", "CREATED", "GAIN", "WHY~")
TRIALS = columns("TRIAL>", "FOR", "VERDICT", "VALUE", "SET~")
EFFECTS = columns("PARAMETER", "STRENGTH>", "BY CHANCE>", "TRIALS>")


@click.command("list", epilog=EXIT_CODES)
@click.option("--target", default="", help="Only sessions of this application.")
@address_option
@output_option(*FORMS)
def list_command(target: str, address: str, output: str) -> None:
    """List sessions by name.

    The recommender keeps the newest ended ones, up to 200 sessions in all.

    \b
    Examples:
      sluice tuning list
      sluice tuning list --target shop -o json | jq -r '.[].plan.name'
    """
    with connect(address) as client:
        sessions = list(client.list(target))
    empty = "There are no tuning sessions" + (f" of {target}." if target else ".")
    show_list(sessions, output, lambda shown: print_table(SESSIONS, map(_session_row, shown)), empty, message_to_json)


@click.command("status", epilog=EXIT_CODES)
@session_argument
@address_option
@output_option(*FORMS)
def status_command(session: str, address: str, output: str) -> None:
    """Show a session, its trials and their results.

    The last table has the parameters with the largest effects. BY CHANCE is the probability of such a strength for a
    parameter without effect: of 30 parameters one or two are below 5 %.

    \b
    Examples:
      sluice tuning status first
      sluice tuning status first -o json | jq '.recommended'
    """
    with connect(address) as client:
        answer = client.explain(session)
    show_message(answer, output, print_status)


@click.command("stop", epilog=EXIT_CODES)
@session_argument
@click.option("--why", default="", help="Reason; everybody who looks at the session sees it.")
@address_option
def stop_command(session: str, why: str, address: str) -> None:
    """End a session.

    It gets no more trials, and the actuator restores the configuration from before.

    \b
    Example:
      sluice tuning stop first --why "release 2.4 is rolled out"
    """
    with connect(address) as client:
        client.stop(session, why)
    say(f"{session} is stopped")


def print_status(answer: api.ExplainSessionResponse) -> None:
    session = answer.session
    plan, trials = session.plan, session.trials
    ended = sum(trial.HasField("outcome") for trial in trials)
    say(f"{plan.name} on {plan.target}: {phase_text(session)}, {ended} trials ended ({plan.method})", style="bold")
    if session.why:
        say(f"  {session.why}")
    default = trials[0] if trials else None
    if trials:
        print_table(TRIALS, [_trial_row(trial, default) for trial in trials])
    if answer.changed:
        say(f"best so far: {settings_text(answer.changed)}")
    if session.phase == session_pb2.PHASE_DONE:
        say(f"gain: {gain_text(session)}")
    if answer.effects:
        print_table(
            EFFECTS,
            [(e.parameter, f"{e.strength:+.2f}", f"{e.chance:.1%}", str(e.trials)) for e in answer.effects[:10]],
        )


def _session_row(session: session_pb2.TuningSession) -> tuple[str, ...]:
    created = datetime.fromtimestamp(session.created_at.seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    plan = session.plan
    return plan.name, plan.target, plan.method, phase_text(session), created, gain_text(session), session.why


def _trial_row(trial: trial_pb2.Trial, default: trial_pb2.Trial | None) -> tuple[str, ...]:
    purpose = trial_pb2.Purpose.Name(trial.purpose).removeprefix("PURPOSE_").lower()
    why = f"; {trial.outcome.why}" if trial.outcome.why else ""
    return str(trial.number), purpose, verdict_text(trial) + why, worth_text(trial.outcome), changed(trial, default)
