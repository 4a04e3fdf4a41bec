package dev.sluice.otlp;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The peer of a connection pool, from the attributes of its metrics, else from the pool's name: the
 * name that its spans have where they name their peer by an address ({@link PeerName}).
 *
 * <p>A pool's name has an address in four forms: {@code db:5432/shop} (semantic conventions,
 * node-postgres, pgx), {@code postgresql://db:5432/shop} (SQLAlchemy), {@code
 * Host=db;Port=5432;Database=shop} (Npgsql, MySqlConnector) and {@code cache:6380} (go-redis). Each
 * needs a port, a scheme or a key: {@code HikariPool-1} is only a name. Behind {@code |} stands the
 * user, as in {@code db:5432/shop|app} (the Java agent, of a pool that nobody named).
 */
final class PoolPeer {
  private static final List<String> ADDRESSES = List.of("server.address", "net.peer.name");
  private static final List<String> PORTS = List.of("server.port", "net.peer.port");
  private static final List<String> NAMESPACES = List.of("db.namespace", "db.name");
  private static final Pattern DATABASE =
      Pattern.compile("(?i)(?:^|;)\\s*(?:database|initial catalog|dbname)\\s*=\\s*([^;]+)");

  private final PeerName peerName = new PeerName();

  /** The peer; "" where neither attributes nor the name give an address. */
  String of(Map<String, String> attributes, String pool) {
    String address = first(attributes, ADDRESSES);
    String namespace = first(attributes, NAMESPACES);
    if (!address.isEmpty()) {
      return peerName.of(address, Location.port(first(attributes, PORTS)), namespace);
    }
    int user = pool.indexOf('|');
    String name = user < 0 ? pool : pool.substring(0, user);
    Location location = location(name);
    if (location.address().isEmpty()) {
      return "";
    }
    return peerName.of(
        location.address(), location.port(), namespace.isEmpty() ? database(name) : namespace);
  }

  /** The first of the attributes that is present, or "". */
  static String first(Map<String, String> attributes, List<String> names) {
    for (String name : names) {
      String value = attributes.get(name);
      if (value != null) {
        return value;
      }
    }
    return "";
  }

  private static Location location(String pool) {
    if (pool.contains("://") || pool.indexOf('=') >= 0) {
      return Location.of(pool);
    }
    int slash = pool.indexOf('/');
    Location location = Location.of(slash < 0 ? pool : pool.substring(0, slash));
    return location.port() == 0 ? Location.NONE : location;
  }

  private static String database(String pool) {
    if (pool.indexOf('=') >= 0 && !pool.contains("://")) {
      Matcher matcher = DATABASE.matcher(pool);
      return matcher.find() ? matcher.group(1).trim() : "";
    }
    int scheme = pool.indexOf("://");
    int slash = pool.indexOf('/', scheme < 0 ? 0 : scheme + 3);
    if (slash < 0) {
      return "";
    }
    int end = slash + 1;
    while (end < pool.length() && "?#;".indexOf(pool.charAt(end)) < 0) {
      end++;
    }
    return pool.substring(slash + 1, end);
  }
}
