"""What an installation needs: CPU and bytes of each stage a span, a table for three rates, the job's parallelism."""

import os
import sys

from bench.cluster import OVERLAY, cluster
from bench.made_spans import Shape
from bench.results import OUT
from bench.sizing import guide, parallelism, stages

RATES = (10_000.0, 100_000.0, 1_000_000.0)
#: Seconds that do not count, in which the JVM compiles, and that do.
WHOLE_S, QUICK_S = (90.0, 120.0), (5.0, 15.0)
STEP_SPANS, WARM_SPANS, QUICK_SPANS = 2_500_000, 16_000_000, 300_000
#: Slots for the highest parallelism, and memory for them.
MORE = '\n[memory]\nflink_taskmanager = "3g"\n\n[flink]\ntask_slots = 4\n'
BAR = 1.7


def run(quick: bool = False) -> str:
    """Markdown. PARTS=stages or PARTS=parallelism takes one part."""
    parts = os.environ.get("PARTS", "stages,parallelism").split(",")
    if unknown := sorted(set(parts) - {"stages", "parallelism"}):
        raise SystemExit(f"PARTS: no {', '.join(unknown)}; there are stages, parallelism")
    texts = []
    if "stages" in parts:
        texts.append(_stages(quick))
    if "parallelism" in parts:
        texts.append(_parallelism(quick))
    return "\n".join(texts)


def _stages(quick: bool) -> str:
    warm_s, seconds = QUICK_S if quick else WHOLE_S
    # 360 series: at 20,000 spans/s some 110 a pool of two instances, about SPANS_PER_POOL.
    shape = Shape(instances=200, spans_per_s=20_000.0)
    with cluster(graph=True, more=("collector",)) as up:
        costs = stages.measure(up, shape, warm_s, seconds)
    used = guide.cores_per_million(costs)
    rows = [
        f"| {stage} | {seconds_:.2f} | {1e6 / seconds_:,.0f} | {costs.resident_bytes[stage] / 1e6:,.0f} MB |"
        for stage, seconds_ in sorted(used.items(), key=lambda item: -item[1])
    ]
    tables = [
        f"| {table.name} | {table.rows:,} | {table.bytes_on_disk / table.rows:.1f} |"
        for table in costs.tables
        if table.rows and table.bytes_on_disk > 100_000
    ]
    needs = [guide.need(costs, warm_s + seconds, rate) for rate in RATES]
    daily = guide.bytes_per_series_day(costs, warm_s + seconds)
    return "\n".join(
        [
            f"At {costs.spans / costs.seconds:,.0f} spans/s of 340 bytes, {costs.series} series"
            " (service, instance, side, peer):",
            "",
            "| stage | CPU s a million spans | spans/s a core | memory |",
            "|---|---|---|---|",
            *rows,
            "",
            f"The topic takes {costs.topic_bytes_per_span:.1f} bytes a span (lz4)."
            f" ClickHouse takes {daily / 1e6:.1f} MB a series and day:",
            "",
            "| table | rows | bytes a row |",
            "|---|---|---|",
            *tables,
            "",
            f"In proportion, with {guide.SPANS_PER_POOL:.0f} spans/s a pool:",
            "",
            guide.table(needs),
        ]
    )


def _parallelism(quick: bool) -> str:
    OUT.mkdir(exist_ok=True)
    overlay = OUT / "sizing-stack.toml"
    overlay.write_text(OVERLAY.read_text() + MORE)
    each, warm = (QUICK_SPANS, QUICK_SPANS) if quick else (STEP_SPANS, WARM_SPANS)
    with cluster(graph=True, overlay=overlay) as up:
        speeds = parallelism.measure(up, Shape(), each, warm)
    steps = dict(guide.doublings(speeds))
    rows = [
        f"| {step} | {parallelism.SHARE * step:.1f} | {speed:,.0f} | {f'{steps[step]:.2f}' if step in steps else ''} |"
        for step, speed in speeds.items()
    ]
    return "\n".join(
        [
            f"The job at {parallelism.SHARE} of a core a parallel part (cgroup's quota), bar {BAR} a doubling:",
            "",
            "| parallelism | cores | spans/s | by half of it |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> None:
    print(run("--quick" in sys.argv))


if __name__ == "__main__":
    main()
