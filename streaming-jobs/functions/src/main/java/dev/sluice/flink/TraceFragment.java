package dev.sluice.flink;

/**
 * The spans that one message holds of one trace, on the way to where the trace is assembled.
 *
 * @param traceId its 16 bytes
 * @param recordMs when the broker appended the message, ms of the Unix epoch
 * @param size number of spans
 * @param spans an encoded {@link dev.sluice.traces.Fragment}
 */
public record TraceFragment(byte[] traceId, long recordMs, int size, byte[] spans) {}
