package dev.sluice.otlp;

/**
 * One span as the decoder sees it. A single instance is refilled for every span of a message: copy
 * what must outlive the call. Times are nanoseconds of the Unix epoch; ids are ranges of {@link
 * #bytes}; strings are never null, and empty where the attribute is absent.
 */
public final class Span {
  /** Values of {@code Span.SpanKind}. */
  public static final int INTERNAL = 1;

  public static final int SERVER = 2;
  public static final int CLIENT = 3;
  public static final int PRODUCER = 4;
  public static final int CONSUMER = 5;

  static final int TRACE_ID_LENGTH = 16;
  static final int SPAN_ID_LENGTH = 8;
  static final int STATUS_ERROR = 2;

  byte[] bytes;
  int traceIdOffset;
  int traceIdLength;
  int spanIdOffset;
  int spanIdLength;
  int parentIdOffset;
  int parentIdLength;
  int nameOffset;
  int nameLength;
  StringPool names;
  int kind;
  long startNs;
  long endNs;
  int statusCode;
  // From the resource; the next three are the names that the span counts under.
  String ownService;
  String ownInstance;
  String ownHost;
  String service;
  String instance;
  String host;
  String operation;
  boolean shortened;
  boolean linked;
  String peer;
  boolean peerNamed;
  String callee = "";
  long droppedBytes;
  // -1 where the span has none.
  long rows;
  long requestBytes;
  long responseBytes;
  // How many spans it stands for, in 1/1,024; 0 where the span does not say it.
  long adjusted;
  boolean sampled;
  boolean tailSampled;
  int httpCode;
  int rpcCode;
  // From the scope; never null.
  String scope = "";
  // One bit for each attribute pattern that a value of the span matched, and of its resource.
  long matched;
  long ownMatched;
  private String name;
  private Use use = Use.HELD;
  private String rule = "";

  /** {@code service.name}, or "". */
  public String service() {
    return service;
  }

  /** The first of the instance attributes, or "". */
  public String instance() {
    return instance;
  }

  /** The host whose clock timed the span: the first of the host attributes, or "". */
  public String host() {
    return host;
  }

  /** The span's name. It is read from the bytes at the first call: not every job needs it. */
  public String operation() {
    return operation != null ? operation : name();
  }

  /** The span's own name, whatever {@link #operation} it counts under. */
  public String name() {
    if (name == null) {
      name = nameLength == 0 ? "" : names.get(bytes, nameOffset, nameLength);
    }
    return name;
  }

  /** The name of the instrumentation scope, or "". */
  public String scope() {
    return scope;
  }

  /** A bit for each pattern of the decoder that a value of the span or its resource matched. */
  public long matched() {
    return matched;
  }

  /** Sets the span's role for its pool, and the rule that decided it. */
  public void use(Use use, String by) {
    this.use = use;
    rule = by;
  }

  /** The span's role for its pool; it holds a place in the pool unless a rule decided otherwise. */
  public Use use() {
    return use;
  }

  /** The rule that decided it, or "". */
  public String rule() {
    return rule;
  }

  /** Counts the span under other names from now on. */
  public void rename(String service, String instance, String host, String peer) {
    this.service = service;
    this.instance = instance;
    this.host = host;
    this.peer = peer;
  }

  /** Counts the span under another operation from now on. */
  public void renameOperation(String operation) {
    this.operation = operation;
  }

  /** From now on only the newest part of the span is spread over windows. */
  public void shorten() {
    shortened = true;
  }

  /** Whether only the newest part of the span is spread over windows. */
  public boolean isShortened() {
    return shortened;
  }

  /** Whether a link of the span points to a span of its own trace. */
  public boolean isLinked() {
    return linked;
  }

  /** The peer of a CLIENT or PRODUCER span by its attributes, or "". */
  public String peer() {
    return peer;
  }

  /** Counts the span under the service that answers its peer, an address, from now on. */
  public void answeredBy(String callee) {
    this.callee = callee;
  }

  /** The service that answers its peer, or "" where that is not known. */
  public String callee() {
    return callee;
  }

  /** Whether {@link #peer} is a service's name; otherwise it is an address or "". */
  public boolean isPeerNamed() {
    return peerNamed;
  }

  /**
   * The size of the span that the collector replaced by this one, because no message can hold it; 0
   * for an ordinary span.
   */
  public long droppedBytes() {
    return droppedBytes;
  }

  /** Rows that a database returned, or -1 where the span has no number. */
  public long rows() {
    return rows;
  }

  /** Bytes of request and response together, or -1 where the span has neither. */
  public long dataBytes() {
    return requestBytes < 0 || responseBytes < 0
        ? Math.max(requestBytes, responseBytes)
        : requestBytes + responseBytes;
  }

  /**
   * How many spans it stands for, in 1/1,024: 1,024 where it does not say that others are missing.
   */
  public long adjusted() {
    return adjusted > 0 ? adjusted : Probability.SCALE;
  }

  /** Whether it says that not every trace was kept. */
  public boolean isSampled() {
    return sampled;
  }

  /** Whether it names the policy of a sampler that kept its trace after it had ended. */
  public boolean isTailSampled() {
    return tailSampled;
  }

  /** 0 (unspecified) to 5, or an unknown value of a later version. */
  public int kind() {
    return kind;
  }

  public long startNs() {
    return startNs;
  }

  public long endNs() {
    return endNs;
  }

  public long durationNs() {
    return endNs - startNs;
  }

  /** Whether it failed, and not by its caller's fault, as {@link ResponseCode} decides. */
  public boolean isError() {
    return ResponseCode.isError(statusCode == STATUS_ERROR, httpCode, rpcCode);
  }

  /** SERVER or CONSUMER: work that another service requested of this one. */
  public boolean isServerSide() {
    return kind == SERVER || kind == CONSUMER;
  }

  /** CLIENT or PRODUCER: work that this service requests of another. */
  public boolean isClientSide() {
    return kind == CLIENT || kind == PRODUCER;
  }

  /** Whether the ids have the lengths and values that W3C trace context allows. */
  public boolean hasValidIds() {
    return isId(traceIdOffset, traceIdLength, TRACE_ID_LENGTH)
        && isId(spanIdOffset, spanIdLength, SPAN_ID_LENGTH)
        && (parentIdLength == 0 || parentIdLength == SPAN_ID_LENGTH);
  }

  private boolean isId(int offset, int length, int expected) {
    if (length != expected) {
      return false;
    }
    long any = 0;
    for (int i = 0; i < length; i += Long.BYTES) {
      any |= Bytes.longAt(bytes, offset + i);
    }
    return any != 0;
  }

  /** First half of a valid trace id, little endian. */
  public long traceIdHigh() {
    return Bytes.longAt(bytes, traceIdOffset);
  }

  /** Second half of a valid trace id, little endian. */
  public long traceIdLow() {
    return Bytes.longAt(bytes, traceIdOffset + Long.BYTES);
  }

  /** A valid span id as a number, little endian; never 0. */
  public long spanId() {
    return Bytes.longAt(bytes, spanIdOffset);
  }

  /** The parent's span id as {@link #spanId} gives it, or 0 for a root. */
  public long parentId() {
    return parentIdLength == SPAN_ID_LENGTH ? Bytes.longAt(bytes, parentIdOffset) : 0;
  }

  /** The trace id in hexadecimal, whatever its length. */
  public String traceIdHex() {
    return Bytes.hex(bytes, traceIdOffset, traceIdLength);
  }

  /** The span id in hexadecimal, whatever its length. */
  public String spanIdHex() {
    return Bytes.hex(bytes, spanIdOffset, spanIdLength);
  }

  void clear() {
    traceIdLength = 0;
    spanIdLength = 0;
    parentIdLength = 0;
    nameLength = 0;
    name = null;
    service = ownService;
    instance = ownInstance;
    host = ownHost;
    operation = null;
    shortened = false;
    linked = false;
    kind = 0;
    startNs = 0;
    endNs = 0;
    statusCode = 0;
    peer = "";
    peerNamed = false;
    callee = "";
    droppedBytes = 0;
    rows = -1;
    requestBytes = -1;
    responseBytes = -1;
    adjusted = 0;
    sampled = false;
    tailSampled = false;
    httpCode = ResponseCode.NONE;
    rpcCode = ResponseCode.NONE;
    matched = ownMatched;
    use = Use.HELD;
    rule = "";
  }
}
