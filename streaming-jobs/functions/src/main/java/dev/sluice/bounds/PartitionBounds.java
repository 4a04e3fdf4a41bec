package dev.sluice.bounds;

import dev.sluice.otlp.Span;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The names and rows that one partition of the topic brought in the present window of record time.
 */
final class PartitionBounds {
  private final Limits limits;
  private final KnownNames services;
  private final KnownNames instances;
  private final KnownNames hosts;
  private final KnownNames peers;
  private final KnownNames operations;
  private final RecordWindow window;
  private long spreadRows;

  PartitionBounds(Limits limits) {
    this.limits = limits;
    window = new RecordWindow(limits.windowMs());
    services = new KnownNames(limits.services());
    instances = new KnownNames(limits.instances());
    hosts = new KnownNames(limits.hosts());
    peers = new KnownNames(limits.peers());
    operations = new KnownNames(limits.operations());
  }

  /** The next message was appended at this time. */
  void advance(long recordMs) {
    for (int left = window.ended(recordMs); left > 0; left--) {
      turn();
    }
  }

  private void turn() {
    for (KnownNames names : all()) {
      names.turn();
    }
    spreadRows = 0;
  }

  /**
   * Replaces names for which there is no room by {@link Rest#NAME}.
   *
   * @param withOperation whether a job needs operations
   * @return whether the span has such a name
   */
  boolean rename(Span span, boolean withOperation) {
    long parentId = span.parentId();
    String service = services.nameOrRest("", span.service());
    boolean unknown = service.equals(Rest.NAME);
    String instance = unknown ? Rest.NAME : instances.nameOrRest(service, span.instance());
    String host = hosts.nameOrRest("", span.host());
    String peer = span.isClientSide() ? peers.nameOrRest(service, span.peer()) : span.peer();
    String operation = "";
    if (withOperation && Rest.isEntry(span.kind(), parentId)) {
      String own = span.operation();
      operation = unknown ? Rest.NAME : operations.nameOrRest(service, own);
      if (!operation.equals(own)) {
        span.renameOperation(operation);
      }
    }
    span.rename(service, instance, host, peer);
    return Rest.isIn(service, instance, host) || Rest.isIn(span.kind(), parentId, peer, operation);
  }

  /**
   * The span's operation, if it counts separately: within the bound of those that enter a service.
   */
  String operationOf(Span span) {
    String service = span.service();
    return service.equals(Rest.NAME) ? Rest.NAME : operations.nameOrRest(service, span.operation());
  }

  /** Whether a long span may make this many rows. */
  boolean takeRows(long rows) {
    if (spreadRows + rows > limits.spreadRows()) {
      return false;
    }
    spreadRows += rows;
    return true;
  }

  void write(DataOutput out) throws IOException {
    out.writeLong(window.number());
    out.writeLong(spreadRows);
    for (KnownNames names : all()) {
      names.write(out);
    }
  }

  /** Adds what {@link #write} wrote. */
  void read(DataInput in) throws IOException {
    window.restore(in.readLong());
    spreadRows += in.readLong();
    for (KnownNames names : all()) {
      names.read(in);
    }
  }

  private KnownNames[] all() {
    return new KnownNames[] {services, instances, hosts, peers, operations};
  }
}
