package dev.sluice.flink;

import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.dag.Pipeline;
import org.apache.flink.client.deployment.executors.PipelineExecutorUtils;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.PipelineExecutor;
import org.apache.flink.core.execution.PipelineExecutorFactory;
import org.apache.flink.core.execution.PipelineExecutorServiceLoader;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient.JobFinalizationBehavior;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** One cluster for the jobs of all tests of this process: a local environment starts one a job. */
final class SharedCluster implements PipelineExecutorServiceLoader, PipelineExecutorFactory {
  private static final String NAME = "shared";
  private static final int SLOTS = 8;

  private static MiniCluster running;

  private SharedCluster() {}

  /** An environment whose jobs run on it. */
  static StreamExecutionEnvironment environment(int parallelism) {
    ClassLoader classes = Thread.currentThread().getContextClassLoader();
    Configuration configuration = new Configuration();
    configuration.set(DeploymentOptions.TARGET, NAME);
    return new StreamExecutionEnvironment(new SharedCluster(), configuration, classes)
        .setParallelism(parallelism);
  }

  private static synchronized MiniCluster running() throws Exception {
    if (running == null) {
      MiniCluster cluster =
          new MiniCluster(
              new MiniClusterConfiguration.Builder()
                  .setNumTaskManagers(1)
                  .setNumSlotsPerTaskManager(SLOTS)
                  .setRpcServiceSharing(RpcServiceSharing.SHARED)
                  .build());
      cluster.start();
      running = cluster;
    }
    return running;
  }

  private static CompletableFuture<JobClient> submit(
      Pipeline pipeline, Configuration configuration, ClassLoader classes) throws Exception {
    StreamGraph job = PipelineExecutorUtils.getStreamGraph(pipeline, configuration);
    MiniCluster cluster = running();
    return cluster
        .submitJob(job)
        .thenApply(
            submitted ->
                new MiniClusterJobClient(
                    submitted.getJobID(), cluster, classes, JobFinalizationBehavior.NOTHING));
  }

  @Override
  public PipelineExecutorFactory getExecutorFactory(Configuration configuration) {
    return this;
  }

  @Override
  public Stream<String> getExecutorNames() {
    return Stream.of(NAME);
  }

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public boolean isCompatibleWith(Configuration configuration) {
    return true;
  }

  @Override
  public PipelineExecutor getExecutor(Configuration configuration) {
    return SharedCluster::submit;
  }
}
