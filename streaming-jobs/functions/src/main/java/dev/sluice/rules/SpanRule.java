package dev.sluice.rules;

import dev.sluice.otlp.Glob;
import dev.sluice.otlp.Use;
import java.util.List;

/**
 * What spans that match are to their pool. A condition without patterns holds for every span; of
 * several patterns one has to match, of several conditions all.
 *
 * @param name by which counts of what it left out go
 * @param values bits of {@link dev.sluice.otlp.ValuePatterns}, all of which have to be set
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
