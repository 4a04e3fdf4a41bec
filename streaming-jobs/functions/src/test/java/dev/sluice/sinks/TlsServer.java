package dev.sluice.sinks;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Answers by HTTPS on 127.0.0.1, with a certificate of its own that nobody else signed. */
public final class TlsServer implements AutoCloseable {
  private static final String PASSWORD = "of-a-test";

  /** PEM of the certificate. */
  public final String certificate;

  private final HttpsServer server;

  /**
   * @param folder for a key; of this server alone
   */
  public TlsServer(Path folder, HttpHandler handler) throws Exception {
    Path file = Files.createDirectories(folder).resolve("keys.p12");
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    String options = "-genkeypair -alias own -keyalg EC -dname CN=localhost -ext san=ip:127.0.0.1";
    String kept = " -validity 2 -storetype PKCS12 -storepass " + PASSWORD + " -keystore ";
    ProcessBuilder words = new ProcessBuilder((keytool + " " + options + kept + file).split(" "));
    if (words.inheritIO().start().waitFor() != 0) {
      throw new IllegalStateException("keytool made no key");
    }
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    String text = Base64.getMimeEncoder().encodeToString(keys.getCertificate("own").getEncoded());
    certificate = "-----BEGIN CERTIFICATE-----\n" + text + "\n-----END CERTIFICATE-----\n";
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext("/", handler);
    server.start();
  }

  public int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
