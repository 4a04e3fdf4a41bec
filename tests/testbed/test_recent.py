from testbed.recent import Recent


def test_counts_the_last_ten_seconds():
    recent = Recent(threshold=0.25)
    recent.add(1.0, 0.1, False)
    recent.add(5.0, 0.25, False)
    recent.add(6.0, 0.26, False)
    recent.add(12.0, 0.1, True)
    # At 12 s the one of 1 s is too old: 3 responses, of which one is good (one too slow, one failed).
    assert recent.rates(12.0) == (0.3, 0.1)


def test_a_young_run_divides_by_its_age():
    recent = Recent(threshold=0.25)
    assert recent.rates(0.0) == (0.0, 0.0)
    recent.add(1.0, 0.1, False)
    assert recent.rates(2.0) == (0.5, 0.5)
