package dev.sluice.recordlimit;

import java.lang.instrument.Instrumentation;

/**
 * Java agent that bounds what Kafka's consumer decompresses: {@code
 * -javaagent:sluice-functions-record-limit.jar[=max-record-bytes=N,max-poll-bytes=N]} in {@code
 * env.java.opts.taskmanager}.
 *
 * <p>A record's size is known only within its compressed batch, so that no broker refuses it, and
 * the client makes room for all of it before any code of a job runs. Hence an agent: it works
 * wherever Flink loads the connector from, and whatever it was relocated to.
 */
public final class Agent {
  /** Set to the limit of a record in a process that has the agent. */
  private static final String PROPERTY = "sluice.record-limit";

  private Agent() {}

  /**
   * Called by the JVM before {@code main}.
   *
   * @throws IllegalArgumentException for options that are not legal: the process does not start
   */
  public static void premain(String options, Instrumentation instrumentation) {
    Limits limits = Limits.parse(options);
    Limits.set(limits);
    instrumentation.addTransformer(new Weaver(Agent::say));
    System.setProperty(PROPERTY, Integer.toString(limits.recordBytes()));
  }

  /** Whether this process has the agent. */
  public static boolean isInstalled() {
    return System.getProperty(PROPERTY) != null;
  }

  private static void say(String message) {
    // Before Flink has set up its logging: the process's own output.
    System.err.println("sluice record limit: " + message);
  }
}
