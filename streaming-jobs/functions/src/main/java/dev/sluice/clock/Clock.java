package dev.sluice.clock;

import java.io.Serializable;
import org.apache.flink.metrics.MetricGroup;

/**
 * Sees to it that every partition of the spans' topic gets a record now and then, so that the least
 * record time of all partitions goes on when one of them is silent.
 */
public interface Clock extends Serializable {
  /** How many partitions the topic has; asked by the process that submits the job. */
  int partitions();

  /** Begins, in one task of the job, until it is closed. Never fails the task. */
  AutoCloseable start(MetricGroup metrics);
}
