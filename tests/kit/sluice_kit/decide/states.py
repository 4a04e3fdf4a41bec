"""Any state of a pool that is legal, for property tests."""

from hypothesis import strategies as st

from sluice.model.keys import PoolKey
from sluice.model.states import State
from sluice.pools.estimate.belief.doubt import Doubt
from sluice.pools.estimate.belief.evidence import Evidence, Level, Second
from sluice.pools.policy.decision import Advice, Advised, Basis
from sluice.pools.policy.need import Peak
from sluice.pools.policy.state import Change, Facts, Learnt, PoolState, Standing
from sluice.pools.policy.state_check import END_MS, MOST_SIZE, MOST_STEP
from sluice.pools.policy.trust import OperatorLook, RefusedSize, SizeRecord, Trust
from sluice.pools.policy.waits import Waits

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
keys = st.one_of(
    st.builds(PoolKey, names, st.just("server"), st.just("")),
    st.builds(PoolKey, names, st.just("client"), names),
)

sizes = st.integers(1, MOST_SIZE)
times = st.integers(0, END_MS - 1)
sums = st.floats(0, exclude_min=True, allow_infinity=False)

levels = st.builds(
    Level,
    cores=st.just(0.0) | sums,
    full=st.booleans(),
    saturated=st.booleans(),
    step=st.integers(-MOST_STEP, MOST_STEP),
    completions=sums,
    seconds=sums,
    in_flight_s=sums,
)
seconds = st.builds(
    Second,
    cores=st.just(0.0) | sums,
    full=st.booleans(),
    saturated=st.booleans(),
    concurrency=sums,
    completions=sums,
    seconds=sums,
)
evidence = st.builds(Evidence, levels=st.lists(levels, max_size=5).map(tuple))
doubts = st.builds(Doubt, score=st.floats(0, allow_infinity=False), aside=st.lists(seconds, max_size=3).map(tuple))

changes = st.builds(
    Change,
    from_size=sizes,
    to_size=sizes,
    at_ms=times,
    basis=st.sampled_from(Basis),
    targets=st.just(()) | st.lists(names, max_size=3).map(tuple),
)
shares = st.floats(0, 1)
rates = st.floats(0, allow_infinity=False)
counts = st.integers(0, MOST_SIZE)
measured = st.builds(
    SizeRecord,
    size=sizes,
    per_s=rates,
    stay_s=rates,
    failed=shares,
    cores=rates,
    lag_ms=counts,
)
refused = st.builds(RefusedSize, size=sizes, from_size=sizes, until_ms=times, times=counts)
trusts = st.builds(
    Trust,
    operator=st.none() | sizes,
    since_ms=times,
    measured=st.lists(measured, max_size=3).map(tuple),
    refused=st.lists(refused, max_size=3).map(tuple),
    check=st.none() | st.builds(OperatorLook, at_ms=times, per_s=rates),
    demand_per_s=rates,
    demand_until_ms=times,
    given_up_ms=times,
    times=counts,
)
facts = st.builds(
    Facts,
    now_ms=times,
    current=st.none() | sizes,
    change=st.none() | changes,
    baseline=st.none() | sizes,
    state=st.none() | st.sampled_from(State),
    trust=trusts,
)
advices = st.builds(
    Advice,
    kind=st.sampled_from(Advised),
    since_ms=times,
    asked_per_s=rates,
    in_time=st.none() | shares,
    best=sizes,
    best_per_s=rates,
    cores=st.none() | rates,
    replicas=st.none() | counts,
    to_cores=st.none() | rates,
    to_replicas=st.none() | counts,
)
standings = st.builds(
    Standing,
    until_ms=st.just(-1) | times,
    short=counts,
    spare=counts,
    cores=rates,
    replicas=counts,
    advice=st.none() | advices,
)
learnt = st.builds(
    Learnt,
    version=st.just("") | names,
    evidence=evidence,
    doubt=doubts,
    until_ms=st.just(-1) | times,
    full=st.lists(st.floats(0, 1), max_size=5).map(tuple),
    completed_ms=st.none() | times,
    remembered=st.booleans(),
    versions=st.lists(st.tuples(names, evidence), max_size=3).map(tuple),
    standing=standings,
    waits=st.none() | st.builds(Waits, evidence_s=rates, mean_s=rates, own_s=rates, carried_ms=times | st.just(-1)),
    peaks=st.lists(st.builds(Peak, hour_ms=times, per_s=rates), max_size=3).map(tuple),
)
states = st.builds(PoolState, facts=facts, learnt=learnt)
