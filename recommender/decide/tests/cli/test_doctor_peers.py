"""The doctor on client spans that name no peer, judged by hand."""

from sluice.cli.doctor.peers import judge_peers


def test_every_client_span_names_its_peer() -> None:
    assert judge_peers([]).level == "ok"


def test_what_stays_unknown_is_named_by_its_share_per_service() -> None:
    diagnosis = judge_peers([("shop", 30, 120), ("mail", 1, 1000)])
    assert diagnosis.level == "warn"
    assert diagnosis.text.endswith("count under `unknown`: shop: 25.0% of 120, mail: 0.1% of 1,000")
    assert "server.address" in diagnosis.remedy


def test_the_odd_span_is_no_warning() -> None:
    diagnosis = judge_peers([("mail", 9, 1000)])
    assert (diagnosis.level, diagnosis.remedy) == ("ok", "")
    assert "mail: 0.9% of 1,000" in diagnosis.text


def test_the_most_come_first_and_the_others_are_counted() -> None:
    text = judge_peers([(f"s{n}", 9 - n, 10) for n in range(7)]).text
    assert "s4: 50.0% of 10, 2 more services" in text
    assert "s5" not in text
