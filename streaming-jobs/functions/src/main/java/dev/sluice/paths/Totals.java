package dev.sluice.paths;

/** Counts of one run of {@link Main}. */
final class Totals {
  long messages;
  long malformedMessages;
  long traces;
  long spans;
  long unusableSpans;
  long paths;
  long incompletePaths;
  long sections;
  long walkNs;
  private final long[] excluded = new long[Exclusion.values().length];

  void add(CriticalPaths result, int spanCount, long elapsedNs) {
    traces++;
    spans += spanCount;
    walkNs += elapsedNs;
    for (CriticalPath path : result.paths()) {
      paths++;
      incompletePaths += path.incomplete() ? 1 : 0;
      sections += path.sections().size();
    }
    for (Exclusion reason : Exclusion.values()) {
      excluded[reason.ordinal()] += result.excluded(reason);
    }
  }

  /** One JSON object on one line. */
  String toJson() {
    StringBuilder json = new StringBuilder("{");
    number(json, "messages", messages);
    number(json, "malformed_messages", malformedMessages);
    number(json, "traces", traces);
    number(json, "spans", spans);
    number(json, "unusable_spans", unusableSpans);
    number(json, "paths", paths);
    number(json, "incomplete_paths", incompletePaths);
    number(json, "sections", sections);
    number(json, "walk_us", walkNs / 1_000);
    for (Exclusion reason : Exclusion.values()) {
      number(json, reason.label(), excluded[reason.ordinal()]);
    }
    json.setCharAt(json.length() - 1, '}');
    return json.toString();
  }

  private static void number(StringBuilder json, String name, long value) {
    json.append('"').append(name).append("\":").append(value).append(',');
  }
}
