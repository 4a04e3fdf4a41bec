package dev.sluice.otlp;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address in a URL, a Host header, a connection string or a cluster name of Envoy.
 *
 * <p>{@code http://user@pay:8080/v1} is (pay, 8080), {@code jdbc:mysql://db:3306/shop} (db, 3306),
 * {@code pay:8080} (pay, 8080), {@code [::1]:80} (::1, 80), {@code ::1} (::1, none), {@code
 * Server=sql-1,1433;Database=shop} (sql-1, 1433), Istio's {@code outbound|8080||pay.shop}
 * (pay.shop, 8080), {@code cart_cluster} stays as it is.
 *
 * @param address "" where the text has none
 * @param port 0 where it has none
 */
record Location(String address, int port) {
  static final Location NONE = new Location("", 0);

  private static final int MOST_PORT = 65_535;
  // Keys of the address in the strings of database drivers: npgsql and libpq, ADO.NET, ODBC.
  private static final Pattern KEYED =
      Pattern.compile(
          "(?i)(?:^|[;\\s])(?:server|host|data source|address|addr)\\s*=\\s*(?:tcp:)?([^;\\s]+)");
  private static final Pattern KEYED_PORT = Pattern.compile("(?i)(?:^|[;\\s])port\\s*=\\s*(\\d+)");

  static Location of(String text) {
    int scheme = text.indexOf("://");
    if (scheme >= 0) {
      return ofUrl(text, scheme + 3);
    }
    if (text.indexOf('|') >= 0) {
      return ofIstio(text);
    }
    Matcher keyed = KEYED.matcher(text);
    if (keyed.find()) {
      Location location = ofHostAndPort(keyed.group(1).replace(',', ':'));
      Matcher port = KEYED_PORT.matcher(text);
      return location.port == 0 && port.find()
          ? new Location(location.address, port(port.group(1)))
          : location;
    }
    return text.indexOf('=') >= 0 ? NONE : ofHostAndPort(text);
  }

  /** The part before a path, query, fragment or parameter, after a user; the first of several. */
  private static Location ofUrl(String text, int from) {
    int to = from;
    while (to < text.length() && "/?#;".indexOf(text.charAt(to)) < 0) {
      to++;
    }
    String authority = text.substring(from, to);
    authority = authority.substring(authority.lastIndexOf('@') + 1);
    int several = authority.indexOf(',');
    return ofHostAndPort(several < 0 ? authority : authority.substring(0, several));
  }

  /** {@code direction|port|subset|host}; without a subset the host is the whole address. */
  private static Location ofIstio(String text) {
    String[] parts = text.split("\\|", -1);
    boolean known = parts.length == 4 && parts[2].isEmpty() && !parts[3].isEmpty();
    return known ? new Location(parts[3], port(parts[1])) : new Location(text, 0);
  }

  private static Location ofHostAndPort(String text) {
    if (text.startsWith("/")) {
      return NONE; // a path
    }
    int colon = text.lastIndexOf(':');
    if (text.startsWith("[")) {
      int end = text.indexOf(']');
      return end < 0
          ? NONE
          : new Location(text.substring(1, end), colon > end ? port(text.substring(colon + 1)) : 0);
    }
    if (colon < 0 || text.indexOf(':') < colon) {
      return new Location(text, 0); // several colons are an IPv6 address
    }
    return new Location(text.substring(0, colon), port(text.substring(colon + 1)));
  }

  /** 1 to 65535, else 0. */
  static int port(String text) {
    int port = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9 || port > MOST_PORT) {
        return 0;
      }
      port = 10 * port + digit;
    }
    return port(port);
  }

  static int port(long number) {
    return number > 0 && number <= MOST_PORT ? (int) number : 0;
  }
}
