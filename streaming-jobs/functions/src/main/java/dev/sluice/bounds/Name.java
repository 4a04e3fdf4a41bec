package dev.sluice.bounds;

/**
 * A name within a service; for a service itself, and for a host, the service is "". Names are
 * ordered, so that a map of names that were chosen to collide stays fast.
 */
record Name(String service, String name) implements Comparable<Name> {
  @Override
  public int compareTo(Name other) {
    int byService = service.compareTo(other.service);
    return byService != 0 ? byService : name.compareTo(other.name);
  }
}
