package dev.sluice.sinks.neo4j;

import dev.sluice.sinks.SettingException;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.neo4j.driver.AuthTokens;
import org.neo4j.driver.Config;
import org.neo4j.driver.Driver;
import org.neo4j.driver.GraphDatabase;
import org.neo4j.driver.Logging;
import org.neo4j.driver.Record;
import org.neo4j.driver.SessionConfig;
import org.neo4j.driver.TransactionConfig;
import org.neo4j.driver.async.AsyncSession;
import org.neo4j.driver.async.ResultCursor;
import org.neo4j.driver.exceptions.AuthenticationException;
import org.neo4j.driver.exceptions.Neo4jException;

/**
 * Runs statements, each once and in a transaction of its own. Every call ends in time: the driver
 * alone would wait for ever for a server that accepts and does not answer. For one thread.
 */
final class Neo4jClient implements AutoCloseable {
  private static final long CONNECT_S = 5;
  private static final long ACQUIRE_S = 10;
  private static final long IDLE_S = 60;
  // The server gives up first, with an error: the statement may then be run in parts.
  private static final long TRANSACTION_S = 20;
  private static final long ANSWER_MS = 30_000;
  private static final long CLOSE_S = 2;
  private static final String NAME = "SLUICE_NEO4J";
  // The server's answer after three wrong passwords, for some seconds.
  private static final String TOO_OFTEN = "Neo.ClientError.Security.AuthenticationRateLimit";

  private final Neo4jOptions options;
  private final long answerMs;
  private final TransactionConfig bounded =
      TransactionConfig.builder().withTimeout(Duration.ofSeconds(TRANSACTION_S)).build();
  private volatile Driver driver;

  Neo4jClient(Neo4jOptions options) {
    this(options, ANSWER_MS);
  }

  /**
   * @param answerMs how long to wait for an answer, connecting included
   */
  Neo4jClient(Neo4jOptions options, long answerMs) {
    this.options = options;
    this.answerMs = answerMs;
  }

  /**
   * The rows of the answer.
   *
   * @throws Neo4jException the error of the server or of the connection to it
   * @throws SettingException if the server refuses this process
   * @throws TimeoutException when there was no answer: whether the statement was run is not known
   */
  List<Record> run(String cypher, Map<String, Object> parameters)
      throws SettingException, TimeoutException, InterruptedException, ExecutionException {
    if (driver == null) {
      driver = open();
    }
    AsyncSession session =
        driver.session(AsyncSession.class, SessionConfig.forDatabase(options.database()));
    CompletableFuture<List<Record>> answer =
        session
            .runAsync(cypher, parameters, bounded)
            .thenCompose(ResultCursor::listAsync)
            .toCompletableFuture();
    try {
      return answer.get(answerMs, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Neo4jException cause) {
        checkLetIn(cause);
        throw cause;
      }
      throw e;
    } catch (TimeoutException e) {
      discard();
      throw new TimeoutException(options.uri() + " did not answer within " + answerMs + " ms");
    } finally {
      session.closeAsync();
    }
  }

  /** After a refused login it connects again, with the present password and authority. */
  private void checkLetIn(Neo4jException e) throws SettingException {
    if (e instanceof AuthenticationException || TOO_OFTEN.equals(e.code())) {
      discard();
      throw SettingException.ofLogin(
          options.uri(), NAME, options.username(), options.password(), e);
    }
    if (SettingException.isOfTls(e)) {
      discard();
      throw SettingException.ofTls(options.uri(), NAME + "_CA", options.authority(), e);
    }
  }

  private Driver open() throws SettingException {
    SettingException.checkAuthority(NAME + "_CA", options.authority());
    Config.ConfigBuilder config =
        Config.builder()
            .withLogging(Logging.slf4j())
            .withConnectionTimeout(CONNECT_S, TimeUnit.SECONDS)
            .withConnectionAcquisitionTimeout(ACQUIRE_S, TimeUnit.SECONDS)
            .withConnectionLivenessCheckTimeout(IDLE_S, TimeUnit.SECONDS)
            .withMaxConnectionPoolSize(2)
            .withEventLoopThreads(1);
    if (!options.authority().isEmpty()) {
      config
          .withEncryption()
          .withTrustStrategy(
              Config.TrustStrategy.trustCustomCertificateSignedBy(new File(options.authority())));
    }
    return GraphDatabase.driver(
        options.uri(),
        AuthTokens.basic(options.username(), options.password().read()),
        config.build());
  }

  /** Abandons connections that do not answer. */
  private CompletableFuture<Void> discard() {
    CompletableFuture<Void> closed = driver.closeAsync().toCompletableFuture();
    driver = null;
    return closed;
  }

  @Override
  public void close() {
    if (driver == null) {
      return;
    }
    try {
      discard().get(CLOSE_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      // No answer came; the connections are closed all the same.
    }
  }
}
