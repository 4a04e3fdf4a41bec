"""The file of rules that say what spans are to pools: what is shipped, and what is refused. No Flink is needed."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest

JOBS = Path(__file__).resolve().parents[1] / "jobs"


@pytest.fixture(autouse=True)
def jobs_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(JOBS), *sys.path])


def lines(path: Path) -> list[str]:
    import span_rules

    return base64.urlsafe_b64decode(span_rules.encoded(span_rules.load(path))).decode().splitlines()


def written(folder: Path, text: str) -> Path:
    path = folder / "spans.toml"
    path.write_text(text)
    return path


def test_a_rule_becomes_lines_of_words(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [[rule]]
        name = "mine"
        action = "leave_out"
        service = "cart*"
        side = "server"
        span = ["GET /a", "GET /b"]
        path = "/healthz"
        attributes = {"component" = "proxy"}

        [[rule]]
        name = "wait"
        action = "waiting"
        scope = "pg"
        """,
    )
    assert lines(path) == [
        "rule\tmine\tleave_out",
        "service\tcart*",
        "side\tserver",
        "name\tGET /a\tGET /b",
        "values\tpath\turl.path,http.target,http.route\t/healthz",
        "values\twhole\tcomponent\tproxy",
        "rule\twait\twaiting",
        "scope\tpg",
    ]


def test_no_rules_are_a_parameter_too(tmp_path: Path) -> None:
    """Flink takes none without a value."""
    import span_rules

    assert span_rules.encoded(span_rules.load(written(tmp_path, ""))) == "Cg=="


def test_what_is_shipped_leaves_out_probes_scrapes_and_its_own() -> None:
    import span_rules

    rules = {rule.name: rule for rule in span_rules.load()}
    assert rules["sluice"].values == (span_rules.Values(span_rules.USER_AGENT, ("sluice-*",)),)
    assert rules["jolokia"].values[0].patterns[0] == "/jolokia*"
    probes = rules["probe-path"].values[0].patterns
    assert {"/healthz", "/livez", "/readyz", "/health", "/actuator/health", "/actuator/health/*"} <= {*probes}
    assert {"/metrics", "/actuator/prometheus"} <= {*rules["scrape-path"].values[0].patterns}
    by_action: dict[str, set[str]] = {}
    for name, rule in rules.items():
        by_action.setdefault(rule.action, set()).add(name)
    assert by_action == {
        "leave_out": {"sluice", "jolokia", "probe-path", "probe-grpc", "probe-agent", "scrape-path", "scrape-agent"},
        "waiting": {
            *("acquire-node-pg", "acquire-node", "acquire-java", "acquire-python", "acquire-go"),
            *("message-receive", "message-create"),
        },
        "around": {
            *("websocket", "websocket-scheme", "sse", "grpc-stream", "long-poll", "long", "linkerd", "envoy-inbound"),
        },
        "sidecar": {"envoy"},
        "not_a_pool": {"nodejs", "asyncio", "event-loop", "event-loop-thread", "virtual-thread"},
    }


def test_durations_and_alternative_names(tmp_path: Path) -> None:
    text = """
        [[rule]]
        name = "stream"
        action = "around"
        attributes = {"rpc.system|rpc.system.name" = "grpc"}
        longer_than = "2m"
        """
    assert lines(written(tmp_path, text)) == [
        "rule\tstream\taround",
        "values\twhole\trpc.system,rpc.system.name\tgrpc",
        "longer\t120000",
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[[rule]]\naction = 'count'", "rule 1: name is None: must be 1 to 64 letters"),
        ("[[rule]]\nname = 'a b'", "rule 1: name is 'a b': must be"),
        ("[[rule]]\nname = 'nested'", "not nested"),
        (
            "[[rule]]\nname = 'a'\naction = 'drop'",
            "rule a: action is 'drop': must be one of count, leave_out, waiting, around",
        ),
        (
            "[[rule]]\nname = 'a'\naction = 'count'\npaths = '/x'",
            "rule a: unknown key paths: expected name, action, service",
        ),
        (
            "[[rule]]\nname = 'a'\naction = 'count'\nside = 'left'\npath = '/'",
            "side is 'left': must be one of server, consumer, client",
        ),
        ("[[rule]]\nname = 'a'\naction = 'count'\nside = 'server'", "rule a: names no spans"),
        ("[[rule]]\nname = 'a'\naction = 'count'\npath = []", "rule a: path is []: must be a text, or a list"),
        ("[[rule]]\nname = 'a'\naction = 'count'\npath = \"a\\tb\"", "without control characters"),
        ("[[rule]]\nname = 'a'\naction = 'count'\nattributes = 'x'", "attributes is 'x': must be a table"),
        ("[[rule]]\nname = 'a'\naction = 'count'\nattributes = {'a,b' = 'x'}", "attributes: 'a,b' must be"),
        ("[[rule]]\nname='a'\naction='count'\npath='/'\n" * 2, "rule a: its name is there twice"),
        ("[[rule]]\nname = 'a'\naction = 'count'\nlonger_than = 60", "longer_than is 60: must be a whole number"),
        ("[[rule]]\nname = 'a'\naction = 'count'\nlonger_than = '25h'", "1ms to 24h"),
        ("[rule]\nname = 'a'", "must be tables, [[rule]]"),
        ("rules = 1", "unknown key rules: expected [[rule]]"),
        ("[[rule", "read "),
        (
            "".join(f"[[rule]]\nname = 'r{n}'\naction = 'count'\npath = '/'\n" for n in range(65)),
            "65 conditions on path, user_agent, attributes and longer_than: must be 64 or fewer",
        ),
    ],
)
def test_an_illegal_rule_is_named_before_the_job_is_submitted(tmp_path: Path, text: str, error: str) -> None:
    path = written(tmp_path, text)
    words = [sys.executable, JOBS / "run.py", "concurrency", "--check", "--span-rules", path]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2
    assert f"--span-rules: read {path}: " in answer.stderr
    assert error in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    words = [sys.executable, JOBS / "run.py", "concurrency", "--check", "--span-rules", tmp_path / "none.toml"]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 2
    assert "none.toml" in answer.stderr
    assert "Traceback" not in answer.stderr
