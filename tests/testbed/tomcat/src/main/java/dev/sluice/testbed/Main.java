package dev.sluice.testbed;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * Embedded Tomcat with two handlers: {@code /update} works on PostgreSQL, {@code /plain} computes
 * and waits. Its threads are the soft resource: their number can be read and written while it runs,
 * as {@code maxThreads} of the MBean {@code Tomcat:type=ThreadPool,name="http-nio-127.0.0.1-PORT"}.
 */
public final class Main {
  private Main() {}

  /** Arguments: PORT THREADS JDBC-URL. Listens on loopback, until it is terminated. */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) {
      throw new IllegalArgumentException("want PORT THREADS JDBC-URL");
    }
    int port = Integer.parseInt(arguments[0]);
    int threads = Integer.parseInt(arguments[1]);
    Path folder = Files.createTempDirectory("tomcat");
    folder.toFile().deleteOnExit();

    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(folder.toString());
    tomcat.setConnector(connector(port, threads));
    Context context = tomcat.addContext("", null);
    // By default as many as threads, so that these alone bound what is in flight.
    int connections = Integer.getInteger("testbed.connections", threads);
    serve(context, "/update", new UpdateServlet(new Rows(arguments[2], connections)));
    serve(context, "/plain", new PlainServlet());
    tomcat.start();
    tomcat.getServer().await();
  }

  private static Connector connector(int port, int threads) {
    Connector connector = new Connector();
    connector.setPort(port);
    connector.setProperty("address", "127.0.0.1");
    connector.setProperty("maxThreads", Integer.toString(threads));
    // Below the number of spare threads the pool cannot be shrunk; by default there are 10.
    String spare = System.getProperty("testbed.minSpareThreads");
    if (spare != null) {
      connector.setProperty("minSpareThreads", spare);
    }
    // Users keep their connections: connecting anew is not what is measured.
    connector.setProperty("maxKeepAliveRequests", "-1");
    connector.setProperty("keepAliveTimeout", "-1");
    return connector;
  }

  private static void serve(Context context, String path, jakarta.servlet.Servlet servlet) {
    Tomcat.addServlet(context, path, servlet);
    context.addServletMappingDecoded(path, path);
  }
}
