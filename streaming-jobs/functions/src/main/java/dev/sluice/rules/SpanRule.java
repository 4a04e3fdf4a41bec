package dev.sluice.rules;

import dev.sluice.otlp.Glob;
import dev.sluice.otlp.Use;
import java.util.List;

/**
 * A rule that decides the role of matching spans for their pool. A condition without patterns holds
 * for every span. One of a condition's patterns has to match, and all conditions have to hold.
 *
 * @param name under which the spans that it leaves out are counted
 * @param values bits of {@link dev.sluice.otlp.ValuePatterns}, all of which have to be set: of
 *     patterns that values match, and of a duration that the span exceeds
 */
public record SpanRule(
    String name,
    Use use,
    List<Glob> services,
    List<Glob> sides,
    List<Glob> peers,
    List<Glob> names,
    List<Glob> scopes,
    long values) {

  boolean matches(
      String service, String side, String peer, String name, String scope, long matched) {
    return (matched & values) == values
        && any(sides, side)
        && any(services, service)
        && any(peers, peer)
        && any(scopes, scope)
        && any(names, name);
  }

  private static boolean any(List<Glob> globs, String text) {
    for (Glob glob : globs) {
      if (glob.matches(text)) {
        return true;
      }
    }
    return globs.isEmpty();
  }
}
