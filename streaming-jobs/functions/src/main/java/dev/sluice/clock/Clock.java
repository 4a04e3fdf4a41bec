package dev.sluice.clock;

import java.io.Serializable;
import org.apache.flink.metrics.MetricGroup;

/**
 * Makes every partition of the spans' topic get a record regularly, so that the least record time
 * of all partitions advances when one of them is silent.
 */
public interface Clock extends Serializable {
  /** The number of the topic's partitions; called by the process that submits the job. */
  int partitions();

  /** Runs, in one task of the job, until it is closed. It never fails the task. */
  AutoCloseable start(MetricGroup metrics);
}
