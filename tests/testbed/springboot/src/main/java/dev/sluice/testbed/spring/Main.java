package dev.sluice.testbed.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Starts the application; arguments are Spring's, as {@code --server.port=8080}. */
@SpringBootApplication
public class Main {
  public static void main(String[] arguments) {
    SpringApplication.run(Main.class, arguments);
  }
}
