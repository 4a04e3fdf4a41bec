package dev.sluice.sinks;

/** Counts what becomes of rows. */
final class Counts implements PatientWriter.Observer {
  int written;
  int rejected;
  int retried;

  @Override
  public void attempting() {}

  @Override
  public void written(int rows) {
    written += rows;
  }

  @Override
  public void rejected(Exception reason) {
    rejected++;
  }

  @Override
  public void retried(Exception reason) {
    retried++;
  }
}
