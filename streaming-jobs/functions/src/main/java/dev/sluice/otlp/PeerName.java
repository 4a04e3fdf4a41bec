package dev.sluice.otlp;

import java.util.Set;

/**
 * The name of a client span's peer, where the span has only an address: {@code
 * address:port/namespace}.
 *
 * <p>Two ports of one address are two peers. A usual port is left out, so that a service keeps one
 * name for callers with and without the port. For an IP address and {@code localhost}, where
 * anything may listen, the port always stays. {@code cart:8080} becomes cart, {@code cache:6380}
 * and {@code 10.0.0.6:6379} stay as they are, {@code db:5432} with the namespace shop becomes
 * db/shop.
 *
 * <p>It remembers the last name, because spans of one client repeat it.
 */
final class PeerName {
  // HTTP, HTTPS, gRPC; SQL Server, Oracle, MySQL, PostgreSQL, Redis, Cassandra, Elasticsearch,
  // memcached, MongoDB; AMQP, Kafka.
  private static final Set<Integer> USUAL =
      Set.of(
          80, 443, 8080, 50_051, 1_433, 1_521, 3_306, 5_432, 6_379, 9_042, 9_200, 11_211, 27_017,
          5_672, 9_092);

  private String lastAddress = "";
  private int lastPort;
  private String lastNamespace = "";
  private String last = "";

  /** The name; "" without an address. */
  String of(String address, int port, String namespace) {
    if (address.isEmpty() || port == 0 && namespace.isEmpty()) {
      return address;
    }
    if (port != lastPort || !address.equals(lastAddress) || !namespace.equals(lastNamespace)) {
      lastAddress = address;
      lastPort = port;
      lastNamespace = namespace;
      last = at(address, port) + (namespace.isEmpty() ? "" : "/" + namespace);
    }
    return last;
  }

  private static String at(String address, int port) {
    if (port == 0 || USUAL.contains(port) && isName(address)) {
      return address;
    }
    return address.indexOf(':') < 0 ? address + ":" + port : "[" + address + "]:" + port;
  }

  /** Whether it is the name of a host, which belongs to one service. */
  private static boolean isName(String address) {
    if (address.equals("localhost") || address.indexOf(':') >= 0) {
      return false;
    }
    for (int i = 0; i < address.length(); i++) {
      char letter = address.charAt(i);
      if (letter != '.' && (letter < '0' || letter > '9')) {
        return true;
      }
    }
    return false;
  }
}
