package dev.sluice.testbed;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Computes and waits: more of them in flight take longer each, but complete as many together. */
final class PlainServlet extends HttpServlet {
  private static final long COMPUTE_MICROS = 5_000;
  private static final long WAIT_MILLIS = 20;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    try {
      Work.compute(COMPUTE_MICROS);
      Work.rest(WAIT_MILLIS);
      response.setContentType("text/plain");
      response.getWriter().print("done");
    } catch (InterruptedException cause) {
      Thread.currentThread().interrupt();
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "stopping");
    }
  }
}
