package dev.sluice.testbed;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Computes; then reads a row, computes, waits, and updates the row unless somebody else did so
 * meanwhile, in which case it reads again. 1.5 ms of CPU and 20 ms of waiting where nobody else is;
 * the more requests are in flight, the more attempts are in vain.
 */
final class UpdateServlet extends HttpServlet {
  private static final long PREPARE_MICROS = 750;
  private static final long ATTEMPT_MICROS = 750;
  private static final long WAIT_MILLIS = 20;
  private static final int MOST_ATTEMPTS = 200;

  private final transient Rows rows;

  UpdateServlet(Rows rows) {
    this.rows = rows;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    int id = ThreadLocalRandom.current().nextInt(1, Rows.COUNT + 1);
    try {
      Work.compute(PREPARE_MICROS);
      int attempts = 1;
      while (!attempt(id)) {
        if (++attempts > MOST_ATTEMPTS) {
          response.sendError(HttpServletResponse.SC_CONFLICT, "others were always faster");
          return;
        }
      }
      response.setContentType("text/plain");
      response.getWriter().print(attempts);
    } catch (SQLException cause) {
      throw new IOException("update row " + id, cause);
    } catch (InterruptedException cause) {
      Thread.currentThread().interrupt();
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "stopping");
    }
  }

  private boolean attempt(int id) throws SQLException, InterruptedException {
    long version = rows.version(id);
    Work.compute(ATTEMPT_MICROS);
    Work.rest(WAIT_MILLIS);
    return rows.update(id, version);
  }
}
