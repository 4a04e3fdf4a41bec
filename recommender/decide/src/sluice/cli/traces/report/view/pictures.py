"""The pictures of the page: concurrency over time, the curve of a pool, blame of an operation's services."""

from __future__ import annotations

from sluice.cli.pools.text import seconds
from sluice.cli.traces.report.analysis.curves import TimeLine, Verdict
from sluice.cli.traces.report.analysis.operations import Operation
from sluice.cli.traces.report.view.svg import Frame, tag, words
from sluice.pools.policy.picture import Picture

#: Standard errors on each side of a point.
_ERRORS = 2
_BAR_WIDTH, _BAR_HEIGHT = 940, 26


def time_picture(line: TimeLine) -> str:
    """Requests in flight per instance over time: the mean of each interval, and its highest bucket as an area."""
    length = len(line.mean)
    frame = Frame(right=max(length, 1), top=max(float(line.most.max(initial=0.0)), 1.0))
    # A step has a width, also where there is only one.
    at = [*range(length), length]
    most = [*line.most.tolist(), float(line.most[-1]) if length else 0.0]
    mean = [*line.mean.tolist(), float(line.mean[-1]) if length else 0.0]
    return frame.drawing(
        "Requests in flight per instance over time",
        seconds(length * line.step_ms / 1000),
        frame.area(list(zip(at, most, strict=True)), "most"),
        frame.line(zip(at, mean, strict=True), "mean"),
    )


def curve_picture(verdict: Verdict) -> str:
    """Completions per second by requests in flight: means with two standard errors, larger dots for more buckets; the
    fit, and the range of sizes as a band."""
    x, y, errors = verdict.curve.concurrency.tolist(), verdict.curve.goodput_per_s.tolist(), verdict.errors.tolist()
    counts = verdict.curve.count.tolist()
    high = [value + _ERRORS * error for value, error in zip(y, errors, strict=True)]
    bounds = verdict.bounds
    frame = Frame(right=max([1.0, *x, *(bounds or ())]) * 1.05, top=max([1.0, *high]) * 1.05)
    content = [frame.span(*bounds, "band")] if bounds else []
    fitted, curve = verdict.estimate.fitted_per_s, verdict.estimate.curve
    if fitted is not None and curve is not None:
        points = [(at, min(max(value, 0.0), frame.top)) for at, value in zip(curve.concurrency, fitted, strict=True)]
        content.append(frame.line(points, "fit"))
    if verdict.target is not None:
        content.append(frame.vertical(verdict.target, 0, frame.top, "target"))
    for at, value, error, count in zip(x, y, errors, counts, strict=True):
        title = f"{at:.1f} in flight: {value:.1f}/s, standard error {error:.1f}, {count:.0f} buckets"
        content.append(frame.vertical(at, max(0.0, value - _ERRORS * error), value + _ERRORS * error, "error"))
        content.append(frame.dot((at, value), 1.5 + 3 * (count / max(counts)) ** 0.5, title))
    return frame.drawing("Completions per second and instance by requests in flight", "in flight", *content)


def belief_picture(verdict: Verdict, picture: Picture) -> str:
    """The belief by size as a line within 80 % of it; evidence; the size in force, the target and its range."""
    points, curve, bounds = picture.points, picture.curve, verdict.bounds
    sizes = [float(of.size) for of in curve] + [point.concurrency for point in points]
    rates = [of.upper_per_s for of in curve] + [point.completions_per_s for point in points]
    frame = Frame(right=max(1.0, *sizes, float(verdict.current or 1)) * 1.05, top=max(1.0, *rates) * 1.05)
    content = [frame.span(bounds[0], min(bounds[1], frame.right), "band")] if bounds and bounds[0] < frame.right else []
    lower = [(float(of.size), of.lower_per_s) for of in curve]
    content.append(frame.between([(float(of.size), of.upper_per_s) for of in curve], lower, "belief"))
    content.append(frame.line([(float(of.size), of.per_s) for of in curve], "mean"))
    for size, css in ((verdict.current, "now"), (verdict.target, "target")):
        if size is not None and size <= frame.right:
            content.append(frame.vertical(size, 0, frame.top, css))
    for point in points:
        title = f"{point.concurrency:.1f} in flight: {point.completions_per_s:.1f}/s, {point.seconds:.0f} s"
        content.append(
            frame.dot((point.concurrency, point.completions_per_s), 3, title, "dot" if point.full else "ring")
        )
    return frame.drawing("Completions per second and instance by size", "size", *content)


def blame_picture(operation: Operation) -> str:
    """A bar of the operation's time, a part a service; "" without a ranking."""
    parts, at = [], 0.0
    for number, ranked in enumerate(operation.localization.ranking):
        width = ranked.share_of_end_to_end * _BAR_WIDTH
        label = f"{ranked.service} {ranked.share_of_end_to_end:.0%}"
        parts.append(
            tag(
                "rect",
                tag("title", words(label)),
                x=at,
                y=0,
                width=max(width, 0.0),
                height=_BAR_HEIGHT,
                class_=f"part{number % 6}",
            )
        )
        if width > 9 * len(label):
            parts.append(tag("text", words(label), x=at + 6, y=_BAR_HEIGHT - 8, class_="in-bar"))
        at += width
    if not parts:
        return ""
    title = tag(
        "title", "Share of each service in the operation's time, waits counted for the services that hold threads"
    )
    return tag("svg", title, *parts, viewBox=f"0 0 {_BAR_WIDTH} {_BAR_HEIGHT}", role="img", class_="bar")
