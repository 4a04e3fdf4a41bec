package dev.sluice.sinks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLException;

/**
 * A store refuses this process because of a setting, which the message names. An operator may
 * correct the setting while the job runs, so writers try again and read files again.
 */
public final class SettingException extends IOException {
  private static final long serialVersionUID = 1L;

  private SettingException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * @param variable that names the file, as SLUICE_NEO4J_CA
   * @param file "" for none, which is legal
   * @throws SettingException if it holds no certificates that can be read
   */
  public static void checkAuthority(String variable, String file) throws SettingException {
    if (file.isEmpty()) {
      return;
    }
    String what = "read " + variable + "=" + file + ": ";
    try (InputStream text = Files.newInputStream(Path.of(file))) {
      if (CertificateFactory.getInstance("X.509").generateCertificates(text).isEmpty()) {
        throw new SettingException(what + "it holds no certificate", null);
      }
    } catch (NoSuchFileException e) {
      throw new SettingException(what + "there is no such file on this host", e);
    } catch (SettingException e) {
      throw e;
    } catch (IOException | CertificateException e) {
      throw new SettingException(what + e.getMessage(), e);
    }
  }

  /** Whether TLS failed. */
  public static boolean isOfTls(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SSLException) {
        return true;
      }
    }
    return false;
  }

  /**
   * The TLS handshake failed, most often because the server is not trusted.
   *
   * @param variable that names the file of authorities
   * @param file that file; "" for Java's authorities
   */
  public static SettingException ofTls(String url, String variable, String file, Throwable e) {
    Throwable last = e;
    while (last.getCause() != null) {
      last = last.getCause();
    }
    String trusted = file.isEmpty() ? variable + " is not set" : variable + "=" + file;
    return new SettingException(
        "TLS with " + url + " fails, " + trusted + ": " + last.getMessage(), e);
  }

  /**
   * The server refuses the user or the password.
   *
   * @param store prefix of the variables' names, as SLUICE_NEO4J
   */
  public static SettingException ofLogin(
      String url, String store, String user, Secret password, Throwable e) {
    String message = "%s refuses %s_USER=%s with %s (%2$s_PASSWORD): %s";
    return new SettingException(message.formatted(url, store, user, password, e.getMessage()), e);
  }
}
