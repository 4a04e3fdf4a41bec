package dev.sluice.paths;

/**
 * The shift by which a SERVER span fits into the CLIENT span that waited for it, when their hosts'
 * clocks differ (rule 5).
 *
 * <ul>
 *   <li>It fits: no shift, the clocks may agree.
 *   <li>It is no longer than the CLIENT span, begins inside it, and ends after it by half of its
 *       own length at most: a server may end its span after the response has left, so it goes back
 *       to the CLIENT span's end. What is left over is the wait before it. CLIENT [100, 200),
 *       SERVER [170, 202): to [168, 200), by -2. To the middle, a wait of 68 would be none: of the
 *       calls of Node, whose clock counts milliseconds, half show such an end.
 *   <li>It is no longer than the CLIENT span otherwise: to its middle, as if request and response
 *       took equally long on the way. CLIENT [100, 200), SERVER [190, 250): 40 ns are left over, so
 *       it goes to [120, 180), by -70.
 *   <li>It is longer (the client gave up, or the clocks drift): where it begins inside it stays and
 *       is clipped; else it goes to the CLIENT span's start. CLIENT [100, 200), SERVER [150, 300):
 *       0; SERVER [90, 300): +10; SERVER [500, 700): -400.
 * </ul>
 *
 * <p>The assumption of equal ways is that of Jaeger's adjuster ({@code clockskew.go}).
 */
final class ClockSkew {
  private ClockSkew() {}

  /** The amount to add to the SERVER span's times, in ns. */
  static long shiftNs(long clientStart, long clientEnd, long serverStart, long serverEnd) {
    if (serverStart >= clientStart && serverEnd <= clientEnd) {
      return 0;
    }
    long length = serverEnd - serverStart;
    long leftOver = (clientEnd - clientStart) - length;
    boolean beginsInside = serverStart >= clientStart && serverStart < clientEnd;
    if (leftOver < 0) {
      return beginsInside ? 0 : clientStart - serverStart;
    }
    long late = serverEnd - clientEnd;
    return beginsInside && 2 * late <= length ? -late : clientStart + leftOver / 2 - serverStart;
  }
}
