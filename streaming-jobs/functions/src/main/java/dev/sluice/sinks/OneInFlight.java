package dev.sluice.sinks;

/**
 * Writes one batch at a time on a thread of its own, while the next is filled. One other thread
 * calls all its methods.
 *
 * @param <B> a batch, which nobody else touches once it is handed over
 */
final class OneInFlight<B> implements AutoCloseable {
  /** Writes a batch, however long it takes; throws when the thread is interrupted. */
  @FunctionalInterface
  interface Batches<B> {
    void write(B batch) throws InterruptedException;
  }

  private final Batches<B> batches;
  private final Runnable landed;
  private final Thread thread;
  private B inFlight; // guarded by this
  private Throwable failure; // guarded by this

  /**
   * @param landed called by the thread after each batch, written or failed
   */
  OneInFlight(String name, Batches<B> batches, Runnable landed) {
    this.batches = batches;
    this.landed = landed;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Whether a batch can be handed over without waiting. Throws the failure of the last one. */
  synchronized boolean isFree() {
    check();
    return inFlight == null;
  }

  /** Hands a batch over, once none is in flight. Throws the failure of the one before. */
  synchronized void start(B batch) throws InterruptedException {
    await();
    inFlight = batch;
    notifyAll();
  }

  /** Returns when none is in flight. Throws the failure of the last one. */
  synchronized void await() throws InterruptedException {
    while (inFlight != null && failure == null) {
      wait();
    }
    check();
  }

  private void check() {
    if (failure instanceof RuntimeException known) {
      throw known;
    }
    if (failure != null) {
      throw new IllegalStateException("the thread that writes rows has died", failure);
    }
  }

  private void run() {
    try {
      while (true) {
        B batch;
        synchronized (this) {
          while (inFlight == null) {
            wait();
          }
          batch = inFlight;
        }
        batches.write(batch);
        synchronized (this) {
          inFlight = null;
          notifyAll();
        }
        landed.run();
      }
    } catch (InterruptedException e) {
      failed(new IllegalStateException("the thread that writes rows was ended", e));
    } catch (Throwable e) {
      failed(e);
      landed.run();
    }
  }

  private synchronized void failed(Throwable e) {
    failure = e;
    notifyAll();
  }

  /** Ends the thread. The batch in flight may be written or not. */
  @Override
  public void close() {
    WriterThread.end(thread);
  }
}
