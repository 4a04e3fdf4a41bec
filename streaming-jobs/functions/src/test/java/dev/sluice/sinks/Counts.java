package dev.sluice.sinks;

/** Counts rows by their outcome. */
final class Counts implements BatchWriter.Observer {
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
