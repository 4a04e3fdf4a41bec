package dev.sluice.rules;

import dev.sluice.otlp.Glob;
import dev.sluice.otlp.Span;
import dev.sluice.otlp.Use;
import dev.sluice.otlp.ValuePatterns;
import dev.sluice.windows.ResourcePoint;
import dev.sluice.windows.Side;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The rules of {@code spans.toml}, in their order: the first that matches a span decides its {@link
 * Use}. {@code jobs/span_rules.py} converts the file to lines of words, separated by tabs:
 *
 * <pre>
 * rule    NAME  count | leave_out | waiting | around | not_a_pool | sidecar
 * service | side | peer | name | scope  PATTERN...     conditions of the rule above
 * values  path | whole  ATTRIBUTE,ATTRIBUTE  PATTERN...
 * longer  MS
 * </pre>
 *
 * <p>Spans of one kind repeat, so a table of fixed size keeps the newest result for each slot: most
 * spans cost one look-up.
 */
public final class SpanRules {
  private static final int SLOTS = 1 << 12;
  private static final String ROUTE = "http.route";

  private static final Map<String, Use> ACTIONS =
      Map.of(
          "count", Use.HELD,
          "leave_out", Use.LEFT_OUT,
          "waiting", Use.WAITING,
          "around", Use.AROUND,
          "not_a_pool", Use.NOT_A_POOL,
          "sidecar", Use.SIDECAR);

  private static final long NS_PER_MS = 1_000_000;

  /** The result of the rules, and the spans that it holds for. */
  private record Ruling(
      String service,
      String side,
      String peer,
      String name,
      String scope,
      long matched,
      SpanRule rule) {}

  /** The bit in {@link Span#matched} of spans that last longer. */
  private record LeastDuration(long ns, long bit) {}

  private final List<SpanRule> rules = new ArrayList<>();
  private final ValuePatterns patterns = new ValuePatterns();
  private final List<LeastDuration> durations = new ArrayList<>();
  private long shortestNs = Long.MAX_VALUE;
  private final Ruling[] rulings = new Ruling[SLOTS];

  private SpanRules() {}

  /**
   * Reads the lines.
   *
   * @throws IllegalArgumentException for a line of another form
   */
  public static SpanRules parse(String lines) {
    SpanRules rules = new SpanRules();
    String[] head = null;
    Map<String, List<Glob>> conditions = new HashMap<>();
    long values = 0;
    for (String line : lines.lines().filter(text -> !text.isEmpty()).toList()) {
      String[] words = line.split("\t", -1);
      switch (words[0]) {
        case "rule" -> {
          rules.add(head, conditions, values);
          head = words;
          conditions = new HashMap<>();
          values = 0;
        }
        case "values" ->
            values |=
                rules.patterns.add(
                    List.of(words[2].split(",")),
                    List.of(words).subList(3, words.length),
                    words[1].equals("path"));
        case "longer" -> {
          LeastDuration longer =
              new LeastDuration(Long.parseLong(words[1]) * NS_PER_MS, rules.patterns.bit());
          rules.durations.add(longer);
          rules.shortestNs = Math.min(rules.shortestNs, longer.ns);
          values |= longer.bit;
        }
        case "service", "side", "peer", "name", "scope" ->
            conditions.put(words[0], Arrays.stream(words).skip(1).map(Glob::new).toList());
        default -> throw new IllegalArgumentException("read rules of spans: " + line);
      }
    }
    rules.add(head, conditions, values);
    return rules;
  }

  private void add(String[] head, Map<String, List<Glob>> conditions, long values) {
    if (head == null) {
      return;
    }
    Use use = ACTIONS.get(head[2]);
    if (use == null) {
      throw new IllegalArgumentException("read rules of spans: action " + head[2]);
    }
    rules.add(
        new SpanRule(
            head[1],
            use,
            conditions.getOrDefault("service", List.of()),
            conditions.getOrDefault("side", List.of()),
            conditions.getOrDefault("peer", List.of()),
            conditions.getOrDefault("name", List.of()),
            conditions.getOrDefault("scope", List.of()),
            values));
  }

  /** The patterns that the decoder has to match with values. */
  public ValuePatterns patterns() {
    return patterns;
  }

  /** Sets the {@link Use} of a span that belongs to a pool; leaves other spans as they are. */
  public void apply(Span span) {
    if (rules.isEmpty() || !span.isServerSide() && !span.isClientSide()) {
      return;
    }
    SpanRule rule = of(span);
    if (rule != null && rule.use() != Use.HELD) {
      span.use(rule.use(), rule.name());
    }
  }

  /**
   * Whether the rules leave out the spans of a service's requests, as far as the route shows it:
   * rules that ask for anything else, such as a user agent, do not match.
   *
   * @param route as in the attribute {@code http.route}
   */
  public boolean leavesOut(String service, String route) {
    int attribute = patterns.attributes().indexOf(ROUTE);
    if (attribute < 0) {
      return false;
    }
    long matched = patterns.match(attribute, route);
    SpanRule rule = first(service, Side.SERVER.label(), "", "", "", matched);
    return rule != null && rule.use() == Use.LEFT_OUT;
  }

  private SpanRule of(Span span) {
    String service = span.service();
    String side = Side.of(span).label();
    String peer = ResourcePoint.peerOf(span);
    String name = span.name();
    String scope = span.scope();
    long matched = span.matched();
    if (span.durationNs() > shortestNs) {
      for (LeastDuration longer : durations) {
        matched |= span.durationNs() > longer.ns ? longer.bit : 0;
      }
    }
    int hash = 31 * (31 * service.hashCode() + name.hashCode()) + scope.hashCode();
    hash = 31 * (31 * hash + peer.hashCode()) + side.hashCode() + Long.hashCode(matched);
    int slot = (hash ^ hash >>> 16) & SLOTS - 1;
    Ruling known = rulings[slot];
    if (known == null
        || known.matched != matched
        || !known.name.equals(name)
        || !known.service.equals(service)
        || !known.peer.equals(peer)
        || !known.scope.equals(scope)
        || !known.side.equals(side)) {
      known =
          new Ruling(
              service,
              side,
              peer,
              name,
              scope,
              matched,
              first(service, side, peer, name, scope, matched));
      rulings[slot] = known;
    }
    return known.rule;
  }

  private SpanRule first(
      String service, String side, String peer, String name, String scope, long matched) {
    for (SpanRule rule : rules) {
      if (rule.matches(service, side, peer, name, scope, matched)) {
        return rule;
      }
    }
    return null;
  }
}
