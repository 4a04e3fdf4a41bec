"""The configuration: what is legal, and what each bad file is told."""

from pathlib import Path

import pytest

from sluice.config import ConfigError, Upstream, load
from sluice.model.durations import parse_ms
from sluice.model.keys import PoolKey
from sluice.pools.section import BY_DEFAULT

BAD = sorted((Path(__file__).parent / "bad").glob("*.yaml"))
REPOSITORY = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_every_bad_file_is_told_what_is_wrong(path: Path) -> None:
    """Each file begins with the problems that it must be told, `# error: ...`, and no others."""
    expected = [line.removeprefix("# error: ") for line in path.read_text().splitlines() if line.startswith("# error:")]
    with pytest.raises(ConfigError) as caught:
        load(path)
    message = str(caught.value)
    for problem in expected:
        assert problem in message
    assert str(path) in message
    if expected != ["parse"] and "is defined twice\n" not in message:
        assert len(message.splitlines()) == len(expected)


def test_the_local_stacks_file_is_legal() -> None:
    config = load(REPOSITORY / "deploy/local/sluice.yaml")
    assert [str(pool.key) for pool in config.pools] == ["cart/server", "catalogue/client/catalogue-db"]
    cart, catalogue = config.pools
    (slo,) = config.slos_of(cart)
    assert (slo.latency, cart.measured, cart.bounds.min) == (250.0, BY_DEFAULT, 2)
    assert catalogue.measured == BY_DEFAULT
    (demo,) = config.subsets
    assert demo.wants("suggest", "suggest-index")
    assert not demo.wants("frontend", "cart"), "what tests send to a stack of the same file is no part of it"


def test_defaults(tmp_path: Path) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text("pools: [{service: db, side: client, peer: x, threshold: 1.5s}]")
    config = load(path)
    pool = config.pools[0]
    assert pool.key == PoolKey("db", "client", "x")
    assert (pool.threshold, pool.model, pool.bounds.min) == (1500.0, "belief", 1)
    assert (config.period, config.window, config.bucket, config.settle) == (1_000, 60_000, 100, "auto")


@pytest.mark.parametrize(("given", "processes"), [("auto", "auto"), ("3", 3)])
def test_processes_are_as_many_as_cores_or_given(tmp_path: Path, given: str, processes: object) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(f"processes: {given}\npools: [{{service: db, side: client, peer: x, threshold: 1.5s}}]")
    assert load(path).processes == processes


@pytest.mark.parametrize(("given", "settle"), [("auto", "auto"), ("2s", 2_000.0)])
def test_settle_is_measured_or_given(tmp_path: Path, given: str, settle: object) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(f"settle: {given}\npools: [{{service: db, side: client, peer: x, threshold: 1.5s}}]")
    assert load(path).settle == settle


@pytest.mark.parametrize(
    ("top", "own", "stored_ms", "used"),
    [
        ("{}", "{}", 100, 100.0),
        ("{bucket: 50ms}", "{}", 50, 50.0),
        ("{bucket: auto}", "{}", 100, "auto"),
        ("{bucket: auto, stored_bucket: 20ms}", "{bucket: 40ms}", 20, 40.0),
        ("{bucket: 50ms}", "{bucket: auto}", 50, "auto"),
        ("{bucket: 200ms, stored_bucket: 100ms}", "{bucket: 100ms}", 100, 100.0),
    ],
)
def test_a_pools_buckets(tmp_path: Path, top: str, own: str, stored_ms: int, used: object) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(f"<<: {top}\npools:\n  - {{<<: {own}, service: db, side: client, peer: x, threshold: 1.5s}}\n")
    config = load(path)
    assert (config.stored_ms, config.bucket_of(config.pools[0])) == (stored_ms, used)


def test_a_pool_may_name_several_slos(tmp_path: Path) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(
        "slos: [{name: a, service: f, operation: GET /, latency: 1s}, {name: b, service: f, latency: 2s}]\n"
        "pools: [{service: x, side: server, slo: [b, a]}, {service: y, side: server, slo: a}, "
        "{service: z, side: server, threshold: 1s}]\n"
    )
    config = load(path)
    assert [[slo.name for slo in config.slos_of(pool)] for pool in config.pools] == [["a", "b"], ["a"], []]


def test_a_measured_upstream(tmp_path: Path) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(
        "slos: [{name: a, service: f, latency: 1s}]\n"
        "pools: [{service: a, side: server, slo: a, upstream: {from: traces, window: 2m, statistic: p95}}]\n"
    )
    upstream = load(path).pools[0].upstream
    assert isinstance(upstream, Upstream)
    assert (upstream.statistic, upstream.window, upstream.floor) == ("p95", 120_000, 0.1)


def test_which_pools_ask_traces_for_what_is_above_them(tmp_path: Path) -> None:
    """Those that name an SLO and no allowance: an allowance of 0 ms takes nothing off either."""
    path = tmp_path / "sluice.yaml"
    path.write_text(
        "slos: [{name: a, service: f, latency: 1s}]\n"
        "pools:\n"
        "  - {service: a, side: server, slo: a}\n"
        "  - {service: b, side: server, slo: a, upstream: 0ms}\n"
        "  - {service: c, side: server, slo: a, upstream: {from: traces, statistic: mean}}\n"
        "  - {service: d, side: server, threshold: 1s}\n"
    )
    asked = [pool.measured for pool in load(path).pools]
    assert [one and one.statistic for one in asked] == ["p50", None, "mean", None]
    assert (BY_DEFAULT.statistic, BY_DEFAULT.window, BY_DEFAULT.floor) == ("p50", 60_000, 0.1)


@pytest.mark.parametrize(
    "text", ["? [a]\n: b", "pools: 2026-13-01", "period: !!int x", "[" * 5000], ids=["list key", "date", "int", "depth"]
)
def test_yaml_that_python_cannot_build_is_a_config_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"parse {path}"):
        load(path)


def test_a_merge_key_brings_in_what_its_anchor_has(tmp_path: Path) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(
        "pools:\n"
        "  - &web {service: a, side: server, threshold: 1s, model: scg}\n"
        "  - {<<: *web, service: b, model: sct}\n"
    )
    assert [(pool.service, pool.threshold, pool.model) for pool in load(path).pools] == [
        ("a", 1000.0, "scg"),
        ("b", 1000.0, "sct"),
    ]


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"read /nowhere/sluice\.yaml"):
        load(Path("/nowhere/sluice.yaml"))


@pytest.mark.parametrize(("text", "ms"), [("250ms", 250), ("15s", 15_000), ("2m", 120_000), ("1h", 3_600_000)])
def test_durations(text: str, ms: float) -> None:
    assert parse_ms(text) == ms


@pytest.mark.parametrize("text", ["", "5", "5 s", "ms", "1e3s", "5sec", 5, None, True])
def test_not_durations(text: object) -> None:
    with pytest.raises(ValueError, match="unit"):
        parse_ms(text)


def test_a_group_has_its_pools_and_its_part_of_a_backend(tmp_path: Path) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text(
        "groups: [shop, search]\n"
        "generation: 7\n"
        "backends: [{peer: db, capacity: 60, group: shop}, {peer: db, capacity: 40, group: search}]\n"
        "pools:\n"
        "- {service: cart, side: client, peer: db, threshold: 1s}\n"
        "- {service: index, side: client, peer: db, threshold: 1s, group: search}\n"
    )
    config = load(path)
    shop, search = (config.of_shard(number) for number in range(2))
    assert ([pool.service for pool in shop.pools], [each.capacity for each in shop.backends]) == (["cart"], [60])
    assert ([pool.service for pool in search.pools], [each.capacity for each in search.backends]) == (["index"], [40])
    assert (shop.generation, len(shop.groups)) == (7, 2)


def test_without_groups_there_is_one() -> None:
    config = load(REPOSITORY / "deploy/local/sluice.yaml")
    assert (config.groups, config.generation) == (["default"], 0)
    assert config.of_shard(0) is config


def test_a_default_that_follows_from_an_illegal_field_is_no_error_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "sluice.yaml"
    path.write_text("slos: [{service: f, latency: 1q}]\n")
    with pytest.raises(ConfigError) as raised:
        load(path)
    assert str(raised.value).removeprefix(f"{path}: ").split(":")[0] == "slos[0].latency"
    assert "\n" not in str(raised.value)
