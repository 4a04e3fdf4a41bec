package dev.sluice.testbed.spring;

/** How many are there at once, and how many there were at most since that was asked for. */
final class Most {
  private int now;
  private int most;

  synchronized void enter() {
    most = Math.max(most, ++now);
  }

  synchronized void leave() {
    now--;
  }

  synchronized int take() {
    int taken = most;
    most = now;
    return taken;
  }
}
